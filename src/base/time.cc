#include "base/time.h"

#include <array>
#include <cstdio>

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
  using Days = std::chrono::duration<int64_t, std::ratio<86400>>;
  const auto days = std::chrono::floor<Days>(t.time_since_epoch());
  const std::chrono::year_month_day date{
      std::chrono::sys_days{std::chrono::days{static_cast<int>(days.count())}}};
  // Not t - days: the first day of the range begins before WallTime::min().
  Duration rest = t.time_since_epoch() % Days(1);
  if (rest < Duration::zero()) rest += Days(1);
  const std::chrono::hh_mm_ss<Duration> time{rest};
  return CivilTime{.year = static_cast<int>(date.year()),
                   .month = static_cast<int>(static_cast<unsigned>(date.month())),
                   .day = static_cast<int>(static_cast<unsigned>(date.day())),
                   .hour = static_cast<int>(time.hours().count()),
                   .minute = static_cast<int>(time.minutes().count()),
                   .second = static_cast<int>(time.seconds().count()),
                   .nanosecond = static_cast<int>(time.subseconds().count())};
}

std::string FormatRfc3339(WallTime t, int fraction_digits) {
  CHECK(fraction_digits == 0 || fraction_digits == 3 || fraction_digits == 6 ||
        fraction_digits == 9);
  const CivilTime c = ToCivil(t);
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d", c.year, c.month, c.day,
                c.hour, c.minute, c.second);
  std::string out(text.data());
  if (fraction_digits > 0) {
    std::snprintf(text.data(), text.size(), ".%09d", c.nanosecond);
    out.append(text.data(), static_cast<size_t>(fraction_digits) + 1);
  }
  return out + 'Z';
}

}  // namespace denselet
