#include "kube/client/token_bucket.h"

#include <gtest/gtest.h>

#include <chrono>

namespace denselet::kube {
namespace {

const TimePoint kStart = TimePoint(Seconds(100));

int TakeAll(TokenBucket& bucket, TimePoint now) {
  int taken = 0;
  while (taken < 1000 && bucket.TryTake(now)) ++taken;
  return taken;
}

TEST(TokenBucket, TheBurstGoesAtOnceAndTheRestAtTheRate) {
  TokenBucket bucket(10, 3);
  EXPECT_EQ(bucket.NextAt(kStart), kStart);
  EXPECT_EQ(TakeAll(bucket, kStart), 3);
  EXPECT_EQ(bucket.NextAt(kStart), kStart + Milliseconds(100));
  EXPECT_FALSE(bucket.TryTake(kStart + Milliseconds(90)));
  EXPECT_EQ(TakeAll(bucket, kStart + Milliseconds(100)), 1);
  EXPECT_EQ(TakeAll(bucket, kStart + Milliseconds(300)), 2);
}

TEST(TokenBucket, FillsUpToTheBurstAndNoFurther) {
  TokenBucket bucket(10, 3);
  EXPECT_EQ(TakeAll(bucket, kStart), 3);
  const TimePoint later = kStart + Seconds(3600);
  EXPECT_EQ(TakeAll(bucket, later), 3);
  EXPECT_EQ(bucket.NextAt(later), later + Milliseconds(100));
}

// Who sleeps until then finds one, whatever fractions add up to.
TEST(TokenBucket, ThereIsOneWhenItWasSaidToBe) {
  for (const double rate : {0.3, 3.0, 7.0, 50.0, 333.0, 1000.0}) {
    TokenBucket bucket(rate, 1);
    TimePoint now = kStart;
    ASSERT_TRUE(bucket.TryTake(now));
    for (int i = 0; i < 1000; ++i) {
      now = bucket.NextAt(now);
      ASSERT_TRUE(bucket.TryTake(now)) << rate << ", " << i;
    }
    const double seconds = std::chrono::duration<double>(now - kStart).count();
    EXPECT_NEAR(seconds * rate, 1000, 1) << rate;
  }
}

TEST(TokenBucket, ARateOfZeroIsNoLimit) {
  TokenBucket bucket(0, 0);
  EXPECT_EQ(TakeAll(bucket, kStart), 1000);
  EXPECT_EQ(bucket.NextAt(kStart), kStart);
}

}  // namespace
}  // namespace denselet::kube
