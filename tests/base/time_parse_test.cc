// The tables say what Go 1.26 makes of each text.
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time.h"
#include "tests/golden.h"

namespace denselet {
namespace {

TEST(ParseDuration, ReadsAsGoDoes) {
  for (const auto& row : tests::ReadGolden("tests/base/golden/duration.txt")) {
    SCOPED_TRACE(row.at(0));
    const auto duration = ParseDuration(row.at(0));
    if (row.at(1) == "error") {
      ASSERT_FALSE(duration);
      EXPECT_EQ(duration.error(), Error(ErrorCode::kInvalid, row.at(2)));
      continue;
    }
    ASSERT_TRUE(duration) << duration.error().message();
    EXPECT_EQ(std::to_string(duration->count()), row.at(2));
    EXPECT_EQ(FormatDuration(*duration), row.at(3));
  }
}

// Go's sum of these two wraps around to 0.
TEST(ParseDuration, RefusesASumThatDoesNotFit) {
  EXPECT_FALSE(ParseDuration("-9223372036854775808ns9223372036854775808ns"));
  EXPECT_FALSE(ParseDuration("9223372036854775807ns1ns"));
}

TEST(ParseDuration, ReadsWhatFormatDurationWrites) {
  for (const int64_t ns :
       {int64_t{1}, int64_t{-1'500}, int64_t{3'723'500'000'000},
        std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    const auto duration = ParseDuration(FormatDuration(Duration(ns)));
    ASSERT_TRUE(duration) << ns;
    EXPECT_EQ(duration->count(), ns);
  }
}

void ExpectTime(const tests::GoldenRow& row, Rfc3339Fraction fraction, int digits) {
  const auto time = ParseRfc3339(row.at(0), fraction);
  if (row.at(1) == "error") {
    ASSERT_FALSE(time);
    EXPECT_EQ(time.error(), Error(ErrorCode::kInvalid, row.at(2)));
    return;
  }
  ASSERT_TRUE(time) << time.error().message();
  EXPECT_EQ(std::to_string(time->seconds), row.at(2));
  EXPECT_EQ(std::to_string(time->nanos), row.at(3));
  EXPECT_EQ(FormatRfc3339(*time, digits), row.at(4));
}

TEST(ParseRfc3339, ReadsTimesAsGoDoes) {
  for (const auto& row : tests::ReadGolden("tests/base/golden/time.txt")) {
    SCOPED_TRACE(row.at(0));
    ExpectTime(row, Rfc3339Fraction::kAny, 0);
  }
}

TEST(ParseRfc3339, ReadsMicroTimesAsGoDoes) {
  for (const auto& row : tests::ReadGolden("tests/base/golden/microtime.txt")) {
    SCOPED_TRACE(row.at(0));
    ExpectTime(row, Rfc3339Fraction::kSixDigits, 6);
  }
}

TEST(ParseRfc3339, GosZeroIsTheBeginningOfYearOne) {
  const auto time = ParseRfc3339("0001-01-01T00:00:00Z");
  ASSERT_TRUE(time);
  EXPECT_EQ(*time, kGoZeroTime);
}

TEST(Timestamp, HoldsEveryWallTime) {
  for (const WallTime t : {WallTime::min(), WallTime(Duration(-1)), WallTime(Duration(0)),
                           WallTime(Duration(1'999'999'999)), WallTime::max()}) {
    const Timestamp stamp = ToTimestamp(t);
    EXPECT_GE(stamp.nanos, 0);
    EXPECT_LT(stamp.nanos, 1'000'000'000);
    EXPECT_EQ(ToWallTime(stamp), t);
  }
}

TEST(Timestamp, WhatNoWallTimeReachesIsTheNearest) {
  EXPECT_EQ(ToWallTime(kGoZeroTime), WallTime::min());
  EXPECT_EQ(ToWallTime({.seconds = 9'223'372'036, .nanos = 854'775'808}), WallTime::max());
  EXPECT_EQ(ToWallTime({.seconds = -9'223'372'037, .nanos = 145'224'191}), WallTime::min());
  EXPECT_EQ(ToWallTime({.seconds = std::numeric_limits<int64_t>::max()}), WallTime::max());
  EXPECT_EQ(ToWallTime({.seconds = std::numeric_limits<int64_t>::min()}), WallTime::min());
}

// Expected texts are what Go 1.26 prints for time.Unix(seconds, 0).UTC().
TEST(Timestamp, PrintsYearsOfAnyLength) {
  EXPECT_EQ(FormatRfc3339(Timestamp{.seconds = 253'402'300'800}, 0), "10000-01-01T00:00:00Z");
  EXPECT_EQ(FormatRfc3339(Timestamp{.seconds = -62'167'219'201}, 0), "-0001-12-31T23:59:59Z");
  EXPECT_EQ(FormatRfc3339(Timestamp{.seconds = 100'000'000'000'000}, 0), "3170843-11-07T09:46:40Z");
}

}  // namespace
}  // namespace denselet
