#include "reactor/net/http2/goaway.h"

#include <nghttp2/nghttp2.h>

#include <cstddef>

namespace denselet::net {
namespace {

constexpr size_t kDebugBytesMax = 128;  // each takes up to four when escaped

std::string ErrorName(uint32_t http2_error) {
  if (http2_error > NGHTTP2_HTTP_1_1_REQUIRED) return "error " + std::to_string(http2_error);
  return nghttp2_http2_strerror(http2_error);
}

void AppendQuoted(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text.substr(0, kDebugBytesMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += c;
    }
  }
  if (text.size() > kDebugBytesMax) out += "...";
  out += '"';
}

}  // namespace

std::string GoAwayText(uint32_t http2_error, std::string_view debug_data) {
  std::string text = "GOAWAY (" + ErrorName(http2_error);
  if (!debug_data.empty()) {
    text += ", ";
    AppendQuoted(text, debug_data);
  }
  return text + ")";
}

}  // namespace denselet::net
