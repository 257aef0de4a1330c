// A quantity taken apart: the first half of reading one. For quantity.cc, and for the hash of a
// static pod, which depends on how Go holds a quantity.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/api/values/quantity.h"

namespace denselet::kube {

// sign whole.fraction * base^exponent
struct QuantityText {
  bool negative = false;
  std::string_view whole;     // without leading zeros: "" for 0
  std::string_view fraction;  // with trailing zeros
  bool has_digits = false;    // also where all of them are zeros
  Quantity::Format format = Quantity::Format::kDecimalSi;
  int exponent = 0;  // of 2 for a binary format, of 10 for the others

  bool IsBinary() const { return format == Quantity::Format::kBinarySi; }
};

Result<QuantityText> SplitQuantity(std::string_view text);

// The Go type holds a number as 64 bits and a scale if that looks possible at first sight, and
// otherwise as a big decimal; what it accepts and what it keeps depends on that.
bool FitsGoInteger(const QuantityText& text);

// Whether the Go type, as long as it is not changed, is written as it was read. It takes for
// canonical what is nearly so, to save itself the work.
bool IsKeptAsWritten(const QuantityText& text);

// "Ki" for a binary format and 10, "m" for a decimal one and -3, "e-3" for the one with exponents.
// Only exponents that have a suffix may be asked for.
std::string QuantitySuffix(Quantity::Format format, int exponent);

}  // namespace denselet::kube
