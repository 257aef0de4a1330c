// The lists of a document that a strategic merge patch changes element by element. For
// strategic_merge.cc.
#pragma once

#include <string_view>

#include "base/result.h"
#include "kube/api/codec/schema.h"
#include "kube/api/patch/json_tree.h"
#include "kube/api/patch/patch_terms.h"

namespace denselet::kube {

// Of strategic_merge.cc: elements are objects again.
Status MergeObjects(Json::Object& target, Json::Object patch, PatchedType type);

struct MergedList {
  Json::List elements;
  // By which elements that only the server has are placed among those of the patch.
  Json::List live_order;
};

// Elements of the patch come in its order, those that only the live list has between them where
// they stood.
Result<MergedList> MergeLists(Json::List live, Json::List patch, const FieldSchema& field);

// Those elements that `order` knows in that order, the others as in `live`, one list woven into the
// other.
Json::List OrderMerged(Json::List elements, const Json::List& order, const Json::List& live,
                       std::string_view merge_key);

// Takes objects with "$patch" out of whatever they stand in. False: the value itself is one.
bool DropDirectives(Json& value);

Error UnknownPatchDirective(const Json& directive);

}  // namespace denselet::kube
