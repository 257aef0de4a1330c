// The least strategic merge patch between two documents of one type. strategic_patch.h is for those
// who have the objects.
#pragma once

#include "base/result.h"
#include "kube/api/codec/schema.h"
#include "kube/api/patch/json_tree.h"

namespace denselet::kube {

// An object; empty when they are the same. kInvalid: a list that is merged by key has an element
// without it, or they differ where nothing can be merged.
Result<Json::Object> MakeStrategicDiff(const Json::Object& before, const Json::Object& after,
                                       const MessageSchema& type);

}  // namespace denselet::kube
