#include "reactor/net/http2/goaway.h"

#include <nghttp2/nghttp2.h>

#include <cstddef>

#include "base/quoted.h"

namespace denselet::net {
namespace {

constexpr size_t kDebugBytesMax = 128;  // each takes up to four when escaped

std::string ErrorName(uint32_t http2_error) {
  if (http2_error > NGHTTP2_HTTP_1_1_REQUIRED) return "error " + std::to_string(http2_error);
  return nghttp2_http2_strerror(http2_error);
}

}  // namespace

std::string GoAwayText(uint32_t http2_error, std::string_view debug_data) {
  std::string text = "GOAWAY (" + ErrorName(http2_error);
  if (!debug_data.empty()) text += ", " + Quoted(debug_data, kDebugBytesMax);
  return text + ")";
}

}  // namespace denselet::net
