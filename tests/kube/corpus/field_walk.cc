#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "tests/kube/corpus/corpus.h"

namespace denselet::kube::corpus {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The type of a field's elements; of a map, that of its values. Null: scalars.
const Descriptor* TypeOf(const FieldDescriptor& field) {
  if (!field.is_map()) return field.message_type();
  return field.message_type()->map_value()->message_type();
}

void AddFieldsOf(const Descriptor& type, std::set<std::string>& fields,
                 std::set<const Descriptor*>& done) {
  if (!done.insert(&type).second) return;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    fields.insert(field.full_name());
    if (const Descriptor* within = TypeOf(field)) AddFieldsOf(*within, fields, done);
  }
}

// Calls `visit(field, path)` for each field that is set, however deep.
template <class Visit>
void Walk(const Message& message, const std::string& path, const Visit& visit);

// An element of a list or of a map.
template <class Visit>
void WalkElement(const Message& element, const FieldDescriptor& field, const std::string& path,
                 int index, const Visit& visit) {
  if (!field.is_map()) {
    return Walk(element, path + "[" + std::to_string(index) + "]", visit);
  }
  const FieldDescriptor* key = element.GetDescriptor()->map_key();
  const FieldDescriptor* value = element.GetDescriptor()->map_value();
  const std::string at = path + "[" + element.GetReflection()->GetString(element, key) + "]";
  visit(field, at);
  if (value->message_type() == nullptr) return;
  Walk(element.GetReflection()->GetMessage(element, value), at, visit);
}

template <class Visit>
void Walk(const Message& message, const std::string& path, const Visit& visit) {
  std::vector<const FieldDescriptor*> fields;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string at = path.empty() ? field->name() : path + "." + field->name();
    visit(*field, at);
    if (field->message_type() == nullptr) continue;
    if (!field->is_repeated()) {
      Walk(reflection.GetMessage(message, field), at, visit);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      WalkElement(reflection.GetRepeatedMessage(message, field, i), *field, at, i, visit);
    }
  }
}

}  // namespace

std::set<std::string> FieldsOf(const Descriptor& type) {
  std::set<std::string> fields;
  std::set<const Descriptor*> done;
  AddFieldsOf(type, fields, done);
  return fields;
}

std::set<std::string> FieldsSetIn(const Message& message) {
  std::set<std::string> fields;
  Walk(message, "",
       [&](const FieldDescriptor& field, const std::string&) { fields.insert(field.full_name()); });
  return fields;
}

std::set<std::string> PathsSetIn(const Message& message) {
  std::set<std::string> paths;
  Walk(message, "", [&](const FieldDescriptor&, const std::string& path) { paths.insert(path); });
  return paths;
}

}  // namespace denselet::kube::corpus
