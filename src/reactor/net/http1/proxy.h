// A connection to somewhere else through an HTTP proxy (CONNECT).
#pragma once

#include <memory>
#include <string_view>

#include "base/context.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "reactor/net/http/message.h"
#include "reactor/net/stream.h"

namespace denselet::net {

// `proxy` is a fresh connection to the proxy, `authority` the other end ("host:port"), `headers`
// what the proxy wants to know (Proxy-Authorization). Answers once, later; when the loop ends
// before, not at all. kPermission when the proxy wants to know who asks (407), kUnavailable when it
// says no otherwise; the rest as in client_call.h. Nothing was asked of the other end yet, so an
// outcome is never unknown: those are kUnavailable.
void ConnectThroughProxy(reactor::Loop& loop, const Context& context, std::unique_ptr<Stream> proxy,
                         std::string_view authority, const Headers& headers,
                         reactor::Done<std::unique_ptr<Stream>> done);

}  // namespace denselet::net
