// The words of a strategic merge patch, and what the types say about the fields it goes through.
// For this folder's .cc files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/api/codec/schema.h"
#include "kube/api/patch/json_tree.h"

namespace denselet::kube {

inline constexpr std::string_view kPatchDirective = "$patch";
inline constexpr std::string_view kRetainKeysDirective = "$retainKeys";
// The name of a list follows them: "$setElementOrder/conditions".
inline constexpr std::string_view kElementOrderDirective = "$setElementOrder";
inline constexpr std::string_view kDeleteDirective = "$deleteFromPrimitiveList";

// The type of an object; null for a map, whose members have names that no type knows.
using PatchedType = const MessageSchema*;

// Also a field of an inlined message. kInvalid: there is none of that name.
Result<const FieldSchema*> FindPatchedField(PatchedType type, std::string_view name);

// Of the object that stands in the field.
inline PatchedType TypeOfObject(const FieldSchema& field) {
  return field.repeats == Repeats::kOnce ? field.message : nullptr;
}

inline bool IsMergedList(const FieldSchema& field) {
  return field.repeats == Repeats::kList && field.patch == PatchStrategy::kMerge;
}

// What all elements of both lists are; nothing when there is no element. kInvalid: they are of
// several kinds, or lists.
Result<std::optional<Json::Kind>> KindOfElements(const Json::List& a, const Json::List& b);

// What identifies an element: the value of its merge key; where there is none, itself. Null: it has
// no such member.
const Json* MergeKeyOf(const Json& element, std::string_view merge_key);

// An object of one member.
Json::Object ObjectOf(std::string_view name, Json value);

// kInvalid: an element is no object, or has no such member.
Status CheckMergeKeys(const Json::List& list, std::string_view merge_key);

}  // namespace denselet::kube
