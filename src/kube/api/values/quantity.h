// "100m", "1.5Gi", "1e3": Kubernetes' numbers with a suffix, exact.
//
// Where the Go type loses a number, this one does not follow: 1000E is printed as such (not "1"),
// and what does not fit an int64_t is its nearest value (not 0).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace denselet::kube {

class Quantity {
 public:
  // The family of suffixes in which it was written, and is written again.
  enum class Format : uint8_t { kDecimalSi, kBinarySi, kDecimalExponent };

  Quantity() = default;

  // What is finer than a nano-unit is rounded up, away from zero. With a binary suffix 2^63-1 units
  // are the most; without one 10^28 are, and what is beyond is that.
  static Result<Quantity> Parse(std::string_view text);
  static Quantity FromUnits(int64_t units, Format format = Format::kDecimalSi);
  static Quantity FromMilli(int64_t milli, Format format = Format::kDecimalSi);

  // What the API server writes for a quantity that it has read and not changed. Mostly that is
  // Parse(text)->ToString(), but some texts that are not canonical are kept as they are: "1.500",
  // "+5".
  static Result<std::string> Normalize(std::string_view text);

  // The canonical text: no fraction, the largest suffix that leaves a whole number.
  std::string ToString() const;

  Format format() const { return format_; }
  bool IsZero() const { return nano_ == 0; }
  int Sign() const { return nano_ < 0 ? -1 : nano_ > 0 ? 1 : 0; }

  // Rounded up, away from zero, and held within int64_t.
  int64_t Units() const;
  int64_t Milli() const;

  // Stop at the most that can be held. A zero takes the format of the other.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }

  // By value; the format does not count.
  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nano_ == b.nano_; }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.nano_ <=> b.nano_;
  }

 private:
  __extension__ using Int128 = __int128;
  Quantity(Int128 nano, Format format) : nano_(nano), format_(format) {}
  void AddNano(Int128 nano, Format format);

  // In 10^-9 units, and at most 10^37 of them: a sum of two fits the type.
  Int128 nano_ = 0;
  Format format_ = Format::kDecimalSi;
};

}  // namespace denselet::kube
