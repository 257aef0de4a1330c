// Is the other side there at all? After some failures in a row that mean "no", calls fail at once
// instead of each finding out by itself; a probe now and then finds out for all. Decisions only,
// `now` comes in.
//
//            failures_to_open in a row            a probe is due
//   closed ----------------------------> open --------------------> half-open
//      ^                                  ^   <--------------------    |
//      |                                  |        unreachable         |
//      +----------------------------------+----------------------------+
//                        any sign of life
//
// Only the lack of a connection counts as a failure; whatever comes over one, also a word that it
// is not available, is a sign of life. A call that hangs says nothing about others, so a timeout is
// neither: a probe that hangs is followed by another.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.h"

namespace denselet::rpc {

enum class BreakerState : uint8_t { kClosed, kOpen, kHalfOpen };

std::string_view BreakerStateName(BreakerState state);

struct BreakerOptions {
  uint32_t failures_to_open = 5;
  Duration probe_every = Milliseconds(300);
};

struct BreakerView {
  BreakerState state = BreakerState::kClosed;
  TimePoint since = {};   // of closed: the last closing; else of the opening
  uint32_t failures = 0;  // in a row
  uint64_t openings = 0;  // ever
};

class Breaker {
 public:
  explicit Breaker(const BreakerOptions& options) : options_(options) {}

  // Would a call be refused now? Takes no probe.
  bool Refuses(TimePoint now) const;
  // A call is about to be made; false: it must not. When a probe is due, this call is it.
  [[nodiscard]] bool Enter(TimePoint now);

  void OnReachable(TimePoint now);
  void OnUnreachable(TimePoint now);

  const BreakerView& view() const { return view_; }

 private:
  const BreakerOptions options_;
  BreakerView view_;
  TimePoint next_probe_ = {};
};

}  // namespace denselet::rpc
