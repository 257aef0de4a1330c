#include "base/quoted.h"

namespace denselet {

std::string Quoted(std::string_view text, size_t bytes_max) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text.substr(0, bytes_max)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += c;
    }
  }
  if (text.size() > bytes_max) out += "...";
  return out += '"';
}

std::string GoQuoted(std::string_view text) {
  constexpr std::string_view kNamed = "\a\b\t\n\v\f\r";
  constexpr std::string_view kNames = "abtnvfr";
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (const size_t named = kNamed.find(c); named != kNamed.npos) {
      out += {'\\', kNames[named]};
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7f) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += c;
    }
  }
  return out += '"';
}

}  // namespace denselet
