// The seam for randomness: jitter, ids, back-off. Seeded in tests and in the simulator, from the
// kernel in the agent (reactor/real_random).
#pragma once

#include <cstdint>

#include "base/check.h"
#include "base/time.h"

namespace denselet {

class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t Next() = 0;

  // Uniform in [0, bound); bound must not be 0. Rejects the uneven rest, so every value is equally
  // likely.
  uint64_t Below(uint64_t bound) {
    CHECK(bound != 0);
    const uint64_t uneven = (0 - bound) % bound;
    uint64_t x = Next();
    while (x < uneven) x = Next();
    return x % bound;
  }

  // Uniform in [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

  // d, up to `fraction` longer: what upstream calls wait.Jitter. Duration::max() at most.
  Duration Jitter(Duration d, double fraction) {
    const double longer = static_cast<double>(d.count()) * fraction * Unit();
    if (longer >= 0x1.0p63) return Duration::max();
    return After(TimePoint(d), Duration(static_cast<int64_t>(longer))).time_since_epoch();
  }
};

// xoshiro256** seeded by splitmix64: the same numbers from the same seed with every compiler.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed) {
    for (uint64_t& word : state_) word = SplitMix(seed);
  }

  uint64_t Next() override {
    const uint64_t result = RotateLeft(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = RotateLeft(state_[3], 45);
    return result;
  }

 private:
  static uint64_t RotateLeft(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }
  static uint64_t SplitMix(uint64_t& seed) {
    uint64_t z = (seed += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_[4];
};

}  // namespace denselet
