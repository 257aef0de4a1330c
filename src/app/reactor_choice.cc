#include "app/reactor_choice.h"

#include <string>

namespace denselet::app {

using reactor::Backend;

Result<ReactorChoice> ChooseReactor(std::string_view wanted, const Clock& clock) {
  if (wanted == reactor::BackendName(Backend::kEpoll)) return ReactorChoice{Backend::kEpoll};
  const bool best = wanted.empty() || wanted == "auto";
  if (!best && wanted != reactor::BackendName(Backend::kUring)) {
    return Error(ErrorCode::kInvalid, "there is no reactor \"" + std::string(wanted) +
                                          "\": expected auto, uring or epoll");
  }
  const Status uring = reactor::CheckUring(clock);
  if (!best && !uring) return uring.error().With("--denselet-reactor=uring");
  if (!best) return ReactorChoice{Backend::kUring};
  if (!uring) return ReactorChoice{.backend = Backend::kEpoll, .without_uring = uring.error()};
  return ReactorChoice{.backend = Backend::kUring, .otherwise = Backend::kEpoll};
}

}  // namespace denselet::app
