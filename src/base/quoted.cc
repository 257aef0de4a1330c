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

}  // namespace denselet
