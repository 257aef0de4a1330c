// A JSON document that can be taken apart and put together again: what patches are made of. Nothing
// in it is lost or rounded, and it is written with sorted keys, so that equal documents are equal
// texts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace denselet::kube {

// Objects and lists within each other. Go allows ten thousand; no object of the API comes near.
inline constexpr int kJsonDepthMax = 1000;

// As it was written. Whole numbers and those with a fraction or an exponent are never equal (Go
// reads them as different types); the latter are compared by their value.
struct JsonNumber {
  std::string text;

  bool IsWhole() const { return text.find_first_of(".eE") == std::string::npos; }
  friend bool operator==(const JsonNumber& a, const JsonNumber& b);
};

class Json {
 public:
  using List = std::vector<Json>;
  using Object = std::map<std::string, Json, std::less<>>;
  enum class Kind : uint8_t { kNull, kBool, kNumber, kText, kList, kObject };

  Json();  // null
  // Not inline: GCC 12 warns of a variant's unused parts where it inlines these.
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();
  explicit Json(bool value) : value_(value) {}
  Json(JsonNumber value) : value_(std::move(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(List value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  // kInvalid, with the line: it is not JSON, or nested too deeply. Of keys that come twice the last
  // one counts.
  static Result<Json> Parse(std::string_view text);
  // Without blanks, texts escaped as Go escapes them.
  std::string ToString() const;

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  bool IsNull() const { return kind() == Kind::kNull; }

  // Null when it is something else.
  const std::string* text() const { return std::get_if<std::string>(&value_); }
  const JsonNumber* number() const { return std::get_if<JsonNumber>(&value_); }
  const List* list() const { return std::get_if<List>(&value_); }
  List* list() { return std::get_if<List>(&value_); }
  const Object* object() const { return std::get_if<Object>(&value_); }
  Object* object() { return std::get_if<Object>(&value_); }

  // Of an object; null when it is none, or has no such member.
  const Json* Find(std::string_view key) const;

  friend bool operator==(const Json&, const Json&) = default;

 private:
  void AppendTo(std::string& out) const;

  std::variant<std::monostate, bool, JsonNumber, std::string, List, Object> value_;
};

// "null", "a number", "an object": for messages.
std::string_view Name(Json::Kind kind);

}  // namespace denselet::kube
