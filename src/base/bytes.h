// Sizes in bytes, with their unit in the type.
#pragma once

#include <compare>
#include <cstdint>

namespace denselet {

struct ByteSize {
  uint64_t bytes = 0;
  friend constexpr auto operator<=>(ByteSize, ByteSize) = default;
  friend constexpr ByteSize operator+(ByteSize a, ByteSize b) { return {a.bytes + b.bytes}; }
  friend constexpr ByteSize operator*(ByteSize a, uint64_t n) { return {a.bytes * n}; }
};

constexpr ByteSize Bytes(uint64_t n) { return {n}; }
constexpr ByteSize KiB(uint64_t n) { return {n << 10}; }
constexpr ByteSize MiB(uint64_t n) { return {n << 20}; }
constexpr ByteSize GiB(uint64_t n) { return {n << 30}; }

}  // namespace denselet
