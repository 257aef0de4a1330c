// Which loop this kernel gets.
#include "reactor/epoll_loop.h"
#include "reactor/event_loop.h"
#include "reactor/uring_loop.h"

namespace denselet::reactor {

Status CheckUring(const Clock& clock) {
  const auto loop = UringLoop::Make(clock, {.operations_max = 1});
  if (!loop) return loop.error();
  return Ok();
}

Backend ProbeBackend(const Clock& clock) {
  return CheckUring(clock) ? Backend::kUring : Backend::kEpoll;
}

Result<std::unique_ptr<EventLoop>> MakeEventLoop(Backend backend, const Clock& clock,
                                                 const LoopOptions& options) {
  switch (backend) {
    case Backend::kUring:
      return UringLoop::Make(clock, options);
    case Backend::kEpoll:
      return EpollLoop::Make(clock, options);
  }
  return Error(ErrorCode::kBug, "no such backend");
}

}  // namespace denselet::reactor
