#include "reactor/net/http2/request_head.h"

#include <algorithm>
#include <array>
#include <string>

namespace denselet::net {
namespace {

bool BelongsToHttp1(const Headers& headers, std::string_view name, std::string_view value) {
  static constexpr std::array<std::string_view, 6> kNames = {
      "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "host"};
  if (std::any_of(kNames.begin(), kNames.end(),
                  [&](std::string_view known) { return EqualsIgnoringCase(known, name); })) {
    return true;
  }
  if (EqualsIgnoringCase(name, "te")) return !EqualsIgnoringCase(value, "trailers");
  return headers.HasToken("connection", name);
}

// RFC 9113 8.2.1: no blanks around a value.
bool IsTrimmed(std::string_view value) {
  constexpr std::string_view kBlanks = " \t";
  return value.empty() || (kBlanks.find(value.front()) == std::string_view::npos &&
                           kBlanks.find(value.back()) == std::string_view::npos);
}

Status CheckLine(const HttpRequest& request) {
  const auto invalid = [](const char* what) { return Error(ErrorCode::kInvalid, what); };
  if (!IsHeaderName(request.method)) return invalid("not a method");
  if (!IsHeaderName(request.scheme)) return invalid("not a scheme");
  // An authority has the letters of a target, and no fewer.
  if (!IsRequestTarget(request.authority)) return invalid("not an authority");
  if (!IsRequestTarget(request.target)) return invalid("not a request target");
  if (request.target.front() != '/' && request.target != "*") {
    return invalid("the request target is not a path");
  }
  if (request.method == "CONNECT") return invalid("CONNECT has no path");
  return Ok();
}

}  // namespace

Status MakeRequestHead(const HttpRequest& request, size_t bytes_max, RequestHead& head) {
  if (Status line = CheckLine(request); !line) return line;
  head.emplace_back(":method", request.method);
  head.emplace_back(":scheme", request.scheme);
  head.emplace_back(":authority", request.authority);
  head.emplace_back(":path", request.target);
  for (const auto& [name, value] : request.headers.entries()) {
    if (!IsHeaderName(name)) return Error(ErrorCode::kInvalid, "not a header name");
    if (!IsHeaderValue(value) || !IsTrimmed(value)) {
      return Error(ErrorCode::kInvalid, "not a header value").With("header", name);
    }
    if (!BelongsToHttp1(request.headers, name, value)) head.emplace_back(name, value);
  }
  size_t bytes = 0;
  for (const auto& [name, value] : head) bytes += name.size() + value.size() + 32;
  if (bytes > std::min(bytes_max, kRequestHeadBytesMax)) {
    return Error(ErrorCode::kInvalid,
                 "the request's head of " + std::to_string(bytes) + " bytes is too long");
  }
  return Ok();
}

}  // namespace denselet::net
