#include "kube/api/values/quantity.h"

#include <algorithm>
#include <limits>

#include "kube/api/values/quantity_text.h"

namespace denselet::kube {
namespace {

using Format = Quantity::Format;
__extension__ using Int128 = __int128;

constexpr Int128 kNanoPerUnit = 1'000'000'000;
constexpr Int128 kNanoPerMilli = 1'000'000;
constexpr int kNanoDigits = 9;
constexpr Int128 kNanoMax = Int128{10} * 1'000'000'000'000'000'000 * 1'000'000'000'000'000'000;
constexpr Int128 kBinaryNanoMax = Int128{std::numeric_limits<int64_t>::max()} * kNanoPerUnit;
constexpr int kExaExponent = 18;
constexpr int kExbiExponent = 60;

// number * 10 + digit, kNanoMax when that is less.
Int128 Append(Int128 number, int digit) {
  return number >= kNanoMax / 10 ? kNanoMax : number * 10 + digit;
}

// Digits as a number, kNanoMax when that is less.
Int128 ToNumber(std::string_view digits) {
  Int128 number = 0;
  for (const char digit : digits) number = Append(number, digit - '0');
  return number;
}

// 0.FRACTION * unit, rounded up.
Int128 ScaledFraction(std::string_view fraction, Int128 unit) {
  Int128 scaled = 0;
  bool exact = true;
  // From the last digit on: what each step cuts off only says whether to round up.
  for (auto digit = fraction.rbegin(); digit != fraction.rend(); ++digit) {
    scaled += unit * (*digit - '0');
    exact = exact && scaled % 10 == 0;
    scaled /= 10;
  }
  return exact ? scaled : scaled + 1;
}

Int128 BinaryNano(const QuantityText& text) {
  const Int128 whole = ToNumber(text.whole);
  if (whole > std::numeric_limits<int64_t>::max()) return kBinaryNanoMax;
  const Int128 scale = Int128{1} << text.exponent;
  if (whole * scale > std::numeric_limits<int64_t>::max()) return kBinaryNanoMax;
  const Int128 unit = scale * kNanoPerUnit;
  return std::min(whole * unit + ScaledFraction(text.fraction, unit), kBinaryNanoMax);
}

Int128 DecimalNano(const QuantityText& text) {
  std::string digits = std::string(text.whole) + std::string(text.fraction);
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.empty()) return 0;
  int64_t shift = text.exponent + kNanoDigits - static_cast<int64_t>(text.fraction.size());
  if (shift < 0) {
    const size_t cut = std::min(static_cast<size_t>(-shift), digits.size());
    const std::string_view dropped = std::string_view(digits).substr(digits.size() - cut);
    const bool exact = dropped.find_first_not_of('0') == dropped.npos;
    const Int128 nano = ToNumber(std::string_view(digits).substr(0, digits.size() - cut));
    return std::min(exact ? nano : nano + 1, kNanoMax);
  }
  Int128 nano = ToNumber(digits);
  for (; shift > 0 && nano < kNanoMax; --shift) nano = Append(nano, 0);
  return nano;
}

// nano / unit, rounded away from zero.
int64_t Divide(Int128 nano, Int128 unit) {
  Int128 quotient = nano / unit;
  if (nano % unit != 0) quotient += nano < 0 ? -1 : 1;
  return static_cast<int64_t>(std::clamp<Int128>(quotient, std::numeric_limits<int64_t>::min(),
                                                 std::numeric_limits<int64_t>::max()));
}

std::string ToDecimal(Int128 number) {
  std::string digits;
  for (Int128 rest = number < 0 ? -number : number; rest != 0; rest /= 10) {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
  }
  if (number < 0) digits += '-';
  std::ranges::reverse(digits);
  return digits;
}

std::string BinaryText(Int128 nano) {
  Int128 number = nano / kNanoPerUnit;
  int exponent = 0;
  for (; number % 1024 == 0 && exponent < kExbiExponent; exponent += 10) number /= 1024;
  return ToDecimal(number) + QuantitySuffix(Format::kBinarySi, exponent);
}

std::string DecimalText(Int128 nano, Format format) {
  Int128 number = nano;
  int exponent = -kNanoDigits;
  const bool bounded = format == Format::kDecimalSi;
  while (number % 1000 == 0 && (!bounded || exponent < kExaExponent)) {
    number /= 1000;
    exponent += 3;
  }
  return ToDecimal(number) + QuantitySuffix(format, exponent);
}

// The canonical text of a decimal number that is too large to be held: by its digits.
std::string TextBeyond(const QuantityText& text) {
  std::string digits = std::string(text.whole) + std::string(text.fraction);
  int exponent = text.exponent - static_cast<int>(text.fraction.size());
  digits.erase(0, digits.find_first_not_of('0'));
  const size_t zeros = digits.size() - 1 - digits.find_last_not_of('0');
  digits.resize(digits.size() - zeros);
  exponent += static_cast<int>(zeros);
  const int most = text.format == Format::kDecimalSi ? kExaExponent : exponent;
  for (; exponent > most || exponent % 3 != 0; --exponent) digits += '0';
  return (text.negative ? "-" : "") + digits + QuantitySuffix(text.format, exponent);
}

bool IsFinerThanNano(const QuantityText& text) {
  const size_t last = text.fraction.find_last_not_of('0');
  return last != text.fraction.npos && text.exponent - static_cast<int>(last + 1) < -kNanoDigits;
}

}  // namespace

Result<Quantity> Quantity::Parse(std::string_view text) {
  const auto parts = SplitQuantity(text);
  if (!parts) return parts.error();
  const Int128 nano = parts->IsBinary() ? BinaryNano(*parts) : DecimalNano(*parts);
  // Less than one cannot be written with a binary suffix.
  const bool small = parts->IsBinary() && nano > 0 && nano < kNanoPerUnit;
  return Quantity(parts->negative ? -nano : nano, small ? Format::kDecimalSi : parts->format);
}

Quantity Quantity::FromUnits(int64_t units, Format format) {
  return Quantity(units * kNanoPerUnit, format);
}

Quantity Quantity::FromMilli(int64_t milli, Format format) {
  return Quantity(milli * kNanoPerMilli, format);
}

Result<std::string> Quantity::Normalize(std::string_view text) {
  const auto parts = SplitQuantity(text);
  if (!parts) return parts.error();
  if (IsKeptAsWritten(*parts)) return std::string(text);
  if (!parts->IsBinary() && DecimalNano(*parts) >= kNanoMax) {
    return IsFinerThanNano(*parts) ? std::string(text) : TextBeyond(*parts);
  }
  const auto quantity = Parse(text);
  if (!quantity) return quantity.error();
  return quantity->ToString();
}

std::string Quantity::ToString() const {
  if (nano_ == 0) return "0";
  if (format_ != Format::kBinarySi) return DecimalText(nano_, format_);
  const bool whole = nano_ % kNanoPerUnit == 0;
  const bool small = nano_ < 1024 * kNanoPerUnit && nano_ > -1024 * kNanoPerUnit;
  return whole && !small ? BinaryText(nano_) : DecimalText(nano_, Format::kDecimalSi);
}

int64_t Quantity::Units() const { return Divide(nano_, kNanoPerUnit); }

int64_t Quantity::Milli() const { return Divide(nano_, kNanoPerMilli); }

void Quantity::AddNano(Int128 nano, Format format) {
  if (nano_ == 0) format_ = format;
  nano_ = std::clamp<Int128>(nano_ + nano, -kNanoMax, kNanoMax);
}

Quantity& Quantity::operator+=(const Quantity& other) {
  AddNano(other.nano_, other.format_);
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  AddNano(-other.nano_, other.format_);
  return *this;
}

}  // namespace denselet::kube
