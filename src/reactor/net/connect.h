// Opens a connection. Answers once, later, on the loop's own thread; an attempt that failed, took
// too long or was cancelled leaves no descriptor behind.
#pragma once

#include <memory>

#include "base/context.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "reactor/net/address.h"
#include "reactor/net/socket.h"

namespace denselet::net {

// How long to wait is the context's: without a deadline as long as the kernel tries, and for a full
// unix listener until there is room. kDeadlineExceeded, kCancelled, or what the system call said
// (kUnavailable when refused).
void Connect(reactor::Loop& loop, const Context& context, const Address& address,
             reactor::Done<std::unique_ptr<Socket>> done);

}  // namespace denselet::net
