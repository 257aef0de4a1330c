#include <gtest/gtest.h>

#include "reactor/real_clock.h"
#include "reactor/real_random.h"

namespace denselet::reactor {
namespace {

TEST(RealClock, MonotonicTimeNeverGoesBack) {
  const RealClock clock;
  TimePoint last = clock.Now();
  for (int i = 0; i < 1000; ++i) {
    const TimePoint now = clock.Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(RealClock, WallTimeIsLaterThanThisCode) {
  EXPECT_GT(ToCivil(RealClock().WallNow()).year, 2025);
}

TEST(RealRandom, TwoGeneratorsDiffer) {
  RealRandom a, b;
  EXPECT_NE(a.Next(), b.Next());
}

}  // namespace
}  // namespace denselet::reactor
