#include "kube/api/values/quantity_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/check.h"

namespace denselet::kube {
namespace {

using Format = Quantity::Format;

struct Suffix {
  std::string_view text;
  Format format;
  int exponent;
};

constexpr std::array kSuffixes = {
    Suffix{"", Format::kDecimalSi, 0},   Suffix{"m", Format::kDecimalSi, -3},
    Suffix{"u", Format::kDecimalSi, -6}, Suffix{"n", Format::kDecimalSi, -9},
    Suffix{"k", Format::kDecimalSi, 3},  Suffix{"M", Format::kDecimalSi, 6},
    Suffix{"G", Format::kDecimalSi, 9},  Suffix{"T", Format::kDecimalSi, 12},
    Suffix{"P", Format::kDecimalSi, 15}, Suffix{"E", Format::kDecimalSi, 18},
    Suffix{"", Format::kBinarySi, 0},    Suffix{"Ki", Format::kBinarySi, 10},
    Suffix{"Mi", Format::kBinarySi, 20}, Suffix{"Gi", Format::kBinarySi, 30},
    Suffix{"Ti", Format::kBinarySi, 40}, Suffix{"Pi", Format::kBinarySi, 50},
    Suffix{"Ei", Format::kBinarySi, 60},
};

// Exponents that are further from zero say nothing more: the number is the largest or the smallest.
constexpr int64_t kExponentMax = 1'000'000;

Error WrongFormat() {
  return Error(ErrorCode::kInvalid,
               "quantities must match the regular expression "
               "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

Error WrongNumber() {
  return Error(ErrorCode::kInvalid, "unable to parse numeric part of quantity");
}

Error WrongSuffix() { return Error(ErrorCode::kInvalid, "unable to parse quantity's suffix"); }

// Takes the characters at the front of `rest` that are among `these`.
std::string_view Take(std::string_view& rest, std::string_view these) {
  const size_t size = std::min(rest.find_first_not_of(these), rest.size());
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(size);
  return taken;
}

constexpr std::string_view kDigits = "0123456789";

Status ReadExponent(std::string_view text, QuantityText& into) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return WrongSuffix();
  }
  int64_t exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc{} || end != text.data() + text.size()) return WrongSuffix();
  into.format = Format::kDecimalExponent;
  into.exponent = static_cast<int>(std::clamp(exponent, -kExponentMax, kExponentMax));
  return Ok();
}

Status ReadSuffix(std::string_view text, QuantityText& into) {
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text != text) continue;
    into.format = suffix.format;
    into.exponent = suffix.exponent;
    return Ok();
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return WrongSuffix();
  return ReadExponent(text.substr(1), into);
}

}  // namespace

Result<QuantityText> SplitQuantity(std::string_view text) {
  if (text.empty()) return WrongFormat();
  QuantityText parts;
  std::string_view rest = text;
  parts.negative = rest.starts_with('-');
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  const std::string_view zeros = Take(rest, "0");
  parts.whole = Take(rest, kDigits);
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    parts.fraction = Take(rest, kDigits);
  }
  parts.has_digits = !zeros.empty() || !parts.whole.empty() || !parts.fraction.empty();

  const std::string_view suffix = rest;
  Take(rest, "eEinumkKMGTP");
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  Take(rest, kDigits);
  if (!rest.empty()) return WrongFormat();
  if (const auto read = ReadSuffix(suffix, parts); !read) return read.error();
  // "Ki" and "." are zeros, against the regular expression; "Ei" is not one.
  if (!parts.has_digits && !FitsGoInteger(parts)) return WrongNumber();
  return parts;
}

bool FitsGoInteger(const QuantityText& text) {
  constexpr int kDigitsMax = 18;
  constexpr int kBinaryDigitsMax = 14;
  const int whole = std::max(static_cast<int>(text.whole.size()), 1);
  const int fraction = static_cast<int>(text.fraction.size());
  if (text.IsBinary()) return fraction == 0 && whole + text.exponent * 3 / 10 <= kBinaryDigitsMax;
  return whole + fraction <= kDigitsMax && text.exponent - fraction >= -9;
}

bool IsKeptAsWritten(const QuantityText& text) {
  if (!FitsGoInteger(text) || text.whole.empty()) return false;
  if (text.IsBinary()) {
    // A multiple of 8 may be one of 1024.
    uint64_t value = 0;
    for (const char digit : text.whole) value = value * 10 + static_cast<uint64_t>(digit - '0');
    return value % 8 != 0;
  }
  const std::string digits = std::string(text.whole) + std::string(text.fraction);
  const int scale = text.exponent - static_cast<int>(text.fraction.size());
  return scale % 3 == 0 && !digits.ends_with("000");
}

std::string QuantitySuffix(Format format, int exponent) {
  if (format == Format::kDecimalExponent) {
    return exponent == 0 ? "" : "e" + std::to_string(exponent);
  }
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.format == format && suffix.exponent == exponent) return std::string(suffix.text);
  }
  CHECK(false);
  return "";
}

}  // namespace denselet::kube
