#include "kube/api/patch/strategic_patch.h"

#include <google/protobuf/message.h>

#include <memory>
#include <utility>

#include "base/check.h"
#include "kube/api/codec/codec.h"
#include "kube/api/patch/json_tree.h"
#include "kube/api/patch/strategic_diff.h"
#include "kube/api/patch/strategic_merge.h"

namespace denselet::kube {
namespace {

Result<Json::Object> ReadObject(std::string_view text, std::string_view what) {
  auto json = Json::Parse(text);
  if (!json) return json.error().With(what);
  if (json->object() == nullptr) {
    return Error(ErrorCode::kInvalid,
                 "found " + std::string(Name(json->kind())) + ", wanted an object")
        .With(what);
  }
  return std::move(*json->object());
}

}  // namespace

Result<std::string> MakeStrategicPatch(std::string_view before, std::string_view after,
                                       const MessageSchema& type) {
  const auto old_object = ReadObject(before, "read the old object");
  if (!old_object) return old_object.error();
  const auto new_object = ReadObject(after, "read the new object");
  if (!new_object) return new_object.error();
  auto patch = MakeStrategicDiff(*old_object, *new_object, type);
  if (!patch) return patch.error().With("make a patch");
  return Json(std::move(*patch)).ToString();
}

Result<std::string> MakeStrategicPatch(const google::protobuf::Message& before,
                                       const google::protobuf::Message& after) {
  CHECK(before.GetDescriptor() == after.GetDescriptor());
  return MakeStrategicPatch(EncodeJson(before), EncodeJson(after),
                            SchemaOf(*before.GetDescriptor()));
}

Result<std::string> ApplyStrategicPatch(std::string_view json, std::string_view patch,
                                        const MessageSchema& type) {
  auto object = ReadObject(json, "read the object");
  if (!object) return object.error();
  auto change = ReadObject(patch, "read the patch");
  if (!change) return change.error();
  if (Status status = MergeStrategic(*object, std::move(*change), type); !status) {
    return status.error().With("apply a patch");
  }
  return Json(std::move(*object)).ToString();
}

Status ApplyStrategicPatch(google::protobuf::Message& object, std::string_view patch) {
  const auto patched =
      ApplyStrategicPatch(EncodeJson(object), patch, SchemaOf(*object.GetDescriptor()));
  if (!patched) return patched.error();
  const std::unique_ptr<google::protobuf::Message> decoded(object.New());
  const DecodeReport report = DecodeJson(*patched, *decoded);
  if (!report.ok()) return report.ToStatus().error().With("read the patched object");
  object.GetReflection()->Swap(&object, decoded.get());
  return Ok();
}

}  // namespace denselet::kube
