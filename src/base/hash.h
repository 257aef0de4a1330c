// FNV-1a in the three widths Kubernetes uses: 32 (container hashes, names), 64 (shards, checksums),
// 128 (pod templates). These values are part of the contract with the outside: they appear in
// labels, names and files.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace denselet {

constexpr uint32_t Fnv1a32(std::string_view data, uint32_t hash = 0x811c9dc5u) {
  for (const char c : data) hash = (hash ^ static_cast<uint8_t>(c)) * 0x01000193u;
  return hash;
}

constexpr uint64_t Fnv1a64(std::string_view data, uint64_t hash = 0xcbf29ce484222325u) {
  for (const char c : data) hash = (hash ^ static_cast<uint8_t>(c)) * 0x00000100000001b3u;
  return hash;
}

// Big-endian bytes, as Go's hash/fnv Sum(nil) gives them.
using Fnv128 = std::array<uint8_t, 16>;
Fnv128 Fnv1a128(std::string_view data);

// The same, of a text that comes in parts.
class Fnv1a128Stream {
 public:
  void Add(std::string_view data) {
    for (const char c : data) hash_ = (hash_ ^ static_cast<uint8_t>(c)) * kPrime;
  }
  Fnv128 Sum() const;

 private:
  __extension__ using Uint128 = unsigned __int128;
  static constexpr Uint128 kOffset = (Uint128{0x6c62272e07bb0142u} << 64) | 0x62b821756295c58du;
  static constexpr Uint128 kPrime = (Uint128{0x1000000} << 64) | 0x13bu;

  Uint128 hash_ = kOffset;
};

}  // namespace denselet
