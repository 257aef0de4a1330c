// One field of a message, by its path in JSON: flags are a table, so what they set is found by
// name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace google::protobuf {
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace denselet::app {

// Borrows the message. A setter is for fields of the type that it names, which the table's test
// proves for each flag: any other is a CHECK.
class ConfigField {
 public:
  // Messages on the way are made where they are missing. Nothing: there is no such field.
  static std::optional<ConfigField> Find(google::protobuf::Message& root, std::string_view path);

  bool GetBool() const;
  void SetBool(bool value);
  void SetInt(int64_t value);  // of any width: flags are no wider than their fields
  void SetText(const std::string& value);
  void SetDuration(Duration value);
  void SetQuantity(const std::string& text);
  void SetList(const std::vector<std::string>& values);
  void SetMap(const std::map<std::string, std::string>& values);

 private:
  ConfigField(google::protobuf::Message& owner, const google::protobuf::FieldDescriptor& field)
      : owner_(&owner), field_(&field) {}

  google::protobuf::Message* owner_;
  const google::protobuf::FieldDescriptor* field_;
};

}  // namespace denselet::app
