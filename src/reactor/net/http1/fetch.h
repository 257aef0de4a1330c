// A whole answer in one call: connects, asks, closes. What probes and one-off requests need; who
// asks often keeps an Http1Client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/context.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "reactor/net/address.h"
#include "reactor/net/http/message.h"
#include "reactor/net/http1/client.h"
#include "reactor/net/stream.h"

namespace denselet::net {

// Opens the connection: through TLS, a proxy, a unix socket.
using StreamFactory =
    UniqueFunction<void(const Context& context, reactor::Done<std::unique_ptr<Stream>> done)>;

enum class LongBody : uint8_t {
  kFails,  // the answer fails with kOverloaded
  kIsCut,  // the answer's body is what fitted
};

struct FetchOptions {
  Http1ClientOptions client = {};
  size_t body_bytes_max = 1024 * 1024;
  LongBody long_body = LongBody::kFails;
};

// Answers once, later; when the loop ends before, not at all. Errors as in client_call.h,
// kCancelled and those of connecting.
void Fetch(reactor::Loop& loop, const Context& context, const Address& address, HttpRequest request,
           std::string body, const FetchOptions& options, reactor::Done<HttpResponse> done);
void Fetch(reactor::Loop& loop, const Context& context, StreamFactory open, HttpRequest request,
           std::string body, const FetchOptions& options, reactor::Done<HttpResponse> done);

}  // namespace denselet::net
