#include "tests/kube/api/patch/random_object.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <set>
#include <string>

#include "kube/api/types.h"

namespace denselet::kube {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

namespace {

constexpr int kDepthMax = 8;
constexpr const char* kTexts[] = {"", "a", "b", "c<\n\"", "d\xc3\xa9", "e", "f", "g"};

// The merge key of an element; it may stand in an inlined message.
class KeyField {
 public:
  KeyField(Message& element, const std::string& name) : owner_(&element) {
    for (;;) {
      const auto& descriptor = *owner_->GetDescriptor();
      const FieldSchema& field = *SchemaOf(descriptor).Find(name)->field;
      field_ = descriptor.FindFieldByNumber(static_cast<int>(field.number));
      if (!field.inlined) return;
      owner_ = owner_->GetReflection()->MutableMessage(owner_, field_);
    }
  }

  bool is_text() const { return field_->cpp_type() == FieldDescriptor::CPPTYPE_STRING; }
  std::string Get() const {
    const Reflection& reflection = *owner_->GetReflection();
    return is_text() ? reflection.GetString(*owner_, field_)
                     : std::to_string(reflection.GetInt32(*owner_, field_));
  }
  void Set(const std::string& value) {
    const Reflection& reflection = *owner_->GetReflection();
    if (is_text()) return reflection.SetString(owner_, field_, value);
    reflection.SetInt32(owner_, field_, std::stoi(value));
  }

 private:
  Message* owner_;
  const FieldDescriptor* field_ = nullptr;
};

}  // namespace

struct RandomObject::Place {
  Message& message;
  const FieldDescriptor& field;
  const FieldSchema& schema;

  const Reflection& reflection() const { return *message.GetReflection(); }
  bool merged() const { return schema.patch == PatchStrategy::kMerge; }
  Message& Element(int index) const {
    return *reflection().MutableRepeatedMessage(&message, &field, index);
  }
  // What tells elements of a merged list apart.
  std::string KeyOf(int index) const {
    if (schema.merge_key.empty()) return reflection().GetRepeatedString(message, &field, index);
    return KeyField(Element(index), schema.merge_key).Get();
  }
};

void RandomObject::Fill(Message& message, uint64_t rarity, int depth) {
  const auto& descriptor = *message.GetDescriptor();
  const MessageSchema& schema = SchemaOf(descriptor);
  for (const FieldSchema& field : schema.fields) {
    if ((depth > 0 && !OneIn(rarity)) || depth > kDepthMax) continue;
    const auto& found = *descriptor.FindFieldByNumber(static_cast<int>(field.number));
    FillField({message, found, field}, rarity, depth);
  }
}

void RandomObject::FillField(const Place& place, uint64_t rarity, int depth) {
  switch (place.schema.repeats) {
    case Repeats::kOnce:
      return SetOrAdd(place, rarity, depth);
    case Repeats::kMap:
      return FillMap(place);
    case Repeats::kList:
      for (uint64_t count = random_.Below(4); count > 0; --count) AddElement(place, rarity, depth);
      if (place.merged()) RemoveTwins(place);
      return;
  }
}

void RandomObject::AddElement(const Place& place, uint64_t rarity, int depth) {
  SetOrAdd(place, rarity, depth + 1);
  if (!place.merged() || place.schema.merge_key.empty()) return;
  const int last = place.reflection().FieldSize(place.message, &place.field) - 1;
  KeyField key(place.Element(last), place.schema.merge_key);
  const uint64_t number = 1 + random_.Below(200);
  key.Set(key.is_text() ? kTexts[1 + number % 7] : std::to_string(number));
}

void RandomObject::RemoveTwins(const Place& place) {
  const Reflection& reflection = place.reflection();
  std::set<std::string> seen;
  for (int i = 0; i < reflection.FieldSize(place.message, &place.field);) {
    if (seen.insert(place.KeyOf(i)).second) {
      ++i;
      continue;
    }
    const int last = reflection.FieldSize(place.message, &place.field) - 1;
    reflection.SwapElements(&place.message, &place.field, i, last);
    reflection.RemoveLast(&place.message, &place.field);
  }
}

void RandomObject::FillMap(const Place& place) {
  const Reflection& reflection = place.reflection();
  // Twice the same key: the last one counts, as in any map.
  for (uint64_t count = random_.Below(4); count > 0; --count) {
    Message& entry = *reflection.AddMessage(&place.message, &place.field);
    const auto& descriptor = *entry.GetDescriptor();
    entry.GetReflection()->SetString(&entry, descriptor.map_key(), kTexts[1 + random_.Below(7)]);
    const auto& value = *descriptor.map_value();
    if (value.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      FillSpecial(*entry.GetReflection()->MutableMessage(&entry, &value), place.schema.shape);
    } else if (value.type() == FieldDescriptor::TYPE_BYTES ||
               value.type() == FieldDescriptor::TYPE_STRING) {
      entry.GetReflection()->SetString(&entry, &value, kTexts[random_.Below(8)]);
    }
  }
}

void RandomObject::SetOrAdd(const Place& place, uint64_t rarity, int depth) {
  Message* message = &place.message;
  const FieldDescriptor* field = &place.field;
  const Reflection& to = place.reflection();
  const bool add = place.schema.repeats == Repeats::kList;
  const uint64_t number = random_.Below(3);
  switch (place.field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return add ? to.AddBool(message, field, number == 1)
                 : to.SetBool(message, field, number == 1);
    case FieldDescriptor::CPPTYPE_INT32: {
      const auto value = static_cast<int32_t>(number);
      return add ? to.AddInt32(message, field, value) : to.SetInt32(message, field, value);
    }
    case FieldDescriptor::CPPTYPE_INT64: {
      const auto value = static_cast<int64_t>(number) << 60;
      return add ? to.AddInt64(message, field, value) : to.SetInt64(message, field, value);
    }
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = kTexts[random_.Below(8)];
      return add ? to.AddString(message, field, text) : to.SetString(message, field, text);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      Message& within = add ? *to.AddMessage(message, field) : *to.MutableMessage(message, field);
      if (!FillSpecial(within, place.schema.shape)) Fill(within, rarity, depth + 1);
      return;
    }
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64:
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_ENUM:
      return;  // pods and nodes have none
  }
}

// False: it is an ordinary message.
bool RandomObject::FillSpecial(Message& message, Shape shape) {
  constexpr const char* kQuantities[] = {"0", "100m", "1", "1Gi", "1500M"};
  if (auto* quantity = dynamic_cast<resource::Quantity*>(&message)) {
    quantity->set_string(kQuantities[random_.Below(5)]);
  } else if (auto* time = dynamic_cast<meta::Time*>(&message)) {
    time->set_seconds(1767323045 + static_cast<int64_t>(random_.Below(3)));
  } else if (auto* port = dynamic_cast<intstr::IntOrString*>(&message)) {
    port->set_type(OneIn(2) ? 1 : 0);
    port->type() == 1 ? port->set_strval("http") : port->set_intval(80);
  } else if (auto* fields = dynamic_cast<meta::FieldsV1*>(&message)) {
    fields->set_raw(OneIn(2) ? R"({"f:a":{}})" : R"({"f:b":{"f:c":1.50}})");
  }
  return shape != Shape::kMessage;
}

void RandomObject::Change(Message& message, uint64_t rarity, int depth) {
  const auto& descriptor = *message.GetDescriptor();
  for (const FieldSchema& field : SchemaOf(descriptor).fields) {
    const Place place{message, *descriptor.FindFieldByNumber(static_cast<int>(field.number)),
                      field};
    if (depth == 0 || OneIn(3)) ChangeField(place, rarity, depth);
  }
}

// But for its merge key.
void RandomObject::ChangeElement(const Place& place, int index, uint64_t rarity, int depth) {
  const std::string key = place.merged() ? place.KeyOf(index) : "";
  Change(place.Element(index), rarity, depth);
  if (place.merged()) KeyField(place.Element(index), place.schema.merge_key).Set(key);
}

void RandomObject::ChangeField(const Place& place, uint64_t rarity, int depth) {
  const Reflection& reflection = place.reflection();
  Message* message = &place.message;
  const FieldDescriptor* field = &place.field;
  const bool ordinary = place.schema.shape == Shape::kMessage;
  if (place.schema.repeats == Repeats::kOnce && ordinary && reflection.HasField(*message, field) &&
      !OneIn(8)) {
    return Change(*reflection.MutableMessage(message, field), rarity, depth + 1);
  }
  if (place.schema.repeats != Repeats::kList || OneIn(8)) {
    reflection.ClearField(message, field);
    if (OneIn(rarity)) FillField(place, rarity, depth);
    return;
  }
  const auto size = [&] { return reflection.FieldSize(*message, field); };
  const auto any = [&] { return static_cast<int>(random_.Below(static_cast<uint64_t>(size()))); };
  if (size() > 0 && OneIn(2)) {
    reflection.SwapElements(message, field, any(), size() - 1);
    reflection.RemoveLast(message, field);
  }
  if (OneIn(2)) AddElement(place, rarity, depth);
  if (size() > 0 && OneIn(2)) reflection.SwapElements(message, field, any(), any());
  for (int i = 0; ordinary && i < size(); ++i) {
    if (OneIn(2)) ChangeElement(place, i, rarity, depth + 1);
  }
  if (place.merged()) RemoveTwins(place);
}

}  // namespace denselet::kube
