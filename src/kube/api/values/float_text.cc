#include "kube/api/values/float_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/check.h"

namespace denselet::kube {
namespace {

// 0.DIGITS * 10^point
struct Digits {
  bool negative = false;
  std::string digits;
  int point = 0;
};

template <class Float>
Digits ToDigits(Float number) {
  std::array<char, 64> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                          std::abs(number), std::chars_format::scientific);
  CHECK(error == std::errc{});
  const std::string_view text(buffer.data(), static_cast<size_t>(end - buffer.data()));
  const size_t e = text.find('e');
  Digits out{.negative = std::signbit(number), .digits = {}, .point = 0};
  for (const char c : text.substr(0, e)) {
    if (c != '.') out.digits += c;
  }
  const char* exponent = text.data() + e + 1;
  if (*exponent == '+') ++exponent;
  std::from_chars(exponent, text.data() + text.size(), out.point);
  ++out.point;
  return out;
}

std::string Plain(const Digits& number) {
  std::string out = number.negative ? "-" : "";
  const auto size = static_cast<int>(number.digits.size());
  if (number.point <= 0) {
    return out + "0." + std::string(static_cast<size_t>(-number.point), '0') + number.digits;
  }
  if (number.point >= size) {
    return out + number.digits + std::string(static_cast<size_t>(number.point - size), '0');
  }
  const auto point = static_cast<size_t>(number.point);
  return out + number.digits.substr(0, point) + '.' + number.digits.substr(point);
}

std::string WithExponent(const Digits& number, size_t exponent_digits_min) {
  std::string out = number.negative ? "-" : "";
  out += number.digits[0];
  if (number.digits.size() > 1) out += '.' + number.digits.substr(1);
  const int exponent = number.point - 1;
  std::string text = std::to_string(std::abs(exponent));
  if (text.size() < exponent_digits_min) text.insert(0, exponent_digits_min - text.size(), '0');
  return out + (exponent < 0 ? "e-" : "e+") + text;
}

template <class Float>
std::string FormatG(Float number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Inf" : "+Inf";
  const Digits digits = ToDigits(number);
  const int exponent = digits.point - 1;
  if (number != 0 && (exponent < -4 || exponent >= 6)) return WithExponent(digits, 2);
  return Plain(digits);
}

}  // namespace

std::string JsonFloatText(double number) {
  CHECK(std::isfinite(number));
  const Digits digits = ToDigits(number);
  const double magnitude = std::abs(number);
  if (magnitude != 0 && magnitude < 1e-6) return WithExponent(digits, 1);
  if (magnitude >= 1e21) return WithExponent(digits, 2);
  return Plain(digits);
}

std::string GoFloatText(double number) { return FormatG(number); }

std::string GoFloatText(float number) { return FormatG(number); }

}  // namespace denselet::kube
