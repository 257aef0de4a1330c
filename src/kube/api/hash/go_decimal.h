// A decimal number without bound, held as Go's inf.Dec holds it: digits and a scale. The words and
// the scale are part of what is hashed, so equal numbers that were made differently must differ
// here too.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

namespace denselet::kube {

// Little-endian words without leading zeros; none for zero.
using BigWords = std::vector<uint64_t>;

// (-1)^negative * unscaled * 10^-scale
struct GoDecimal {
  static GoDecimal FromDigits(std::string_view digits, bool negative, int32_t scale);
  static GoDecimal FromInt(int64_t unscaled, int32_t scale);

  bool IsZero() const { return unscaled.empty(); }
  void ShiftLeft(int bits);
  // To that scale; what is cut off rounds up, away from zero.
  void Round(int32_t to_scale);
  void Add(const GoDecimal& other);
  std::strong_ordering Compare(const GoDecimal& other) const;

  bool negative = false;
  BigWords unscaled;
  int32_t scale = 0;
};

}  // namespace denselet::kube
