#include "base/repeated_trouble.h"

#include <gtest/gtest.h>

namespace denselet {
namespace {

constexpr TimePoint kStart{Hours(1)};

TEST(RepeatedTrouble, OneCauseIsToldAtOnceAndThenAtGrowingIntervals) {
  RepeatedTrouble trouble;
  std::vector<int64_t> told;
  for (int second = 0; second < 3600; ++second) {
    if (trouble.IsNews(kStart + Seconds(second), "refused")) told.push_back(second);
  }
  EXPECT_EQ(told, (std::vector<int64_t>{0, 30, 90, 210, 450, 930, 1530, 2130, 2730, 3330}));
}

TEST(RepeatedTrouble, AnotherCauseIsToldSoonAndCausesThatTakeTurnsAreFew) {
  RepeatedTrouble trouble;
  EXPECT_TRUE(trouble.IsNews(kStart, "refused"));
  EXPECT_FALSE(trouble.IsNews(kStart + Milliseconds(500), "no route"));
  EXPECT_TRUE(trouble.IsNews(kStart + Seconds(1), "no route"));
  int told = 0;
  for (int second = 2; second < 600; ++second) {
    told += trouble.IsNews(kStart + Seconds(second), second % 2 == 0 ? "refused" : "no route");
  }
  EXPECT_LE(told, 12);
  EXPECT_GE(told, 5);
}

TEST(RepeatedTrouble, ItsEndIsToldWithItsLengthToWhoWasToldOfIt) {
  RepeatedTrouble trouble;
  EXPECT_FALSE(trouble.Over(kStart).has_value());
  EXPECT_TRUE(trouble.IsNews(kStart, "refused"));
  EXPECT_FALSE(trouble.IsNews(kStart + Seconds(7), "refused"));
  EXPECT_EQ(trouble.Over(kStart + Seconds(9)), std::optional<Duration>(Seconds(9)));
  EXPECT_FALSE(trouble.Over(kStart + Seconds(10)).has_value());
}

TEST(RepeatedTrouble, WhatComesAndGoesIsToldLessAndLessUntilItIsCalm) {
  RepeatedTrouble trouble;
  int told = 0, ends = 0;
  for (int second = 0; second < 600; second += 2) {
    told += trouble.IsNews(kStart + Seconds(second), "refused");
    ends += trouble.Over(kStart + Seconds(second + 1)).has_value();
  }
  EXPECT_EQ(told, ends);
  EXPECT_LE(told, 10);
  EXPECT_TRUE(trouble.IsNews(kStart + Seconds(600) + RepeatedTrouble::kIntervalMax, "refused"));
  trouble.Over(kStart + Hours(1));
  EXPECT_TRUE(trouble.IsNews(kStart + Hours(1) + RepeatedTrouble::kCalm, "refused"));
}

}  // namespace
}  // namespace denselet
