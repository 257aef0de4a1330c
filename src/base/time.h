// Units of time. Two clocks that must never be mixed have two types: TimePoint is monotonic and
// decides; WallTime is what people and the API server read, and decides nothing about order.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace denselet {

using Duration = std::chrono::nanoseconds;
using Microseconds = std::chrono::microseconds;
using Milliseconds = std::chrono::milliseconds;
using Seconds = std::chrono::seconds;
using Minutes = std::chrono::minutes;
using Hours = std::chrono::hours;

// Tags in the place of std clocks: they carry no now(), time comes from a Clock (base/clock.h).
struct MonotonicTag {};
struct WallTag {};

using TimePoint = std::chrono::time_point<MonotonicTag, Duration>;
using WallTime = std::chrono::time_point<WallTag, Duration>;

// "Never": further away than any timer.
inline constexpr TimePoint kNever = TimePoint::max();

// t + d without overflow: what does not fit is kNever, what would lie before the beginning is the
// beginning.
constexpr TimePoint After(TimePoint t, Duration d) {
  int64_t sum = 0;
  if (__builtin_add_overflow(t.time_since_epoch().count(), d.count(), &sum)) {
    return d > Duration::zero() ? kNever : TimePoint::min();
  }
  return TimePoint(Duration(sum));
}

// As Go prints a duration, for messages, logs and events: "1h2m3.5s", "300ms", "0s".
std::string FormatDuration(Duration d);

// RFC 3339 in UTC with as many fractional digits as asked for (0, 3, 6 or 9):
// "2026-01-02T15:04:05Z".
std::string FormatRfc3339(WallTime t, int fraction_digits);

// The civil date and time of a wall clock reading, in UTC.
struct CivilTime {
  int year, month, day;
  int hour, minute, second;
  int nanosecond;
};
CivilTime ToCivil(WallTime t);

}  // namespace denselet
