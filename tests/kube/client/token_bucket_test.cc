#include "kube/client/token_bucket.h"

#include <gtest/gtest.h>

namespace denselet::kube {
namespace {

const TimePoint kStart = TimePoint(Seconds(100));

TEST(TokenBucket, TheBurstGoesAtOnceAndTheRestAtTheRate) {
  TokenBucket bucket(10, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bucket.Take(kStart), kStart);
  EXPECT_EQ(bucket.Take(kStart), kStart + Milliseconds(100));
  EXPECT_EQ(bucket.Take(kStart), kStart + Milliseconds(200));
}

TEST(TokenBucket, FillsUpToTheBurstAndNoFurther) {
  TokenBucket bucket(10, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bucket.Take(kStart), kStart);
  const TimePoint later = kStart + Seconds(3600);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bucket.Take(later), later);
  EXPECT_EQ(bucket.Take(later), later + Milliseconds(100));
}

TEST(TokenBucket, WhatIsGivenBackIsForTheNext) {
  TokenBucket bucket(1, 1);
  EXPECT_EQ(bucket.Take(kStart), kStart);
  EXPECT_EQ(bucket.Take(kStart), kStart + Seconds(1));
  bucket.GiveBack();
  EXPECT_EQ(bucket.Take(kStart), kStart + Seconds(1));
}

TEST(TokenBucket, ARateOfZeroIsNoLimit) {
  TokenBucket bucket(0, 0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(bucket.Take(kStart), kStart);
}

}  // namespace
}  // namespace denselet::kube
