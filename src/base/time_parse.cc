// Durations and times as people write them, read as Go reads them. Its messages are kept too: they
// end up in events and conditions, where people compare them with what they know.
#include <array>
#include <optional>
#include <string>

#include "base/time.h"

namespace denselet {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<int> TwoDigits(std::string_view text) {
  if (text.size() < 2 || !IsDigit(text[0]) || !IsDigit(text[1])) return std::nullopt;
  return (text[0] - '0') * 10 + (text[1] - '0');
}

// In quotes, what is not printable ASCII as \x00.
std::string Quote(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < ' ' || byte >= 0x80) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// --- durations ---

constexpr uint64_t kDurationLimit = uint64_t{1} << 63;  // of a negative one

struct DurationUnit {
  std::string_view name;
  uint64_t ns;
};

constexpr std::array kDurationUnits = {
    DurationUnit{"ns", 1},
    DurationUnit{"us", 1'000},
    DurationUnit{"\u00b5s", 1'000},  // the micro sign
    DurationUnit{"\u03bcs", 1'000},  // the Greek letter
    DurationUnit{"ms", 1'000'000},
    DurationUnit{"s", 1'000'000'000},
    DurationUnit{"m", 60'000'000'000},
    DurationUnit{"h", 3'600'000'000'000},
};

Error BadDuration(std::string_view what, std::string_view text) {
  return Error(ErrorCode::kInvalid, "time: " + std::string(what) + " " + Quote(text));
}

struct Fraction {
  uint64_t digits = 0;
  double scale = 1;  // of `digits`; what no longer fits them is dropped
};

Fraction TakeFraction(std::string_view& rest) {
  Fraction fraction;
  bool full = false;
  for (; !rest.empty() && IsDigit(rest[0]); rest.remove_prefix(1)) {
    full = full || fraction.digits > (kDurationLimit - 1) / 10;
    if (full) continue;
    const uint64_t next = fraction.digits * 10 + static_cast<uint64_t>(rest[0] - '0');
    full = next > kDurationLimit;
    if (full) continue;
    fraction.digits = next;
    fraction.scale *= 10;
  }
  return fraction;
}

// The whole number in front; false where it is beyond the limit.
bool TakeWhole(std::string_view& rest, uint64_t& whole) {
  for (; !rest.empty() && IsDigit(rest[0]); rest.remove_prefix(1)) {
    if (whole > kDurationLimit / 10) return false;
    whole = whole * 10 + static_cast<uint64_t>(rest[0] - '0');
    if (whole > kDurationLimit) return false;
  }
  return true;
}

std::string_view TakeUnit(std::string_view& rest) {
  size_t size = 0;
  while (size < rest.size() && rest[size] != '.' && !IsDigit(rest[size])) ++size;
  const std::string_view unit = rest.substr(0, size);
  rest.remove_prefix(size);
  return unit;
}

// One number with its unit, "1.5h", in nanoseconds, at most kDurationLimit of them.
Result<uint64_t> TakeDurationPart(std::string_view& rest, std::string_view text) {
  uint64_t ns = 0;
  Fraction fraction;
  const size_t size = rest.size();
  if (!TakeWhole(rest, ns)) return BadDuration("invalid duration", text);
  size_t digits = size - rest.size();
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    const size_t before = rest.size();
    fraction = TakeFraction(rest);
    digits += before - rest.size();
  }
  if (digits == 0) return BadDuration("invalid duration", text);

  const std::string_view name = TakeUnit(rest);
  if (name.empty()) return BadDuration("missing unit in duration", text);
  for (const DurationUnit& unit : kDurationUnits) {
    if (unit.name != name) continue;
    if (ns > kDurationLimit / unit.ns) return BadDuration("invalid duration", text);
    ns *= unit.ns;
    ns += static_cast<uint64_t>(static_cast<double>(fraction.digits) *
                                (static_cast<double>(unit.ns) / fraction.scale));
    if (ns > kDurationLimit) return BadDuration("invalid duration", text);
    return ns;
  }
  return BadDuration("unknown unit " + Quote(name) + " in duration", text);
}

// --- RFC 3339 ---

// Reads a time piece by piece; each piece has the name that Go's layouts give it.
class Rfc3339Reader {
 public:
  Rfc3339Reader(std::string_view text, Rfc3339Fraction fraction)
      : text_(text), rest_(text), fraction_(fraction) {}

  Result<Timestamp> Read();

 private:
  bool ReadDate();
  bool ReadTimeOfDay();
  bool ReadFraction();
  bool ReadOffset();

  bool Char(char c);
  // A number of two digits, or of one where that is allowed, that is at most `max`.
  bool Number(std::string_view layout, int max, std::string_view name, int& into,
              bool one_digit = false);
  bool Nanos(size_t digits);

  bool CannotRead(std::string_view what, std::string_view layout);
  bool OutOfRange(std::string_view name);

  const std::string_view text_;
  std::string_view rest_;
  const Rfc3339Fraction fraction_;
  int year_ = 0, month_ = 0, day_ = 0, hour_ = 0, minute_ = 0, second_ = 0;
  int32_t nanos_ = 0;
  int offset_seconds_ = 0;
  std::string error_;
};

bool Rfc3339Reader::CannotRead(std::string_view what, std::string_view layout) {
  const std::string_view whole = fraction_ == Rfc3339Fraction::kAny
                                     ? "2006-01-02T15:04:05Z07:00"
                                     : "2006-01-02T15:04:05.000000Z07:00";
  error_ = "parsing time " + Quote(text_) + " as " + Quote(whole) + ": cannot parse " +
           Quote(what) + " as " + Quote(layout);
  return false;
}

bool Rfc3339Reader::OutOfRange(std::string_view name) {
  error_ = "parsing time " + Quote(text_) + ": " + std::string(name) + " out of range";
  return false;
}

bool Rfc3339Reader::Char(char c) {
  if (!rest_.starts_with(c)) return CannotRead(rest_, std::string_view(&c, 1));
  rest_.remove_prefix(1);
  return true;
}

bool Rfc3339Reader::Number(std::string_view layout, int max, std::string_view name, int& into,
                           bool one_digit) {
  if (rest_.empty() || !IsDigit(rest_[0])) return CannotRead(rest_, layout);
  const std::optional<int> two = TwoDigits(rest_);
  if (!two && !one_digit) return CannotRead(rest_, layout);
  into = two.value_or(rest_[0] - '0');
  rest_.remove_prefix(two ? 2 : 1);
  return into <= max || OutOfRange(name);
}

bool Rfc3339Reader::ReadDate() {
  constexpr size_t kYearDigits = 4;
  if (rest_.size() < kYearDigits) return CannotRead(rest_, "2006");
  for (const char c : rest_.substr(0, kYearDigits)) {
    if (!IsDigit(c)) return CannotRead(rest_, "2006");
    year_ = year_ * 10 + (c - '0');
  }
  rest_.remove_prefix(kYearDigits);
  constexpr int kAnyDay = 99;  // whether the month has it is looked at last, as Go does
  if (!Char('-') || !Number("01", 12, "month", month_)) return false;
  if (month_ == 0) return OutOfRange("month");
  return Char('-') && Number("02", kAnyDay, "day", day_);
}

bool Rfc3339Reader::ReadTimeOfDay() {
  return Char('T') && Number("15", 23, "hour", hour_, /*one_digit=*/true) && Char(':') &&
         Number("04", 59, "minute", minute_) && Char(':') && Number("05", 59, "second", second_);
}

// The mark and `digits` digits behind it.
bool Rfc3339Reader::Nanos(size_t digits) {
  constexpr size_t kNanoDigits = 9;
  for (size_t i = 0; i < kNanoDigits; ++i) {
    nanos_ = nanos_ * 10 + (i < digits ? rest_[1 + i] - '0' : 0);
  }
  rest_.remove_prefix(1 + digits);
  return true;
}

bool Rfc3339Reader::ReadFraction() {
  size_t digits = 0;
  if (rest_.starts_with('.') || rest_.starts_with(',')) {
    while (1 + digits < rest_.size() && IsDigit(rest_[1 + digits])) ++digits;
  }
  if (fraction_ == Rfc3339Fraction::kAny) return digits == 0 || Nanos(digits);
  constexpr size_t kMicroDigits = 6;
  // Further digits are then no offset.
  return digits < kMicroDigits ? CannotRead(rest_, ".000000") : Nanos(kMicroDigits);
}

bool Rfc3339Reader::ReadOffset() {
  constexpr std::string_view kLayout = "Z07:00";
  if (rest_.starts_with('Z')) {
    rest_.remove_prefix(1);
    return true;
  }
  if (rest_.size() < kLayout.size() || rest_[3] != ':') return CannotRead(rest_, kLayout);
  const std::optional<int> hours = TwoDigits(rest_.substr(1));
  const std::optional<int> minutes = hours ? TwoDigits(rest_.substr(4)) : std::nullopt;
  // Offsets of a whole day and of sixty minutes are in use.
  if (minutes.value_or(0) > 60) return OutOfRange("time zone offset minute");
  if (hours.value_or(0) > 24) return OutOfRange("time zone offset hour");
  const bool negative = rest_[0] == '-';
  if (!hours || !minutes || (!negative && rest_[0] != '+')) return CannotRead(rest_, kLayout);
  offset_seconds_ = (*hours * 60 + *minutes) * 60 * (negative ? -1 : 1);
  rest_.remove_prefix(kLayout.size());
  return true;
}

Result<Timestamp> Rfc3339Reader::Read() {
  if (!ReadDate() || !ReadTimeOfDay() || !ReadFraction() || !ReadOffset()) {
    return Error(ErrorCode::kInvalid, error_);
  }
  if (!rest_.empty()) {
    return Error(ErrorCode::kInvalid,
                 "parsing time " + Quote(text_) + ": extra text: " + Quote(rest_));
  }
  const std::chrono::year_month_day date{std::chrono::year{year_},
                                         std::chrono::month{static_cast<unsigned>(month_)},
                                         std::chrono::day{static_cast<unsigned>(day_)}};
  if (!date.ok()) {
    OutOfRange("day");
    return Error(ErrorCode::kInvalid, error_);
  }
  const int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  const int64_t second_of_day = (hour_ * 60 + minute_) * 60 + second_;
  return Timestamp{.seconds = days * 86'400 + second_of_day - offset_seconds_, .nanos = nanos_};
}

}  // namespace

Result<Duration> ParseDuration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return Duration::zero();
  if (rest.empty()) return BadDuration("invalid duration", text);
  uint64_t ns = 0;
  while (!rest.empty()) {
    const auto part = TakeDurationPart(rest, text);
    if (!part) return part.error();
    if (*part > kDurationLimit - ns) return BadDuration("invalid duration", text);
    ns += *part;
  }
  if (negative) return Duration(static_cast<int64_t>(~ns + 1));
  if (ns == kDurationLimit) return BadDuration("invalid duration", text);
  return Duration(static_cast<int64_t>(ns));
}

namespace {

// What nearly every time is: "2006-01-02T15:04:05Z". Nothing: it is not, or something is wrong with
// it; Rfc3339Reader says what.
std::optional<Timestamp> ReadPlainTime(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != kShape.size()) return std::nullopt;
  for (size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == 'd' ? !IsDigit(text[i]) : text[i] != kShape[i]) return std::nullopt;
  }
  const auto two = [&](size_t i) { return (text[i] - '0') * 10 + (text[i + 1] - '0'); };
  const int hour = two(11), minute = two(14), second = two(17);
  const std::chrono::year_month_day date{std::chrono::year{two(0) * 100 + two(2)},
                                         std::chrono::month{static_cast<unsigned>(two(5))},
                                         std::chrono::day{static_cast<unsigned>(two(8))}};
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  return Timestamp{.seconds = days * 86'400 + (hour * 60 + minute) * 60 + second, .nanos = 0};
}

}  // namespace

Result<Timestamp> ParseRfc3339(std::string_view text, Rfc3339Fraction fraction) {
  if (fraction == Rfc3339Fraction::kAny) {
    if (const std::optional<Timestamp> time = ReadPlainTime(text)) return *time;
  }
  return Rfc3339Reader(text, fraction).Read();
}

}  // namespace denselet
