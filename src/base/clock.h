// The seam for time. A real one reads the kernel's clocks (reactor/real_clock); tests and the
// simulator own theirs.
#pragma once

#include "base/time.h"

namespace denselet {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() const = 0;
  virtual WallTime WallNow() const = 0;
};

// Stands still until told: for tests, and the heart of the simulated loop.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimePoint now = TimePoint(Seconds(1)),
                       WallTime wall = WallTime(Hours(490'000)))
      : now_(now), wall_(wall) {}

  TimePoint Now() const override { return now_; }
  WallTime WallNow() const override { return wall_; }

  void Advance(Duration d) {
    now_ += d;
    wall_ += d;
  }
  // The wall clock jumps (operator, NTP); the monotonic one does not notice.
  void JumpWall(Duration d) { wall_ += d; }

 private:
  TimePoint now_;
  WallTime wall_;
};

}  // namespace denselet
