#include "base/time.h"

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"

namespace denselet {
namespace {

using ::testing::HasSubstr;

TEST(Time, TheTwoClocksDoNotMix) {
  static_assert(!std::is_convertible_v<TimePoint, WallTime>);
  static_assert(!std::is_convertible_v<WallTime, TimePoint>);
  static_assert(!std::is_constructible_v<WallTime, TimePoint>);
}

TEST(After, AddsWhatFits) {
  constexpr TimePoint kStart{Seconds(10)};
  static_assert(After(kStart, Seconds(5)) == TimePoint(Seconds(15)));
  static_assert(After(kStart, Seconds(-15)) == TimePoint(Seconds(-5)));
  static_assert(After(kStart, Duration::zero()) == kStart);
}

TEST(After, WhatDoesNotFitIsNever) {
  static_assert(After(TimePoint(Duration(1)), Duration::max()) == kNever);
  static_assert(After(kNever, Duration(1)) == kNever);
  static_assert(After(kNever, Duration::max()) == kNever);
}

TEST(After, NeverIsReachedExactlyAtTheEdge) {
  static_assert(After(TimePoint(Duration(0)), Duration::max()) == kNever);
  static_assert(After(TimePoint(Duration(-1)), Duration::max()) == kNever - Duration(1));
}

TEST(After, BeforeTheBeginningIsTheBeginning) {
  static_assert(After(TimePoint(Duration(-1)), Duration::min()) == TimePoint::min());
  static_assert(After(TimePoint::min(), Duration(-1)) == TimePoint::min());
}

// Expected texts are what Go 1.26 prints for time.Duration(ns).
TEST(FormatDuration, PrintsAsGoDoes) {
  struct Case {
    int64_t ns;
    std::string text;
  };
  const std::vector<Case> cases = {
      {0, "0s"},
      {1, "1ns"},
      {-1, "-1ns"},
      {999, "999ns"},
      {1'000, "1µs"},
      {1'001, "1.001µs"},
      {1'100, "1.1µs"},
      {-300'000, "-300µs"},
      {999'999, "999.999µs"},
      {1'000'000, "1ms"},
      {1'500'000, "1.5ms"},
      {300'000'000, "300ms"},
      {999'999'999, "999.999999ms"},
      {1'000'000'000, "1s"},
      {1'000'000'001, "1.000000001s"},
      {-1'500'000'000, "-1.5s"},
      {3'500'000'000, "3.5s"},
      {59'999'999'999, "59.999999999s"},
      {60'000'000'000, "1m0s"},
      {61'500'000'000, "1m1.5s"},
      {3'600'000'000'000, "1h0m0s"},
      {3'600'000'000'001, "1h0m0.000000001s"},
      {3'723'500'000'000, "1h2m3.5s"},
      {86'400'000'000'000, "24h0m0s"},
      {360'000'000'000'000, "100h0m0s"},
      {INT64_MAX, "2562047h47m16.854775807s"},
      {-INT64_MAX, "-2562047h47m16.854775807s"},
      {INT64_MIN, "-2562047h47m16.854775808s"},
  };
  for (const Case& c : cases) EXPECT_EQ(FormatDuration(Duration(c.ns)), c.text) << c.ns;
}

// Expected texts are what Go 1.26 prints for time.Unix(0, ns).UTC().
TEST(FormatRfc3339, PrintsAsGoDoes) {
  struct Case {
    int64_t ns;
    std::string text;
  };
  const std::vector<Case> cases = {
      {0, "1970-01-01T00:00:00.000000000Z"},
      {1, "1970-01-01T00:00:00.000000001Z"},
      {-1, "1969-12-31T23:59:59.999999999Z"},
      {-1'000'000'000, "1969-12-31T23:59:59.000000000Z"},
      {-86'400'000'000'000, "1969-12-31T00:00:00.000000000Z"},
      {-86'400'000'000'001, "1969-12-30T23:59:59.999999999Z"},
      {951'782'400'000'000'000, "2000-02-29T00:00:00.000000000Z"},
      {951'868'799'999'999'999, "2000-02-29T23:59:59.999999999Z"},
      {951'868'800'000'000'000, "2000-03-01T00:00:00.000000000Z"},
      {1'767'366'245'123'456'789, "2026-01-02T15:04:05.123456789Z"},
      {4'107'542'399'999'999'999, "2100-02-28T23:59:59.999999999Z"},
      {4'107'542'400'000'000'000, "2100-03-01T00:00:00.000000000Z"},
  };
  for (const Case& c : cases) EXPECT_EQ(FormatRfc3339(WallTime(Duration(c.ns)), 9), c.text) << c.ns;
}

// A runtime may send any number as the time a container was created.
TEST(FormatRfc3339, PrintsTheWholeRangeOfTheType) {
  EXPECT_EQ(FormatRfc3339(WallTime::max(), 9), "2262-04-11T23:47:16.854775807Z");
  EXPECT_EQ(FormatRfc3339(WallTime(Duration(-9'223'286'400'000'000'000)), 9),
            "1677-09-22T00:00:00.000000000Z");
  EXPECT_EQ(FormatRfc3339(WallTime::min(), 9), "1677-09-21T00:12:43.145224192Z");
}

TEST(FormatRfc3339, CutsTheFractionAndDoesNotRound) {
  const WallTime t{Duration(1'767'366'245'999'999'999)};
  EXPECT_EQ(FormatRfc3339(t, 0), "2026-01-02T15:04:05Z");
  EXPECT_EQ(FormatRfc3339(t, 3), "2026-01-02T15:04:05.999Z");
  EXPECT_EQ(FormatRfc3339(t, 6), "2026-01-02T15:04:05.999999Z");
  EXPECT_EQ(FormatRfc3339(t, 9), "2026-01-02T15:04:05.999999999Z");
}

TEST(FormatRfc3339, KeepsZerosOfTheFraction) {
  const WallTime t{Seconds(1'767'366'245)};
  EXPECT_EQ(FormatRfc3339(t, 3), "2026-01-02T15:04:05.000Z");
  EXPECT_EQ(FormatRfc3339(t, 6), "2026-01-02T15:04:05.000000Z");
}

TEST(FormatRfc3339DeathTest, OtherNumbersOfDigitsFailACheck) {
  for (const int digits : {-3, 1, 4, 12}) {
    EXPECT_DEATH(FormatRfc3339(WallTime(), digits), HasSubstr("CHECK failed at time.cc"));
  }
}

TEST(ToCivil, TakesAReadingApart) {
  const CivilTime c = ToCivil(WallTime(Duration(1'767'366'245'123'456'789)));
  EXPECT_EQ(c.year, 2026);
  EXPECT_EQ(c.month, 1);
  EXPECT_EQ(c.day, 2);
  EXPECT_EQ(c.hour, 15);
  EXPECT_EQ(c.minute, 4);
  EXPECT_EQ(c.second, 5);
  EXPECT_EQ(c.nanosecond, 123'456'789);
}

TEST(ToCivil, EveryDayOfALeapYearFollowsTheOneBefore) {
  const int days_in_month[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  WallTime t{Seconds(1'704'067'200)};  // 2024-01-01T00:00:00Z
  for (int month = 1; month <= 12; ++month) {
    for (int day = 1; day <= days_in_month[month - 1]; ++day, t += Hours(24)) {
      const CivilTime first = ToCivil(t);
      EXPECT_EQ(first.year, 2024);
      EXPECT_EQ(first.month, month);
      EXPECT_EQ(first.day, day);
      EXPECT_EQ(first.hour, 0);
      const CivilTime last = ToCivil(t + Hours(24) - Duration(1));
      EXPECT_EQ(last.day, day);
      EXPECT_EQ(last.hour, 23);
    }
  }
  EXPECT_EQ(ToCivil(t).year, 2025);
}

TEST(ManualClock, StandsStillUntilTold) {
  ManualClock clock;
  const TimePoint now = clock.Now();
  const WallTime wall = clock.WallNow();
  EXPECT_EQ(clock.Now(), now);
  EXPECT_EQ(clock.WallNow(), wall);

  clock.Advance(Seconds(30));
  EXPECT_EQ(clock.Now(), now + Seconds(30));
  EXPECT_EQ(clock.WallNow(), wall + Seconds(30));
}

TEST(ManualClock, JumpOfTheWallClockLeavesTheMonotonicOne) {
  ManualClock clock;
  const TimePoint now = clock.Now();
  const WallTime wall = clock.WallNow();
  clock.JumpWall(Hours(-2));
  EXPECT_EQ(clock.Now(), now);
  EXPECT_EQ(clock.WallNow(), wall - Hours(2));
}

}  // namespace
}  // namespace denselet
