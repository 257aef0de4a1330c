#include "kube/api/hash/go_decimal.h"

#include <algorithm>

namespace denselet::kube {
namespace {

__extension__ using Uint128 = unsigned __int128;

void Trim(BigWords& words) {
  while (!words.empty() && words.back() == 0) words.pop_back();
}

// words * factor + addend
void MultiplyAdd(BigWords& words, uint64_t factor, uint64_t addend) {
  Uint128 carry = addend;
  for (uint64_t& word : words) {
    carry += Uint128{word} * factor;
    word = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  if (carry != 0) words.push_back(static_cast<uint64_t>(carry));
  Trim(words);
}

// The remainder.
uint64_t Divide(BigWords& words, uint64_t divisor) {
  Uint128 rest = 0;
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    rest = rest << 64 | *word;
    *word = static_cast<uint64_t>(rest / divisor);
    rest %= divisor;
  }
  Trim(words);
  return static_cast<uint64_t>(rest);
}

std::strong_ordering CompareWords(const BigWords& a, const BigWords& b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return std::lexicographical_compare_three_way(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

BigWords Sum(BigWords a, const BigWords& b) {
  a.resize(std::max(a.size(), b.size()) + 1);
  Uint128 carry = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    carry += Uint128{a[i]} + (i < b.size() ? b[i] : 0);
    a[i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  Trim(a);
  return a;
}

// `a` is not less than `b`.
BigWords Difference(BigWords a, const BigWords& b) {
  uint64_t borrow = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const Uint128 less = Uint128{i < b.size() ? b[i] : 0} + borrow;
    borrow = a[i] < less ? 1 : 0;
    a[i] = static_cast<uint64_t>(Uint128{a[i]} - less);
  }
  Trim(a);
  return a;
}

void ScaleUp(GoDecimal& number, int32_t to_scale) {
  for (; number.scale < to_scale; ++number.scale) MultiplyAdd(number.unscaled, 10, 0);
}

}  // namespace

GoDecimal GoDecimal::FromDigits(std::string_view digits, bool negative, int32_t scale) {
  GoDecimal number;
  for (const char digit : digits) {
    MultiplyAdd(number.unscaled, 10, static_cast<uint64_t>(digit - '0'));
  }
  number.negative = negative && !number.IsZero();
  number.scale = scale;
  return number;
}

GoDecimal GoDecimal::FromInt(int64_t unscaled, int32_t scale) {
  GoDecimal number;
  number.negative = unscaled < 0;
  const uint64_t magnitude = unscaled < 0 ? -static_cast<uint64_t>(unscaled)  //
                                          : static_cast<uint64_t>(unscaled);
  if (magnitude != 0) number.unscaled.push_back(magnitude);
  number.scale = scale;
  return number;
}

void GoDecimal::ShiftLeft(int bits) {
  for (; bits > 0; --bits) MultiplyAdd(unscaled, 2, 0);
}

void GoDecimal::Round(int32_t to_scale) {
  ScaleUp(*this, to_scale);
  bool exact = true;
  // More digits than there are need not be cut one by one.
  for (; scale > to_scale && !IsZero(); --scale) exact = Divide(unscaled, 10) == 0 && exact;
  scale = to_scale;
  if (!exact) unscaled = Sum(std::move(unscaled), {1});
}

void GoDecimal::Add(const GoDecimal& other) {
  GoDecimal addend = other;
  ScaleUp(*this, addend.scale);
  ScaleUp(addend, scale);
  if (negative == addend.negative) {
    unscaled = Sum(std::move(unscaled), addend.unscaled);
  } else if (CompareWords(unscaled, addend.unscaled) >= 0) {
    unscaled = Difference(std::move(unscaled), addend.unscaled);
  } else {
    unscaled = Difference(std::move(addend.unscaled), unscaled);
    negative = addend.negative;
  }
  negative = negative && !IsZero();
}

std::strong_ordering GoDecimal::Compare(const GoDecimal& other) const {
  GoDecimal a = *this, b = other;
  ScaleUp(a, b.scale);
  ScaleUp(b, a.scale);
  if (a.negative != b.negative) return b.negative <=> a.negative;
  return a.negative ? CompareWords(b.unscaled, a.unscaled) : CompareWords(a.unscaled, b.unscaled);
}

}  // namespace denselet::kube
