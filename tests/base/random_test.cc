#include "base/random.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace denselet {
namespace {

using ::testing::HasSubstr;

// Says what it was told to, in order.
class ScriptedRandom final : public Random {
 public:
  explicit ScriptedRandom(std::vector<uint64_t> script) : script_(std::move(script)) {}

  uint64_t Next() override {
    CHECK(used_ < script_.size());
    return script_[used_++];
  }
  size_t used() const { return used_; }

 private:
  std::vector<uint64_t> script_;
  size_t used_ = 0;
};

constexpr uint64_t kHalf = uint64_t{1} << 63;
constexpr uint64_t kQuarter = uint64_t{1} << 62;

// Computed with another implementation of Vigna and Blackman's splitmix64 and xoshiro256**, which
// was itself checked against the published numbers: splitmix64 from 1234567, and xoshiro256** from
// the state {1, 2, 3, 4}.
TEST(SeededRandom, GivesTheNumbersOfTheReferenceAlgorithm) {
  struct Case {
    uint64_t seed;
    std::array<uint64_t, 8> numbers;
  };
  const std::vector<Case> cases = {
      {0,
       {0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c,
        0xbba5ad4a1f842e59, 0xffef8375d9ebcaca, 0x6c160deed2f54c98, 0x8920ad648fc30a3f}},
      {1,
       {0xb3f2af6d0fc710c5, 0x853b559647364cea, 0x92f89756082a4514, 0x642e1c7bc266a3a7,
        0xb27a48e29a233673, 0x24c123126ffda722, 0x123004ef8df510e6, 0x61954dcc47b1e89d}},
      {42,
       {0x15780b2e0c2ec716, 0x6104d9866d113a7e, 0xae17533239e499a1, 0xecb8ad4703b360a1,
        0xfde6dc7fe2ec5e64, 0xc50da53101795238, 0xb82154855a65ddb2, 0xd99a2743ebe60087}},
      {UINT64_MAX,
       {0x8f5520d52a7ead08, 0xc476a018caa1802d, 0x81de31c0d260469e, 0xbf658d7e065f3c2f,
        0x913593fda1bca32a, 0xbb535e93941ba525, 0x5ecda415c3c6dfde, 0xc487398fc9de9ae2}},
  };
  for (const Case& c : cases) {
    SeededRandom random(c.seed);
    for (const uint64_t number : c.numbers) EXPECT_EQ(random.Next(), number) << "seed " << c.seed;
  }
}

TEST(SeededRandom, StaysWithTheReferenceForAThousandNumbers) {
  SeededRandom random(42);
  for (int i = 0; i < 999; ++i) random.Next();
  EXPECT_EQ(random.Next(), 0x8de5848c61ab8968);
}

TEST(Below, OneIsAlwaysZero) {
  SeededRandom random(1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.Below(1), 0u);
}

TEST(Below, PowersOfTwoUseEveryNumber) {
  ScriptedRandom random({0, 7, 8, UINT64_MAX, 0, kHalf});
  EXPECT_EQ(random.Below(8), 0u);
  EXPECT_EQ(random.Below(8), 7u);
  EXPECT_EQ(random.Below(8), 0u);
  EXPECT_EQ(random.Below(8), 7u);
  EXPECT_EQ(random.Below(kHalf), 0u);
  EXPECT_EQ(random.Below(kHalf), 0u);
  EXPECT_EQ(random.used(), 6u);
}

// What is left of 2^64 after whole multiples of the bound is refused, no more and no less.
TEST(Below, RefusesExactlyTheUnevenRest) {
  struct Case {
    uint64_t bound;
    uint64_t uneven;  // 2^64 mod bound
  };
  const std::vector<Case> cases = {
      {3, 1},         {10, 6},         {3 * kQuarter, kQuarter}, {kHalf + 1, kHalf - 1},
      {kHalf - 1, 2}, {UINT64_MAX, 1},
  };
  for (const Case& c : cases) {
    ScriptedRandom random({0, c.uneven - 1, c.uneven, UINT64_MAX});
    EXPECT_EQ(random.Below(c.bound), c.uneven % c.bound) << c.bound;
    EXPECT_EQ(random.used(), 3u) << c.bound;
    EXPECT_EQ(random.Below(c.bound), c.uneven - 1) << c.bound;
  }
}

TEST(Below, SmallBoundsAreEvenlySpread) {
  constexpr int kDrawsPerValue = 10'000;
  SeededRandom random(7);
  for (const uint64_t bound : {2u, 3u, 7u, 10u, 100u}) {
    std::vector<int> seen(bound);
    for (uint64_t i = 0; i < bound * kDrawsPerValue; ++i) ++seen[random.Below(bound)];
    for (const int n : seen) EXPECT_NEAR(n, kDrawsPerValue, 500) << bound;  // five sigma
  }
}

// Without the refusal the first part would be twice as likely as each of the others.
TEST(Below, BoundOfThreeQuartersOfTheRangeIsEvenlySpread) {
  SeededRandom random(7);
  std::array<int, 3> seen{};
  for (int i = 0; i < 30'000; ++i) ++seen.at(random.Below(3 * kQuarter) / kQuarter);
  for (const int n : seen) EXPECT_NEAR(n, 10'000, 450);
}

TEST(BelowDeathTest, ZeroFailsACheck) {
  SeededRandom random(1);
  EXPECT_DEATH(random.Below(0), HasSubstr("CHECK failed at random.h"));
}

TEST(Unit, ReachesZeroButNotOne) {
  ScriptedRandom random({0, UINT64_MAX, kHalf});
  EXPECT_EQ(random.Unit(), 0.0);
  EXPECT_EQ(random.Unit(), 1.0 - 0x1.0p-53);
  EXPECT_EQ(random.Unit(), 0.5);
}

TEST(Unit, IsEvenlySpread) {
  SeededRandom random(3);
  std::array<int, 10> seen{};
  for (int i = 0; i < 100'000; ++i) ++seen.at(static_cast<size_t>(random.Unit() * 10));
  for (const int n : seen) EXPECT_NEAR(n, 10'000, 500);
}

TEST(Jitter, ReachesFromTheDurationToTheFractionLonger) {
  ScriptedRandom random({0, kHalf, UINT64_MAX});
  EXPECT_EQ(random.Jitter(Seconds(10), 0.5), Seconds(10));
  EXPECT_EQ(random.Jitter(Seconds(10), 0.5), Milliseconds(12'500));
  const Duration longest = random.Jitter(Seconds(10), 0.5);
  EXPECT_LE(longest, Seconds(15));
  EXPECT_GE(longest, Seconds(15) - Duration(1));
}

TEST(Jitter, StaysInItsRange) {
  SeededRandom random(11);
  for (const Duration d : {Duration(1), Duration(Milliseconds(10)), Duration(Hours(24 * 365))}) {
    for (const double fraction : {0.04, 0.5, 1.0, 3.0}) {
      const auto longer = Duration(static_cast<int64_t>(static_cast<double>(d.count()) * fraction));
      for (int i = 0; i < 1'000; ++i) {
        const Duration jittered = random.Jitter(d, fraction);
        EXPECT_GE(jittered, d);
        EXPECT_LE(jittered, d + longer);
      }
    }
  }
}

TEST(Jitter, UsesTheWholeRange) {
  SeededRandom random(11);
  std::array<int, 10> seen{};
  for (int i = 0; i < 100'000; ++i) {
    ++seen.at(
        static_cast<size_t>((random.Jitter(Seconds(1), 1.0) - Seconds(1)) / Milliseconds(100)));
  }
  for (const int n : seen) EXPECT_NEAR(n, 10'000, 500);
}

TEST(Jitter, NothingToStretchStaysAsItIs) {
  SeededRandom random(11);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(random.Jitter(Seconds(10), 0.0), Seconds(10));
    EXPECT_EQ(random.Jitter(Duration::zero(), 1.0), Duration::zero());
  }
}

// "No limit" is Duration::max(), as Context::Left says it; jitter must not turn that into the past.
TEST(Jitter, WhatDoesNotFitIsTheLongestDuration) {
  ScriptedRandom random({0, kHalf, UINT64_MAX, UINT64_MAX});
  EXPECT_EQ(random.Jitter(Duration::max(), 1.0), Duration::max());
  EXPECT_EQ(random.Jitter(Duration::max(), 1.0), Duration::max());
  EXPECT_EQ(random.Jitter(Duration::max(), 1.0), Duration::max());
  EXPECT_EQ(random.Jitter(Duration::max(), 10.0), Duration::max());
}

}  // namespace
}  // namespace denselet
