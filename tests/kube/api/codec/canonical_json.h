// JSON in a form that can be compared: keys sorted, of those that come twice the last one.
#pragma once

#include <yyjson.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace denselet::tests {

enum class Numbers : uint8_t { kAsWritten, kAsDoubles };

inline void AppendCanonical(yyjson_val* value, Numbers numbers, std::string& out) {
  if (yyjson_is_raw(value)) {
    const std::string number(yyjson_get_raw(value), yyjson_get_len(value));
    // Minus zero is zero.
    const double real = std::strtod(number.c_str(), nullptr) + 0.0;
    char text[64];
    const char* end = std::to_chars(text, text + sizeof text, real).ptr;
    out += numbers == Numbers::kAsWritten ? number
                                          : std::string(text, static_cast<size_t>(end - text));
  } else if (yyjson_is_str(value)) {
    // With its size, so that no text looks like two.
    out += std::to_string(yyjson_get_len(value)) + "\"";
    out.append(yyjson_get_str(value), yyjson_get_len(value));
  } else if (yyjson_is_arr(value)) {
    out += '[';
    size_t i = 0, count = 0;
    yyjson_val* element = nullptr;
    yyjson_arr_foreach(value, i, count, element) {
      if (i > 0) out += ',';
      AppendCanonical(element, numbers, out);
    }
    out += ']';
  } else if (yyjson_is_obj(value)) {
    std::map<std::string, yyjson_val*> members;
    size_t i = 0, count = 0;
    yyjson_val *key = nullptr, *member = nullptr;
    yyjson_obj_foreach(value, i, count, key, member) {
      members[std::string(yyjson_get_str(key), yyjson_get_len(key))] = member;
    }
    out += '{';
    for (const auto& [name, of_name] : members) {
      out += std::to_string(name.size()) + "\"" + name + ":";
      AppendCanonical(of_name, numbers, out);
      out += ',';
    }
    out += '}';
  } else {
    out += yyjson_is_null(value) ? "null" : yyjson_get_bool(value) ? "true" : "false";
  }
}

// Starts with "not JSON" where it is none.
inline std::string CanonicalJson(std::string_view json, Numbers numbers = Numbers::kAsWritten) {
  const std::unique_ptr<yyjson_doc, void (*)(yyjson_doc*)> document(
      yyjson_read(json.data(), json.size(), YYJSON_READ_NUMBER_AS_RAW), &yyjson_doc_free);
  if (document == nullptr) return "not JSON: " + std::string(json);
  std::string out;
  AppendCanonical(yyjson_doc_get_root(document.get()), numbers, out);
  return out;
}

}  // namespace denselet::tests
