#include "kube/api/codec/schema.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>

#include "base/check.h"
#include "base/split.h"
#include "kube/api/codec/go_fields.h"

namespace denselet::kube {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr std::string_view kMetaPackage = "k8s.io.apimachinery.pkg.apis.meta.v1.";

void Apply(std::string_view word, FieldSchema& field) {
  if (word == "inline") {
    field.inlined = true;
  } else if (word == "pointer") {
    field.pointer = true;
  } else if (word == "always") {
    field.always = true;
  } else if (word == "omitzero") {
    field.omit_zero = true;
  } else if (word == "merge") {
    field.patch = PatchStrategy::kMerge;
  } else if (word == "retainKeys") {
    field.retain_keys = true;
  } else if (word.starts_with("key=")) {
    field.merge_key = word.substr(4);
  } else {
    CHECK(word == "replace" || word == "atomic");
  }
}

Shape ShapeOfMessage(const Descriptor& message) {
  std::string_view name = message.full_name();
  if (name == "k8s.io.apimachinery.pkg.api.resource.Quantity") return Shape::kQuantity;
  if (name == "k8s.io.apimachinery.pkg.util.intstr.IntOrString") return Shape::kIntOrString;
  if (name == "k8s.io.apimachinery.pkg.runtime.RawExtension") return Shape::kRawJson;
  if (name == "denselet.kubelet.config.v1beta1.TimeOrMetaDuration") return Shape::kTextOrDuration;
  if (message.name() == "ExtraValue" || message.name() == "StringList") return Shape::kStringList;
  if (!name.starts_with(kMetaPackage)) return Shape::kMessage;
  name.remove_prefix(kMetaPackage.size());
  if (name == "Time") return Shape::kTime;
  if (name == "MicroTime") return Shape::kMicroTime;
  if (name == "Duration") return Shape::kDuration;
  if (name == "FieldsV1") return Shape::kRawJson;
  if (name == "Verbs") return Shape::kStringList;
  return Shape::kMessage;
}

Shape ShapeOf(const FieldDescriptor& field) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_BOOL:
      return Shape::kBool;
    case FieldDescriptor::TYPE_INT32:
      return Shape::kInt32;
    case FieldDescriptor::TYPE_INT64:
      return Shape::kInt64;
    case FieldDescriptor::TYPE_UINT32:
      return Shape::kUint32;
    case FieldDescriptor::TYPE_UINT64:
      return Shape::kUint64;
    case FieldDescriptor::TYPE_DOUBLE:
      return Shape::kDouble;
    case FieldDescriptor::TYPE_STRING:
      return Shape::kString;
    case FieldDescriptor::TYPE_BYTES:
      return Shape::kBytes;
    case FieldDescriptor::TYPE_MESSAGE:
      return ShapeOfMessage(*field.message_type());
    case FieldDescriptor::TYPE_FLOAT:
    case FieldDescriptor::TYPE_FIXED64:
    case FieldDescriptor::TYPE_FIXED32:
    case FieldDescriptor::TYPE_GROUP:
    case FieldDescriptor::TYPE_ENUM:
    case FieldDescriptor::TYPE_SFIXED32:
    case FieldDescriptor::TYPE_SFIXED64:
    case FieldDescriptor::TYPE_SINT32:
    case FieldDescriptor::TYPE_SINT64:
      break;
  }
  CheckFailed(__FILE__, __LINE__, "no Kubernetes type has such a field");
}

class Schemas {
 public:
  Schemas() {
    for (std::string_view text = kGoFields; !text.empty();) {
      std::string_view line = TakeUntil(text, '\n');
      if (line.empty() || line.starts_with('#')) continue;
      const std::string_view message = TakeUntil(line, ' ');
      go_fields_.emplace(message, line);
    }
  }

  const MessageSchema& Get(const Descriptor& descriptor) {
    auto& schema = schemas_[&descriptor];
    if (schema == nullptr) {
      schema = std::make_unique<MessageSchema>();
      Build(descriptor, *schema);
    }
    return *schema;
  }

  const MessageSchema* Find(const Descriptor& descriptor) const {
    const auto found = schemas_.find(&descriptor);
    return found == schemas_.end() ? nullptr : found->second.get();
  }

 private:
  void Build(const Descriptor& descriptor, MessageSchema& schema) {
    schema.full_name = descriptor.full_name();
    CHECK(descriptor.field_count() <= static_cast<int>(kFieldsMax));
    for (int i = 0; i < descriptor.field_count(); ++i) {
      schema.fields.push_back(MakeField(*descriptor.field(i)));
    }
    std::ranges::sort(schema.fields, {}, &FieldSchema::number);
    for (size_t i = 0; i < schema.fields.size(); ++i) {
      schema.fields[i].index = static_cast<uint32_t>(i);
    }
    ApplyGo(schema);
    MakeNames(schema);
  }

  FieldSchema MakeField(const FieldDescriptor& descriptor) {
    FieldSchema field;
    field.name = descriptor.name();
    field.number = static_cast<uint32_t>(descriptor.number());
    const FieldDescriptor* element = &descriptor;
    if (descriptor.is_map()) {
      field.repeats = Repeats::kMap;
      CHECK(descriptor.message_type()->map_key()->type() == FieldDescriptor::TYPE_STRING);
      element = descriptor.message_type()->map_value();
    } else if (descriptor.is_repeated()) {
      field.repeats = Repeats::kList;
    }
    field.shape = ShapeOf(*element);
    if (field.shape == Shape::kMessage) field.message = &Get(*element->message_type());
    return field;
  }

  void ApplyGo(MessageSchema& schema) {
    const auto found = go_fields_.find(schema.full_name);
    if (found == go_fields_.end()) return;
    for (std::string_view line = found->second; !line.empty();) {
      std::string_view words = TakeUntil(line, ' ');
      const std::string_view name = TakeUntil(words, ':');
      if (name == "+TypeMeta") {
        schema.has_type_meta = true;
        continue;
      }
      const auto field = std::ranges::find(schema.fields, name, &FieldSchema::name);
      if (field == schema.fields.end()) continue;  // not in the .proto: Go's JSON alone has it
      while (!words.empty()) Apply(TakeUntil(words, ':'), *field);
    }
  }

  static void MakeNames(MessageSchema& schema) {
    std::vector<MessageSchema::Name> names;
    for (const FieldSchema& field : schema.fields) {
      if (!field.inlined) {
        names.push_back({field.name, &field});
        continue;
      }
      for (const MessageSchema::Name& name : field.message->slots) {
        if (name.field != nullptr) names.push_back({name.name, &field});
      }
    }
    schema.slots.resize(std::bit_ceil(names.size() * 2 + 1));
    const size_t mask = schema.slot_mask = schema.slots.size() - 1;
    for (const MessageSchema::Name& name : names) {
      size_t slot = MessageSchema::HashOf(name.name) & mask;
      while (schema.slots[slot].field != nullptr) slot = (slot + 1) & mask;
      schema.slots[slot] = name;
    }
  }

  std::map<std::string_view, std::string_view> go_fields_;
  // Addresses of messages and of their fields stay.
  std::map<const Descriptor*, std::unique_ptr<MessageSchema>> schemas_;
};

// Of these files every message has a schema, made before anybody reads one. A program that uses
// only some of the files does not have the others.
constexpr const char* kFiles[] = {
    "denselet/kubelet/config/v1beta1/types.proto",
    "k8s.io/api/authentication/v1/generated.proto",
    "k8s.io/api/authorization/v1/generated.proto",
    "k8s.io/api/certificates/v1/generated.proto",
    "k8s.io/api/coordination/v1/generated.proto",
    "k8s.io/api/core/v1/generated.proto",
    "k8s.io/api/events/v1/generated.proto",
    "k8s.io/api/node/v1/generated.proto",
    "k8s.io/api/resource/v1/generated.proto",
    "k8s.io/api/storage/v1/generated.proto",
    "k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto",
    "k8s.io/apimachinery/pkg/runtime/generated.proto",
};

Schemas MakeAll() {
  Schemas schemas;
  for (const char* name : kFiles) {
    const auto* file = google::protobuf::DescriptorPool::generated_pool()->FindFileByName(name);
    for (int i = 0; file != nullptr && i < file->message_type_count(); ++i) {
      schemas.Get(*file->message_type(i));
    }
  }
  return schemas;
}

}  // namespace

const MessageSchema& SchemaOf(const Descriptor& descriptor) {
  static const Schemas kAll = MakeAll();
  const MessageSchema* schema = kAll.Find(descriptor);
  CHECK(schema != nullptr);
  return *schema;
}

const FieldSchema* MessageSchema::FindNumber(uint32_t number) const {
  // Numbers are nearly dense: look where it would be without gaps first.
  if (number - 1 < fields.size() && fields[number - 1].number == number) return &fields[number - 1];
  const auto found = std::ranges::lower_bound(fields, number, {}, &FieldSchema::number);
  return found != fields.end() && found->number == number ? &*found : nullptr;
}

}  // namespace denselet::kube
