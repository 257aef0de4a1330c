// Addresses of a host name. The system's resolver has no asynchronous form, so it is asked on the
// blocking pool; an IP address is its own answer and costs no call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/context.h"
#include "reactor/api/file_system.h"
#include "reactor/blocking_pool.h"
#include "reactor/net/address.h"
#include "reactor/shard.h"

namespace denselet::net {

// Answers once, later, on the home shard, in the order in which they are to be tried; never with
// none. kNotFound: there is no such name. kUnavailable: nobody could be asked; try again.
void Resolve(reactor::Shard& home, reactor::BlockingPool& pool, const Context& context,
             std::string host, uint16_t port, reactor::Done<std::vector<Address>> done);

// The question itself, for who has a place of its own for it on a pool: blocks.
Result<std::vector<Address>> ResolveBlocking(const std::string& host, uint16_t port);

}  // namespace denselet::net
