#include "rpc/breaker.h"

namespace denselet::rpc {

std::string_view BreakerStateName(BreakerState state) {
  switch (state) {
    case BreakerState::kClosed:
      return "closed";
    case BreakerState::kOpen:
      return "open";
    case BreakerState::kHalfOpen:
      return "half-open";
  }
  return "";
}

bool Breaker::Refuses(TimePoint now) const {
  return view_.state != BreakerState::kClosed && now < next_probe_;
}

bool Breaker::Enter(TimePoint now) {
  if (view_.state == BreakerState::kClosed) return true;
  if (now < next_probe_) return false;
  view_.state = BreakerState::kHalfOpen;
  next_probe_ = After(now, options_.probe_every);
  return true;
}

void Breaker::OnReachable(TimePoint now) {
  view_.failures = 0;
  if (view_.state == BreakerState::kClosed) return;
  view_.state = BreakerState::kClosed;
  view_.since = now;
}

void Breaker::OnUnreachable(TimePoint now) {
  ++view_.failures;
  switch (view_.state) {
    case BreakerState::kClosed:
      if (view_.failures < options_.failures_to_open) return;
      view_.since = now;
      ++view_.openings;
      break;
    case BreakerState::kOpen:  // of a call that was made before
      return;
    case BreakerState::kHalfOpen:
      break;
  }
  view_.state = BreakerState::kOpen;
  next_probe_ = After(now, options_.probe_every);
}

}  // namespace denselet::rpc
