#include "kube/api/patch/strategic_patch.h"

#include <google/protobuf/message.h>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/check.h"
#include "kube/api/codec/codec.h"
#include "kube/api/codec/field_walk.h"
#include "kube/api/codec/json_decode.h"
#include "kube/api/codec/json_encode.h"
#include "kube/api/codec/wire_reader.h"
#include "kube/api/codec/wire_writer.h"
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

// A message cut in two: what a patch speaks of, and the rest, which need not become JSON and back.
struct Halves {
  std::string named, others;
};

// By the number of the field; the value is null where there is more than one word about it.
using Named = std::map<uint32_t, const Json*>;

// Nothing: it has a word about the object as a whole, or of something that the type does not have.
std::optional<Named> FieldsIn(const Json::Object& patch, const MessageSchema& type) {
  Named fields;
  for (const auto& [key, value] : patch) {
    const bool directive = key.starts_with('$');
    const size_t slash = directive ? key.find('/') : std::string::npos;
    if (directive && slash == std::string::npos) return std::nullopt;
    const std::string_view name = std::string_view(key).substr(directive ? slash + 1 : 0);
    const MessageSchema::Name* const found = type.Find(name);
    if (found == nullptr) return std::nullopt;
    const auto [place, is_new] = fields.emplace(found->field->number, directive ? nullptr : &value);
    if (!is_new) place->second = nullptr;
  }
  return fields;
}

Halves Split(std::string_view wire, const MessageSchema& type, const Json::Object& patch) {
  const std::optional<Named> fields = FieldsIn(patch, type);
  if (!fields) return {.named = std::string(wire), .others = {}};
  Halves halves;
  FieldWalk walk(wire);
  while (walk.number() != FieldWalk::kEnd) {
    const uint32_t number = walk.number();
    const std::string_view records = walk.Take(number);
    const auto named = fields->find(number);
    if (named == fields->end()) {
      halves.others += records;
      continue;
    }
    const FieldSchema& field = *type.FindNumber(number);
    const Json::Object* const change = named->second == nullptr ? nullptr : named->second->object();
    if (change == nullptr || field.inlined || field.repeats != Repeats::kOnce ||
        field.shape != Shape::kMessage) {
      halves.named += records;
      continue;
    }
    WireField part;
    WireReader(records).Next(part);
    const Halves inner = Split(part.bytes, *field.message, *change);
    AppendBytesField(halves.named, number, inner.named);
    AppendBytesField(halves.others, number, inner.others);
  }
  return halves;
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

Result<std::string> ApplyStrategicPatchToWire(std::string_view wire, std::string_view patch,
                                              const MessageSchema& type) {
  auto change = ReadObject(patch, "read the patch");
  if (!change) return change.error();
  Halves halves = Split(wire, type, *change);
  std::string json;
  WireToJson(halves.named, type, {}, json);
  auto patched = ReadObject(json, "read the object");
  if (!patched) return patched.error();
  if (Status status = MergeStrategic(*patched, Json::Object(*change), type); !status) {
    return status.error().With("apply a patch");
  }
  json = Json(std::move(*patched)).ToString();
  WireWriter decoded(json.size());
  const DecodeReport report = JsonToWire(JsonSource(json), type, {}, decoded);
  if (!report.ok()) return report.ToStatus().error().With("read the patched object");
  // What protobuf reads one after the other it merges.
  return std::move(halves.others) + Split(decoded.written(), type, *change).named;
}

Status ApplyStrategicPatch(google::protobuf::Message& object, std::string_view patch) {
  const auto patched =
      ApplyStrategicPatchToWire(EncodeWire(object), patch, SchemaOf(*object.GetDescriptor()));
  if (!patched) return patched.error();
  CHECK(object.ParseFromString(*patched));
  return Ok();
}

}  // namespace denselet::kube
