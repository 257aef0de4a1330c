// The seam to nghttp2: what it calls, and the calls to it that need its types. Internal to http2/.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reactor/net/http/client_call.h"
#include "reactor/net/http2/request_head.h"

struct nghttp2_session_callbacks;

namespace denselet::net {

class Http2Connection;
class Http2Exchange;

struct SessionEvents {
  static constexpr uint32_t kNoError = 0, kCancel = 8;  // of RFC 9113, section 7

  static void Register(nghttp2_session_callbacks* callbacks);

  // The stream's id, or nghttp2's error.
  static int32_t Submit(Http2Connection& connection, const RequestHead& head, RequestBody body,
                        Http2Exchange& exchange);
  static void ResumeData(Http2Connection& connection, int32_t stream_id);
  // The caller has taken so much: the server may send as much more.
  static void Consumed(Http2Connection& connection, int32_t stream_id, size_t bytes);

  struct Impl;  // what nghttp2 calls
};

}  // namespace denselet::net
