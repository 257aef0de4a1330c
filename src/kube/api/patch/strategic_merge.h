// What a strategic merge patch makes of a document: as the API server does it. strategic_patch.h is
// for those who have the objects.
#pragma once

#include "base/result.h"
#include "kube/api/codec/schema.h"
#include "kube/api/patch/json_tree.h"

namespace denselet::kube {

// kInvalid: the patch is malformed or does not fit the type. The target is then in between.
Status MergeStrategic(Json::Object& target, Json::Object patch, const MessageSchema& type);

}  // namespace denselet::kube
