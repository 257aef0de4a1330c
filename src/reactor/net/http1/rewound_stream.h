// A stream on its way from one user to the next (after an upgrade, or through a proxy). What the
// first has read too much comes again before what follows, and if the stream breaks while nobody
// uses it, the next user is told.
#pragma once

#include <memory>
#include <string>

#include "reactor/api/loop.h"
#include "reactor/net/stream.h"

namespace denselet::net {

std::unique_ptr<Stream> Rewind(reactor::Loop& loop, std::unique_ptr<Stream> stream,
                               std::string read_ahead);

}  // namespace denselet::net
