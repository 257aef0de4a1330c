// Which loop to run on.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "reactor/event_loop.h"

namespace denselet::app {

// The one that was asked for ("uring", "epoll"), which this kernel must then have; for an empty
// text the best there is.
Result<reactor::Backend> ChooseReactor(std::string_view wanted, const Clock& clock);

}  // namespace denselet::app
