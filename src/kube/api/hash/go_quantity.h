// A quantity as Go's resource.Quantity holds it in memory, which is hashed with a static pod: 64
// bits and a scale where that looks possible at first sight, else a big decimal; the text, if it is
// kept; the family of suffixes. Nothing here is for computing: see values/quantity.h.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/api/hash/go_decimal.h"

namespace denselet::kube {

class GoQuantity {
 public:
  // The zero value, which has no format. So has one that was read from `null`.
  GoQuantity() = default;

  // An error also: an exponent that would take a number of more than kDigitsMax digits.
  static Result<GoQuantity> Parse(std::string_view text);
  static constexpr int kDigitsMax = 10000;

  // What defaulting does to every value of a resource list.
  void RoundUpToMilli();
  void Add(const GoQuantity& other);
  // This one becomes a big decimal if either is.
  std::strong_ordering CompareAndConvert(const GoQuantity& other);

  // As go-spew prints it, without the type in front.
  std::string Dump() const;

 private:
  bool IsZero() const { return decimal_ ? decimal_->IsZero() : value_ == 0; }
  GoDecimal AsDecimal() const;
  void ToDecimal();
  bool AddInt(const GoQuantity& other);

  int64_t value_ = 0;
  int32_t scale_ = 0;  // * 10^scale: the other way around than that of the decimal
  std::optional<GoDecimal> decimal_;
  std::string text_;
  std::string_view format_;
};

}  // namespace denselet::kube
