#include "app/agent/calm_after_work.h"

#include <gtest/gtest.h>

namespace denselet::app {
namespace {

TimePoint At(int second) { return TimePoint(Seconds(second)); }

TEST(CalmAfterWork, IsToldOnceAfterTheStart) {
  CalmAfterWork work;
  EXPECT_FALSE(work.Look(At(10), Seconds(2))) << "nothing to compare with";
  EXPECT_TRUE(work.Look(At(20), Seconds(2) + Milliseconds(10)));
  EXPECT_FALSE(work.Look(At(30), Seconds(2) + Milliseconds(20)));
}

TEST(CalmAfterWork, IsToldAgainAfterEveryBurst) {
  CalmAfterWork work;
  EXPECT_FALSE(work.Look(At(10), Seconds(2)));
  EXPECT_TRUE(work.Look(At(20), Seconds(2)));
  EXPECT_FALSE(work.Look(At(30), Seconds(3))) << "that was a burst";
  EXPECT_FALSE(work.Look(At(40), Seconds(4))) << "it goes on";
  EXPECT_TRUE(work.Look(At(50), Seconds(4) + Milliseconds(50)));
  EXPECT_FALSE(work.Look(At(60), Seconds(4) + Milliseconds(100)));
}

TEST(CalmAfterWork, IsNotToldWhileThereIsALittleToDoAllTheTime) {
  CalmAfterWork work;
  for (int i = 1; i < 10; ++i) EXPECT_FALSE(work.Look(At(10 * i), Milliseconds(300) * i));
}

TEST(CalmAfterWork, TwoLooksAtOneMomentSayNothing) {
  CalmAfterWork work;
  EXPECT_FALSE(work.Look(At(10), Seconds(2)));
  EXPECT_FALSE(work.Look(At(10), Seconds(2)));
}

}  // namespace
}  // namespace denselet::app
