#include "tests/fakes/api_object.h"

#include <google/protobuf/descriptor.h>
#include <k8s.io/api/certificates/v1/generated.pb.h>
#include <k8s.io/api/coordination/v1/generated.pb.h>
#include <k8s.io/api/node/v1/generated.pb.h>
#include <k8s.io/api/storage/v1/generated.pb.h>

#include <utility>

#include "base/check.h"
#include "kube/api/codec/codec.h"
#include "kube/api/codec/wire_reader.h"

namespace denselet::fakes {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The pool knows only what the linker took.
void LinkTypes() {
  k8s::io::api::certificates::v1::CertificateSigningRequest::default_instance();
  k8s::io::api::coordination::v1::Lease::default_instance();
  k8s::io::api::node::v1::RuntimeClass::default_instance();
  k8s::io::api::storage::v1::CSINode::default_instance();
}

// "k8s.io.api.coordination.v1.Lease"
std::string TypeName(const kube::Resource& resource) {
  const std::string_view group = resource.group.substr(0, resource.group.find('.'));
  return "k8s.io.api." + std::string(group.empty() ? "core" : group) + "." +
         std::string(resource.version) + "." + std::string(resource.kind);
}

const google::protobuf::Descriptor* TypeOf(const kube::Resource& resource) {
  static const google::protobuf::Descriptor* const kPod = kube::core::Pod::descriptor();
  if (resource.plural == kube::kPods.plural && resource.group == kube::kPods.group) return kPod;
  LinkTypes();
  return google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(
      TypeName(resource));
}

bool IsPod(const Message& message) {
  return message.GetDescriptor() == kube::core::Pod::descriptor();
}

const FieldDescriptor* Field(const Message& message, const std::string& name) {
  return message.GetDescriptor()->FindFieldByName(name);
}

}  // namespace

std::string_view TextAt(const kube::MessageSchema& schema, std::string_view wire,
                        std::string_view path) {
  const size_t dot = path.find('.');
  const kube::MessageSchema::Name* const name = schema.Find(path.substr(0, dot));
  CHECK(name != nullptr);
  kube::WireReader reader(wire);
  std::string_view found;
  for (kube::WireField part; reader.Next(part);) {
    if (part.number == name->field->number) found = part.bytes;
  }
  if (dot == std::string_view::npos) return found;
  return TextAt(*name->field->message, found, path.substr(dot + 1));
}

const kube::MessageSchema* SchemaOf(const kube::Resource& resource) {
  const google::protobuf::Descriptor* const type = TypeOf(resource);
  return type == nullptr ? nullptr : &kube::SchemaOf(*type);
}

Result<AnyObject> AnyObject::Parse(const kube::Resource& resource, std::string_view wire) {
  const google::protobuf::Descriptor* const type = TypeOf(resource);
  if (type == nullptr) return Error(ErrorCode::kNotFound, "no type " + TypeName(resource));
  std::unique_ptr<Message> message(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(type)->New());
  if (!message->ParseFromArray(wire.data(), static_cast<int>(wire.size()))) {
    return Error(ErrorCode::kInvalid, "not the bytes of a " + std::string(resource.kind));
  }
  return AnyObject(std::move(message));
}

AnyObject::AnyObject(const AnyObject& other) : message_(other.message_->New()) {
  message_->CopyFrom(*other.message_);
}

// Most of them are pods, which are read and written without asking for a field by its name.
kube::meta::ObjectMeta& AnyObject::meta() {
  if (IsPod(*message_)) return *static_cast<kube::core::Pod&>(*message_).mutable_metadata();
  const FieldDescriptor* const field = Field(*message_, "metadata");
  CHECK(field != nullptr);
  return dynamic_cast<kube::meta::ObjectMeta&>(
      *message_->GetReflection()->MutableMessage(message_.get(), field));
}

const kube::meta::ObjectMeta& AnyObject::meta() const {
  if (IsPod(*message_)) return static_cast<const kube::core::Pod&>(*message_).metadata();
  const FieldDescriptor* const field = Field(*message_, "metadata");
  CHECK(field != nullptr);
  return dynamic_cast<const kube::meta::ObjectMeta&>(
      message_->GetReflection()->GetMessage(*message_, field));
}

std::string AnyObject::Wire() const { return kube::EncodeWire(*message_); }

bool AnyObject::Has(const std::string& part) const { return Field(*message_, part) != nullptr; }

void AnyObject::TakePart(const std::string& part, const AnyObject& from) {
  const FieldDescriptor* const field = Field(*message_, part);
  if (field == nullptr) return;
  message_->GetReflection()->ClearField(message_.get(), field);
  if (!from.message_->GetReflection()->HasField(*from.message_, field)) return;
  message_->GetReflection()
      ->MutableMessage(message_.get(), field)
      ->CopyFrom(from.message_->GetReflection()->GetMessage(*from.message_, field));
}

bool AnyObject::SamePart(const std::string& part, const AnyObject& other) const {
  const FieldDescriptor* const field = Field(*message_, part);
  if (field == nullptr) return true;
  return kube::EncodeWire(message_->GetReflection()->GetMessage(*message_, field)) ==
         kube::EncodeWire(other.message_->GetReflection()->GetMessage(*other.message_, field));
}

std::optional<std::string> AnyObject::Text(std::string_view path) const {
  const Message* at = message_.get();
  while (true) {
    const size_t dot = path.find('.');
    const FieldDescriptor* const field = Field(*at, std::string(path.substr(0, dot)));
    if (field == nullptr || field->is_repeated()) return std::nullopt;
    if (dot == std::string_view::npos) {
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) return std::nullopt;
      return at->GetReflection()->GetString(*at, field);
    }
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return std::nullopt;
    at = &at->GetReflection()->GetMessage(*at, field);
    path.remove_prefix(dot + 1);
  }
}

}  // namespace denselet::fakes
