#include "app/reactor_choice.h"

namespace denselet::app {

Result<reactor::Backend> ChooseReactor(std::string_view wanted, const Clock& clock) {
  const reactor::Backend best = reactor::ProbeBackend(clock);
  if (wanted.empty() || wanted == "auto") return best;
  if (wanted == reactor::BackendName(reactor::Backend::kEpoll)) return reactor::Backend::kEpoll;
  if (wanted != reactor::BackendName(reactor::Backend::kUring)) {
    return Error(ErrorCode::kInvalid, "there is no reactor \"" + std::string(wanted) +
                                          "\": expected auto, uring or epoll");
  }
  if (best != reactor::Backend::kUring) {
    return Error(ErrorCode::kUnsupported,
                 "--denselet-reactor=uring: this kernel lacks io_uring or forbids it");
  }
  return best;
}

}  // namespace denselet::app
