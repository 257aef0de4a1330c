// Units of time. Two clocks that must never be mixed have two types: TimePoint is monotonic and
// decides; WallTime is what people and the API server read, and decides nothing about order.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

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

// What Go reads as a duration: "1h30m", "-1.5s", "0"; refused where it does not fit. Go's texts.
Result<Duration> ParseDuration(std::string_view text);

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

// A time that may lie where no WallTime reaches (1677 to 2262): what people write, and what the API
// server's messages hold.
struct Timestamp {
  int64_t seconds = 0;  // since 1970, in UTC
  int32_t nanos = 0;    // 0 to 999 999 999, also before 1970

  friend auto operator<=>(const Timestamp&, const Timestamp&) = default;
};

// 0001-01-01T00:00:00Z: what Go takes for no time at all, and Kubernetes writes as null.
inline constexpr Timestamp kGoZeroTime{.seconds = -62'135'596'800, .nanos = 0};

Timestamp ToTimestamp(WallTime t);
// The nearest there is.
WallTime ToWallTime(Timestamp t);

std::string FormatRfc3339(Timestamp t, int fraction_digits);

// Kubernetes' two kinds of times: of Time the fraction may be missing or of any length (what is
// finer than a nanosecond is cut), of MicroTime it has six digits.
enum class Rfc3339Fraction : uint8_t { kAny, kSixDigits };

// What Go's time.Parse reads as RFC 3339, also where that is a bit more: hours of one digit, a
// comma before the fraction, offsets to 24:60. Go's texts.
Result<Timestamp> ParseRfc3339(std::string_view text,
                               Rfc3339Fraction fraction = Rfc3339Fraction::kAny);

}  // namespace denselet
