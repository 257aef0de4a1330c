// Sizes in bytes, with their unit in the type. Arithmetic stops at the largest size instead of
// wrapping round: a limit that overflows must not become a small one.
#pragma once

#include <compare>
#include <cstdint>

namespace denselet {

struct ByteSize {
  uint64_t bytes = 0;

  friend constexpr auto operator<=>(ByteSize, ByteSize) = default;
  friend constexpr ByteSize operator+(ByteSize a, ByteSize b) {
    uint64_t sum = 0;
    return {__builtin_add_overflow(a.bytes, b.bytes, &sum) ? UINT64_MAX : sum};
  }
  friend constexpr ByteSize operator*(ByteSize a, uint64_t n) {
    uint64_t product = 0;
    return {__builtin_mul_overflow(a.bytes, n, &product) ? UINT64_MAX : product};
  }
};

constexpr ByteSize Bytes(uint64_t n) { return {n}; }
constexpr ByteSize KiB(uint64_t n) { return Bytes(n) * 1024; }
constexpr ByteSize MiB(uint64_t n) { return KiB(n) * 1024; }
constexpr ByteSize GiB(uint64_t n) { return MiB(n) * 1024; }

}  // namespace denselet
