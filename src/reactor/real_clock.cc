#include "reactor/real_clock.h"

#include <ctime>

#include "base/check.h"

namespace denselet::reactor {
namespace {

Duration Read(clockid_t clock) {
  timespec time;
  CHECK(::clock_gettime(clock, &time) == 0);
  return Seconds(time.tv_sec) + Duration(time.tv_nsec);
}

}  // namespace

// CLOCK_BOOTTIME would count suspension too, but the kernel's timers that we sleep on do not.
TimePoint RealClock::Now() const { return TimePoint(Read(CLOCK_MONOTONIC)); }

WallTime RealClock::WallNow() const { return WallTime(Read(CLOCK_REALTIME)); }

}  // namespace denselet::reactor
