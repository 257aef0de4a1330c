// Which loop to run on.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "reactor/event_loop.h"

namespace denselet::app {

struct ReactorChoice {
  reactor::Backend backend = reactor::Backend::kUring;
  // Where loops of that kind cannot be made after all; none: somebody wants that one.
  std::optional<reactor::Backend> otherwise = {};
  std::optional<Error> without_uring = {};  // why it is not io_uring, where nobody said so
};

// The one that was asked for ("uring", "epoll"), which this kernel must then have; for an empty
// text, or "auto", the best there is.
Result<ReactorChoice> ChooseReactor(std::string_view wanted, const Clock& clock);

}  // namespace denselet::app
