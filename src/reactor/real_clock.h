// The kernel's clocks behind base's seam. Stateless: any thread may use one.
#pragma once

#include "base/clock.h"

namespace denselet::reactor {

class RealClock final : public Clock {
 public:
  TimePoint Now() const override;
  WallTime WallNow() const override;
};

}  // namespace denselet::reactor
