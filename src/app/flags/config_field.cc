#include "app/flags/config_field.h"

#include "app/flags/text.h"
#include "base/check.h"
#include "kube/api/codec/schema.h"
#include "kube/api/types.h"

namespace denselet::app {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

Message& Submessage(Message& owner, const FieldDescriptor& field) {
  CHECK(field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field.is_repeated());
  return *owner.GetReflection()->MutableMessage(&owner, &field);
}

void SetTextOf(Message& owner, std::string_view name, const std::string& value) {
  const FieldDescriptor* field = owner.GetDescriptor()->FindFieldByName(std::string(name));
  CHECK(field != nullptr);
  owner.GetReflection()->SetString(&owner, field, value);
}

// The field of that name in JSON; `owner` becomes the message that has it, which is another one
// where that is inlined.
const FieldDescriptor* FindIn(Message*& owner, std::string_view name) {
  while (true) {
    const auto* found = kube::SchemaOf(*owner->GetDescriptor()).Find(name);
    if (found == nullptr) return nullptr;
    const FieldDescriptor* field =
        owner->GetDescriptor()->FindFieldByNumber(static_cast<int>(found->field->number));
    CHECK(field != nullptr);
    if (!found->field->inlined) return field;
    owner = &Submessage(*owner, *field);
  }
}

}  // namespace

std::optional<ConfigField> ConfigField::Find(Message& root, std::string_view path) {
  Message* owner = &root;
  while (true) {
    const std::string_view name = TakeUntil(path, '.');
    const FieldDescriptor* field = FindIn(owner, name);
    if (field == nullptr) return std::nullopt;
    if (path.empty()) return ConfigField(*owner, *field);
    owner = &Submessage(*owner, *field);
  }
}

bool ConfigField::GetBool() const { return owner_->GetReflection()->GetBool(*owner_, field_); }

void ConfigField::SetBool(bool value) { owner_->GetReflection()->SetBool(owner_, field_, value); }

void ConfigField::SetInt(int64_t value) {
  const auto* reflection = owner_->GetReflection();
  if (field_->cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
    reflection->SetInt32(owner_, field_, static_cast<int32_t>(value));
  } else if (field_->cpp_type() == FieldDescriptor::CPPTYPE_UINT32) {
    reflection->SetUInt32(owner_, field_, static_cast<uint32_t>(value));
  } else {
    reflection->SetInt64(owner_, field_, value);
  }
}

void ConfigField::SetText(const std::string& value) {
  owner_->GetReflection()->SetString(owner_, field_, value);
}

void ConfigField::SetDuration(Duration value) {
  Message& duration = Submessage(*owner_, *field_);
  const FieldDescriptor* field = duration.GetDescriptor()->FindFieldByName("duration");
  CHECK(field != nullptr);
  duration.GetReflection()->SetInt64(&duration, field, value.count());
}

void ConfigField::SetQuantity(const std::string& text) {
  SetTextOf(Submessage(*owner_, *field_), "string", text);
}

void ConfigField::SetList(const std::vector<std::string>& values) {
  owner_->GetReflection()->ClearField(owner_, field_);
  for (const std::string& value : values) {
    owner_->GetReflection()->AddString(owner_, field_, value);
  }
}

void ConfigField::SetMap(const std::map<std::string, std::string>& values) {
  CHECK(field_->is_map());
  owner_->GetReflection()->ClearField(owner_, field_);
  for (const auto& [key, value] : values) {
    Message& entry = *owner_->GetReflection()->AddMessage(owner_, field_);
    SetTextOf(entry, "key", key);
    SetTextOf(entry, "value", value);
  }
}

}  // namespace denselet::app
