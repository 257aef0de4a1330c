#include "app/flags/text.h"

#include <arpa/inet.h>

#include <algorithm>
#include <limits>

namespace denselet::app {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string Hex(uint8_t byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

void PutQuoted(char c, char quote, std::string& out) {
  constexpr std::string_view kMeant = "\a\b\f\n\r\t\v\\";
  constexpr std::string_view kNames = "abfnrtv\\";
  if (const size_t at = kMeant.find(c); at != std::string_view::npos) {
    out += {'\\', kNames[at]};
  } else if (c == quote) {
    out += {'\\', c};
  } else if (const auto byte = static_cast<uint8_t>(c); byte < ' ' || byte == 0x7f) {
    out += Hex(byte);
  } else {
    out += c;
  }
}

Error BadNumber(std::string_view function, std::string_view text, std::string_view why) {
  return Error(ErrorCode::kInvalid, "strconv." + std::string(function) + ": parsing " +
                                        Quoted(text) + ": " + std::string(why));
}

int DigitValue(char c) {
  if (IsDigit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
}

enum class NumberFault : uint8_t { kNone, kSyntax, kRange };

NumberFault ReadDigits(std::string_view digits, int base, uint64_t limit, uint64_t& value) {
  if (digits.empty()) return NumberFault::kSyntax;
  value = 0;
  for (const char c : digits) {
    const int digit = DigitValue(c);
    if (digit >= base) return NumberFault::kSyntax;
    if (__builtin_mul_overflow(value, static_cast<uint64_t>(base), &value) ||
        __builtin_add_overflow(value, static_cast<uint64_t>(digit), &value) || value > limit) {
      return NumberFault::kRange;
    }
  }
  return NumberFault::kNone;
}

uint64_t LargestOf(int bits) { return std::numeric_limits<uint64_t>::max() >> (64 - bits); }

// 10, or what 0x, 0b, 0o or a leading 0 say; that prefix is taken off. Underscores may stand
// between digits and after a prefix, and are taken out.
int TakeBase(std::string_view text, std::string& digits, bool& well_formed) {
  int base = 10;
  bool digit_before = false;
  if (text.size() >= 3 && text[0] == '0' && std::string_view("bBoOxX").find(text[1]) < 6) {
    const char kind = static_cast<char>(text[1] | 0x20);
    base = kind == 'b' ? 2 : kind == 'o' ? 8 : 16;
    text.remove_prefix(2);
    digit_before = true;
  } else if (text.size() >= 2 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
    digit_before = true;
  }
  for (const char c : text) {
    if (c == '_') {
      well_formed = well_formed && digit_before;
      digit_before = false;
      continue;
    }
    digits += c;
    digit_before = true;
  }
  well_formed = well_formed && digit_before;
  return base;
}

bool IsIpv4(std::string_view text) {
  const auto parts = Split(text, '.');
  return parts.size() == 4 && std::ranges::all_of(parts, [](std::string_view part) {
           uint64_t value = 0;
           return ReadDigits(part, 10, 255, value) == NumberFault::kNone;
         });
}

}  // namespace

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

std::string Joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) out += separator;
    out += part;
  }
  return out;
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) PutQuoted(c, '"', out);
  return out + '"';
}

std::string QuotedChar(char c) {
  std::string out = "'";
  PutQuoted(c, '\'', out);
  return out + '\'';
}

Result<bool> ParseBool(std::string_view text) {
  for (const std::string_view word : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == word) return false;
  }
  return BadNumber("ParseBool", text, "invalid syntax");
}

Result<int64_t> ParseInt(std::string_view text, int bits) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  std::string digits;
  bool well_formed = true;
  const int base = TakeBase(rest, digits, well_formed);
  uint64_t value = 0;
  const NumberFault fault = ReadDigits(digits, base, LargestOf(bits), value);
  if (fault == NumberFault::kSyntax || !well_formed) {
    return BadNumber("ParseInt", text, "invalid syntax");
  }
  if (fault == NumberFault::kRange || value > LargestOf(bits - 1) + (negative ? 1 : 0)) {
    return BadNumber("ParseInt", text, "value out of range");
  }
  return static_cast<int64_t>(negative ? 0 - value : value);
}

Result<uint64_t> ParseUint(std::string_view text, int bits) {
  uint64_t value = 0;
  const NumberFault fault = ReadDigits(text, 10, LargestOf(bits), value);
  if (fault == NumberFault::kSyntax) return BadNumber("ParseUint", text, "invalid syntax");
  if (fault == NumberFault::kRange) return BadNumber("ParseUint", text, "value out of range");
  return value;
}

Result<int64_t> ParseDecimal(std::string_view text) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const Result<uint64_t> value = ParseUint(digits, 63);
  if (!value) return BadNumber("Atoi", text, "invalid syntax");
  const auto number = static_cast<int64_t>(*value);
  return negative ? -number : number;
}

bool IsIpAddress(std::string_view text) {
  if (text.find(':') == std::string_view::npos) return IsIpv4(text);
  in6_addr address;
  return inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
}

}  // namespace denselet::app
