#include "kube/api/validation/fault_list.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kube/api/codec/json_string.h"

namespace denselet::kube {
namespace {

// The size of the UTF-8 sequence at the front, 0 if there is none.
size_t RuneSize(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  size_t size = 1;
  if (byte(0) >= 0xf0 && byte(0) < 0xf5)
    size = 4;
  else if (byte(0) >= 0xe0)
    size = 3;
  else if (byte(0) >= 0xc2)
    size = 2;
  else if (byte(0) >= 0x80)
    return 0;
  if (byte(0) >= 0xf5 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return size;
}

void AppendHex(std::string& out, uint8_t byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out.append("\\x").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
}

void AppendAscii(std::string& out, char c) {
  constexpr std::string_view kMeant = "\a\b\f\n\r\t\v\\\"";
  constexpr std::string_view kNames = "abfnrtv\\\"";
  if (const size_t at = kMeant.find(c); at != kMeant.npos) {
    out.append(1, '\\').append(1, kNames[at]);
  } else if (c < ' ' || c == 0x7f) {
    AppendHex(out, static_cast<uint8_t>(c));
  } else {
    out += c;
  }
}

std::string Quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t size = RuneSize(text);
    if (size == 0) AppendHex(out, static_cast<uint8_t>(text[0]));
    if (size == 1) AppendAscii(out, text[0]);
    if (size > 1) out.append(text.substr(0, size));
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return out + "\"";
}

std::string Shown(std::string_view what, const FaultValue& value) {
  return std::string(what).append(": ").append(value.text());
}

}  // namespace

std::string GoJsonString(std::string_view text) {
  std::string escaped;
  for (const char c : JsonString(text)) {
    if (c == '<')
      escaped += "\\u003c";
    else if (c == '>')
      escaped += "\\u003e";
    else if (c == '&')
      escaped += "\\u0026";
    else
      escaped += c;
  }
  return escaped;
}

FaultValue::FaultValue(std::string_view text) : text_(Quote(text)) {}

FaultValue FaultValue::Named(std::string_view text) { return Raw(GoJsonString(text)); }

FaultValue FaultValue::Raw(std::string text) {
  FaultValue value;
  value.text_ = std::move(text);
  return value;
}

void FaultList::Add(const FieldPath& path, std::string message, std::string_view detail) {
  if (!detail.empty()) message.append(": ").append(detail);
  faults_.push_back({.path = path.text(), .line = 0, .message = std::move(message)});
}

void FaultList::Required(const FieldPath& path, std::string_view detail) {
  Add(path, "Required value", detail);
}

void FaultList::Invalid(const FieldPath& path, const FaultValue& value, std::string_view detail) {
  Add(path, Shown("Invalid value", value), detail);
}

void FaultList::Invalid(const FieldPath& path, const FaultValue& value,
                        std::span<const std::string> messages) {
  for (const std::string& message : messages) Invalid(path, value, message);
}

void FaultList::NotSupported(const FieldPath& path, const FaultValue& value, Words supported) {
  std::string detail;
  for (const std::string_view word : supported) {
    detail.append(detail.empty() ? "supported values: " : ", ").append(Quote(word));
  }
  Add(path, Shown("Unsupported value", value), detail);
}

void FaultList::Forbidden(const FieldPath& path, std::string_view detail) {
  Add(path, "Forbidden", detail);
}

void FaultList::Duplicate(const FieldPath& path, const FaultValue& value) {
  Add(path, Shown("Duplicate value", value), "");
}

void FaultList::NotFound(const FieldPath& path, const FaultValue& value, std::string_view detail) {
  Add(path, Shown("Not found", value), detail);
}

void FaultList::TooLong(const FieldPath& path, int bytes_max) {
  Add(path, "Too long", "may not be more than " + std::to_string(bytes_max) + " bytes");
}

void FaultList::TooMany(const FieldPath& path, int count, int count_max) {
  Add(path, Shown("Too many", count), "must have at most " + std::to_string(count_max) + " items");
}

void FaultList::Internal(const FieldPath& path, std::string_view detail) {
  Add(path, "Internal error", detail);
}

bool IsOneOf(std::string_view value, Words words) {
  return std::ranges::find(words, value) != words.end();
}

bool CheckSupported(const FieldPath& path, std::string_view value, Words supported,
                    FaultList& out) {
  if (IsOneOf(value, supported)) return true;
  out.NotSupported(path, FaultValue::Named(value), supported);
  return false;
}

}  // namespace denselet::kube
