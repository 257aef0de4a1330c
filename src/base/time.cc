#include "base/time.h"

#include <array>
#include <cstdlib>

#include "base/check.h"

namespace denselet {
namespace {

// "3.5" for 3 500 000 000 in units of 10^9: the fraction without trailing zeros.
void AppendDecimal(std::string& out, uint64_t value, uint64_t unit) {
  out += std::to_string(value / unit);
  uint64_t fraction = value % unit;
  if (fraction == 0) return;
  out += '.';
  for (uint64_t digit = unit / 10; fraction != 0; digit /= 10) {
    out += static_cast<char>('0' + fraction / digit);
    fraction %= digit;
  }
}

constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kDaySeconds = 86'400;

int64_t FloorDivide(int64_t value, int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

// std::chrono's years end at 32767; a Timestamp's do not.
struct LongDate {
  long long year;
  int month, day;
};

// The calendar repeats itself every 400 years.
LongDate DateOfDay(int64_t day) {
  constexpr int64_t kCycleDays = 146'097;
  const int64_t cycle = FloorDivide(day, kCycleDays);
  const auto rest = static_cast<int>(day - cycle * kCycleDays);
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{rest}}};
  return {.year = static_cast<int>(date.year()) + cycle * 400,
          .month = static_cast<int>(static_cast<unsigned>(date.month())),
          .day = static_cast<int>(static_cast<unsigned>(date.day()))};
}

// With leading zeros.
void AppendDigits(std::string& out, unsigned long long value, int digits) {
  std::array<char, 24> text;
  auto at = text.end();
  for (; value != 0 || digits > 0; value /= 10, --digits) {
    *--at = static_cast<char>('0' + value % 10);
  }
  out.append(at, text.end());
}

int SecondOfDay(int64_t seconds) {
  return static_cast<int>(seconds - FloorDivide(seconds, kDaySeconds) * kDaySeconds);
}

}  // namespace

std::string FormatDuration(Duration d) {
  constexpr uint64_t kMicro = 1'000, kMilli = 1'000'000, kSecond = 1'000'000'000;
  if (d == Duration::zero()) return "0s";
  std::string out;
  const bool negative = d.count() < 0;
  // The magnitude of the most negative duration does not fit an int64_t.
  uint64_t ns = negative ? ~static_cast<uint64_t>(d.count()) + 1 : static_cast<uint64_t>(d.count());
  if (negative) out += '-';
  if (ns < kMicro) return out + std::to_string(ns) + "ns";
  if (ns < kMilli) return AppendDecimal(out, ns, kMicro), out + "µs";
  if (ns < kSecond) return AppendDecimal(out, ns, kMilli), out + "ms";
  const uint64_t hours = ns / (3600 * kSecond);
  const uint64_t minutes = ns / (60 * kSecond) % 60;
  if (hours != 0) out += std::to_string(hours) + "h";
  if (hours != 0 || minutes != 0) out += std::to_string(minutes) + "m";
  AppendDecimal(out, ns % (60 * kSecond), kSecond);
  return out + "s";
}

CivilTime ToCivil(WallTime t) {
  const Timestamp stamp = ToTimestamp(t);
  const LongDate date = DateOfDay(FloorDivide(stamp.seconds, kDaySeconds));
  const int second = SecondOfDay(stamp.seconds);
  return CivilTime{.year = static_cast<int>(date.year),
                   .month = date.month,
                   .day = date.day,
                   .hour = second / 3600,
                   .minute = second / 60 % 60,
                   .second = second % 60,
                   .nanosecond = stamp.nanos};
}

Timestamp ToTimestamp(WallTime t) {
  const int64_t ns = t.time_since_epoch().count();
  const int64_t seconds = FloorDivide(ns, kNanosPerSecond);
  // Not ns - seconds * ...: the second in which the range begins begins before it.
  const int64_t rest = ns % kNanosPerSecond;
  return {.seconds = seconds,
          .nanos = static_cast<int32_t>(rest < 0 ? rest + kNanosPerSecond : rest)};
}

WallTime ToWallTime(Timestamp t) {
  // Towards zero first: the product of the lowest second and a thousand million does not fit, its
  // sum with the nanoseconds may.
  int64_t seconds = t.seconds, nanos = t.nanos, product = 0, sum = 0;
  if (seconds < 0 && nanos > 0) {
    ++seconds;
    nanos -= kNanosPerSecond;
  }
  if (__builtin_mul_overflow(seconds, kNanosPerSecond, &product) ||
      __builtin_add_overflow(product, nanos, &sum)) {
    return t.seconds < 0 ? WallTime::min() : WallTime::max();
  }
  return WallTime(Duration(sum));
}

std::string FormatRfc3339(WallTime t, int fraction_digits) {
  return FormatRfc3339(ToTimestamp(t), fraction_digits);
}

std::string FormatRfc3339(Timestamp t, int fraction_digits) {
  CHECK(fraction_digits == 0 || fraction_digits == 3 || fraction_digits == 6 ||
        fraction_digits == 9);
  const LongDate date = DateOfDay(FloorDivide(t.seconds, kDaySeconds));
  const int second = SecondOfDay(t.seconds);
  // By hand: a status has dozens of times, and formats read at run time took a tenth of its making.
  std::string out;
  out.reserve(32);
  if (date.year < 0) out += '-';
  AppendDigits(out, static_cast<unsigned long long>(std::llabs(date.year)), 4);
  const auto part = [&out](char before, int value) {
    out += before;
    AppendDigits(out, static_cast<unsigned long long>(value), 2);
  };
  part('-', date.month);
  part('-', date.day);
  part('T', second / 3600);
  part(':', second / 60 % 60);
  part(':', second % 60);
  if (fraction_digits > 0) {
    out += '.';
    AppendDigits(out, static_cast<unsigned long long>(t.nanos), 9);
    out.resize(out.size() - static_cast<size_t>(9 - fraction_digits));
  }
  out += 'Z';
  return out;
}

}  // namespace denselet
