#include "kube/api/hash/internal_types.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/check.h"
#include "base/split.h"
#include "kube/api/codec/schema.h"
#include "kube/api/hash/internal_types_text.h"
#include "kube/api/types.h"

namespace denselet::kube {
namespace {

class Types {
 public:
  Types() {
    // A program that never named the type would not have its descriptor.
    core::Pod::descriptor();
    for (std::string_view text = kInternalTypes; !text.empty();) {
      std::string_view line = TakeUntil(text, '\n');
      if (line.empty() || line.starts_with('#')) continue;
      InternalType& type = types_[TakeUntil(line, ' ')];
      lines_[&type] = line;
    }
    for (auto& [name, type] : types_) Build(name, lines_[&type], type);
  }

  const InternalType& Get(std::string_view name) const { return types_.at(name); }

 private:
  void Build(std::string_view name, std::string_view line, InternalType& type) {
    type.name = name;
    const std::string message(TakeUntil(line, ' '));
    type.descriptor =
        google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(message);
    CHECK(type.descriptor != nullptr);
    while (!line.empty()) type.fields.push_back(MakeField(TakeUntil(line, ' '), *type.descriptor));
  }

  InternalField MakeField(std::string_view word, const google::protobuf::Descriptor& message) {
    InternalField field;
    field.name = TakeUntil(word, ':');
    field.go_type = TakeUntil(word, '=');
    field.label = std::string(field.name) + ":(" + std::string(field.go_type) + ")";
    std::string_view element = field.go_type;
    field.pointer = element.starts_with('*');
    if (field.pointer) element.remove_prefix(1);
    if (element.starts_with("[]")) element.remove_prefix(2);
    const auto found = types_.find(element);
    if (found != types_.end()) field.element = &found->second;
    if (word == "-") return field;
    int number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    field.descriptor = message.FindFieldByNumber(number);
    CHECK(field.descriptor != nullptr);
    field.schema = SchemaOf(message).FindNumber(static_cast<uint32_t>(number));
    CHECK((field.schema->shape == Shape::kMessage) == (field.element != nullptr));
    return field;
  }

  std::map<std::string_view, InternalType> types_;  // their addresses stay
  std::map<const InternalType*, std::string_view> lines_;
};

}  // namespace

const InternalType& InternalPod() {
  static const Types kTypes;
  return kTypes.Get("core.Pod");
}

}  // namespace denselet::kube
