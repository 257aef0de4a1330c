#include "reactor/timer_wheel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"

namespace denselet::reactor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kNoMax = std::numeric_limits<size_t>::max();
constexpr Duration kNs(1);

constexpr TimePoint At(Duration since_start) { return TimePoint(since_start); }

// A wheel whose tasks write down their names.
struct NamedTimers {
  explicit NamedTimers(TimePoint now = At(Duration(0))) : wheel(now) {}

  TimerId Arm(TimePoint when, std::string name) {
    return wheel.Arm(when, [this, name = std::move(name)] { ran.push_back(name); });
  }

  // What ran.
  std::vector<std::string> RunDue(TimePoint now, size_t tasks_max = kNoMax) {
    ran.clear();
    const size_t count = wheel.RunDue(now, tasks_max);
    EXPECT_EQ(count, ran.size());
    return std::exchange(ran, {});
  }

  TimerWheel wheel;
  std::vector<std::string> ran;
};

// --- when ---

TEST(TimerWheel, RunsOnceAtItsTimeAndNotBefore) {
  NamedTimers timers;
  timers.Arm(At(Milliseconds(5)), "a");
  EXPECT_EQ(timers.wheel.size(), 1u);
  EXPECT_THAT(timers.RunDue(At(Milliseconds(5)) - kNs), IsEmpty());
  EXPECT_THAT(timers.RunDue(At(Milliseconds(5))), ElementsAre("a"));
  EXPECT_THAT(timers.RunDue(At(Hours(1))), IsEmpty());
  EXPECT_EQ(timers.wheel.size(), 0u);
}

// Distances around one slot and around all slots of each level, from starts around slot borders.
TEST(TimerWheel, BordersOfAllLevelsAreExact) {
  for (const int64_t start :
       {int64_t{0}, int64_t{1}, int64_t{1023}, int64_t{1024}, int64_t{123'456'789},
        (int64_t{1} << 30) - 1, -(int64_t{1} << 20) - 1, int64_t{-1}}) {
    for (const int bits : {0, 10, 20, 30, 40, 42}) {
      for (int64_t around = -2; around <= 2; ++around) {
        const int64_t distance = (int64_t{1} << bits) + around;
        if (distance <= 0) continue;
        SCOPED_TRACE(testing::Message() << start << " + 2^" << bits << " + " << around);
        const TimePoint due = At(Milliseconds(start + distance));
        NamedTimers timers(At(Milliseconds(start)));
        timers.Arm(due, "a");
        ASSERT_EQ(timers.wheel.NextDue(), due);
        ASSERT_THAT(timers.RunDue(At(Milliseconds(start + distance / 2))), IsEmpty());
        ASSERT_EQ(timers.wheel.NextDue(), due);
        ASSERT_THAT(timers.RunDue(due - kNs), IsEmpty());
        ASSERT_EQ(timers.wheel.NextDue(), due);
        ASSERT_THAT(timers.RunDue(due), ElementsAre("a"));
      }
    }
  }
}

TEST(TimerWheel, EveryMillisecondOfTheFirstTwoLevelsIsExactInSmallSteps) {
  constexpr int64_t kTicks = 5000;
  TimerWheel wheel(At(Milliseconds(777)));
  int64_t now = 777;
  int64_t ran = 0;
  for (int64_t i = 1; i <= kTicks; ++i) {
    wheel.Arm(At(Milliseconds(777 + i)), [&, due = 777 + i] {
      EXPECT_EQ(now, due);
      ++ran;
    });
  }
  while (now < 777 + kTicks) {
    ++now;
    ASSERT_EQ(wheel.RunDue(At(Milliseconds(now)), kNoMax), 1u);
  }
  EXPECT_EQ(ran, kTicks);
}

TEST(TimerWheel, TimesAreRoundedUpToTheMillisecond) {
  NamedTimers timers;
  timers.Arm(At(kNs), "a");
  timers.Arm(At(Milliseconds(1)), "b");
  timers.Arm(At(Milliseconds(1) + kNs), "c");
  EXPECT_EQ(timers.wheel.NextDue(), At(Milliseconds(1)));
  EXPECT_THAT(timers.RunDue(At(Milliseconds(1)) - kNs), IsEmpty());
  EXPECT_THAT(timers.RunDue(At(Milliseconds(1))), ElementsAre("a", "b"));
  EXPECT_THAT(timers.RunDue(At(Milliseconds(2)) - kNs), IsEmpty());
  EXPECT_THAT(timers.RunDue(At(Milliseconds(2))), ElementsAre("c"));
}

TEST(TimerWheel, TimesBeforeTheClocksZeroAreRoundedUpToo) {
  NamedTimers timers(At(Milliseconds(-10)));
  timers.Arm(At(Milliseconds(-5) - kNs), "a");
  timers.Arm(At(-kNs), "b");
  EXPECT_EQ(timers.wheel.NextDue(), At(Milliseconds(-5)));
  EXPECT_THAT(timers.RunDue(At(Milliseconds(-5) - kNs)), IsEmpty());
  EXPECT_THAT(timers.RunDue(At(Milliseconds(-5))), ElementsAre("a"));
  EXPECT_THAT(timers.RunDue(At(-kNs)), IsEmpty());
  EXPECT_THAT(timers.RunDue(At(Duration(0))), ElementsAre("b"));
}

TEST(TimerWheel, NothingIsEarlyWhenTheTurnBeginsBetweenTicks) {
  NamedTimers timers(At(Microseconds(300)));
  timers.Arm(At(Microseconds(5200)), "a");
  EXPECT_THAT(timers.RunDue(At(Microseconds(5100))), IsEmpty());
  EXPECT_THAT(timers.RunDue(At(Microseconds(5900))), IsEmpty());
  EXPECT_THAT(timers.RunDue(At(Microseconds(6000))), ElementsAre("a"));
}

TEST(TimerWheel, PastAndPresentAreDueAtTheNextCallEvenWithinTheMillisecond) {
  NamedTimers timers;
  const TimePoint now = At(Microseconds(5500));
  EXPECT_THAT(timers.RunDue(now), IsEmpty());
  timers.Arm(now, "present");
  timers.Arm(At(Milliseconds(2)), "past");
  timers.Arm(TimePoint::min(), "beginning");
  timers.Arm(now + kNs, "future");
  EXPECT_EQ(timers.wheel.NextDue(), now);
  EXPECT_THAT(timers.RunDue(now), ElementsAre("present", "past", "beginning"));
  EXPECT_EQ(timers.wheel.NextDue(), At(Milliseconds(6)));
}

TEST(TimerWheel, NeverIsArmedButNotDue) {
  NamedTimers timers;
  const TimerId never = timers.Arm(kNever, "never");
  timers.Arm(kNever - kNs, "rounds up to beyond the clock's end");
  EXPECT_EQ(timers.wheel.size(), 2u);
  EXPECT_EQ(timers.wheel.NextDue(), kNever);
  EXPECT_THAT(timers.RunDue(kNever), IsEmpty());
  EXPECT_TRUE(timers.wheel.Disarm(never));
  EXPECT_EQ(timers.wheel.size(), 1u);
}

TEST(TimerWheel, TheWholeRangeOfTheClockIsReached) {
  const TimePoint last = At(std::chrono::floor<Milliseconds>(kNever.time_since_epoch()));
  NamedTimers timers(TimePoint::min());
  timers.Arm(last, "last");
  timers.Arm(At(Hours(24 * 365 * 200)), "200 years");
  timers.Arm(At(Duration(0)), "zero");
  timers.Arm(TimePoint::min() + kNs, "first");
  EXPECT_THAT(timers.RunDue(At(Duration(0)) - kNs), ElementsAre("first"));
  EXPECT_THAT(timers.RunDue(At(Duration(0))), ElementsAre("zero"));
  EXPECT_EQ(timers.wheel.NextDue(), At(Hours(24 * 365 * 200)));
  EXPECT_THAT(timers.RunDue(last - kNs), ElementsAre("200 years"));
  EXPECT_EQ(timers.wheel.NextDue(), last);
  EXPECT_THAT(timers.RunDue(kNever), ElementsAre("last"));
}

TEST(TimerWheel, JumpsOverCenturiesWithoutCountingTheTicks) {
  NamedTimers timers(TimePoint::min());
  timers.Arm(kNever - Milliseconds(1), "a");
  EXPECT_THAT(timers.RunDue(kNever), ElementsAre("a"));  // 2^44 ticks: it would not end
}

TEST(TimerWheel, AfterAJumpAllRunInTheOrderOfTheirTimes) {
  TimerWheel wheel(At(Milliseconds(99)));
  SeededRandom random(3);
  std::vector<TimePoint> ran;
  for (int i = 0; i < 20'000; ++i) {
    const TimePoint due = At(Milliseconds(100 + random.Below(uint64_t{1} << random.Below(43))));
    wheel.Arm(due, [&ran, due] { ran.push_back(due); });
  }
  EXPECT_EQ(wheel.RunDue(kNever, kNoMax), 20'000u);
  EXPECT_TRUE(std::is_sorted(ran.begin(), ran.end()));
}

// --- order ---

TEST(TimerWheel, TimersOfOneTickRunInTheOrderOfArming) {
  NamedTimers timers;
  timers.Arm(At(Milliseconds(3)), "a");
  timers.Arm(At(Milliseconds(2) + kNs), "b");  // the same tick, though earlier
  timers.Arm(At(Milliseconds(2)), "earlier tick");
  timers.Arm(At(Milliseconds(3)), "c");
  EXPECT_THAT(timers.RunDue(At(Milliseconds(10))), ElementsAre("earlier tick", "a", "b", "c"));
}

TEST(TimerWheel, TimersOfOneTickKeepTheOrderThroughAllLevels) {
  const int64_t due = (int64_t{1} << 41) + 12'345;
  NamedTimers timers;
  std::vector<std::string> expected;
  // Each distance is of another level; two each time, and a neighbour that shares the coarse slots.
  for (const int64_t distance :
       {due, int64_t{1} << 35, int64_t{1} << 25, int64_t{1} << 15, int64_t{500}, int64_t{1}}) {
    EXPECT_THAT(timers.RunDue(At(Milliseconds(due - distance))), IsEmpty());
    for (int i = 0; i < 2; ++i) {
      expected.push_back(std::to_string(distance) + "/" + std::to_string(i));
      timers.Arm(At(Milliseconds(due)), expected.back());
      timers.Arm(At(Milliseconds(due + 1)), "neighbour");
    }
  }
  EXPECT_EQ(timers.RunDue(At(Milliseconds(due))), expected);
}

// A slot of level 1 is not entered yet, but the window of level 0 reaches into it.
TEST(TimerWheel, ACoarseTimerRunsBeforeALaterFineOne) {
  NamedTimers timers;
  timers.Arm(At(Milliseconds(1030)), "coarse");
  EXPECT_THAT(timers.RunDue(At(Milliseconds(1000))), IsEmpty());
  timers.Arm(At(Milliseconds(1031)), "later");
  timers.Arm(At(Milliseconds(1030)), "same");
  timers.Arm(At(Milliseconds(1029)), "earlier");
  EXPECT_EQ(timers.wheel.NextDue(), At(Milliseconds(1029)));
  EXPECT_THAT(timers.RunDue(At(Milliseconds(1029))), ElementsAre("earlier"));
  EXPECT_THAT(timers.RunDue(At(Milliseconds(1031))), ElementsAre("coarse", "same", "later"));
}

// --- from within tasks ---

TEST(TimerWheel, WhatATaskArmsWaitsForTheNextCallEvenIfDue) {
  TimerWheel wheel(At(Duration(0)));
  int ran = 0;
  std::function<void()> again = [&] {
    ++ran;
    wheel.Arm(At(Duration(0)), [&] { again(); });
  };
  wheel.Arm(At(Duration(0)), [&] { again(); });
  for (int turn = 1; turn <= 3; ++turn) {
    EXPECT_EQ(wheel.RunDue(At(Milliseconds(1)), kNoMax), 1u);
    EXPECT_EQ(ran, turn);
    EXPECT_EQ(wheel.NextDue(), At(Milliseconds(1)));
  }
}

TEST(TimerWheel, ATaskArmsRelativeToTheTurnAndNotToItsOwnTick) {
  NamedTimers timers;
  timers.wheel.Arm(At(Milliseconds(1)), [&] {
    timers.Arm(At(Milliseconds(50)), "between its tick and the turn");
    timers.Arm(At(Milliseconds(101)), "after the turn");
  });
  timers.Arm(At(Milliseconds(60)), "in this turn");
  timers.ran.clear();
  EXPECT_EQ(timers.wheel.RunDue(At(Milliseconds(100)), kNoMax), 2u);
  EXPECT_THAT(std::exchange(timers.ran, {}), ElementsAre("in this turn"));
  EXPECT_THAT(timers.RunDue(At(Milliseconds(100))), ElementsAre("between its tick and the turn"));
  EXPECT_THAT(timers.RunDue(At(Milliseconds(101))), ElementsAre("after the turn"));
}

TEST(TimerWheel, ATimerIsNoLongerArmedInItsOwnTask) {
  TimerWheel wheel(At(Duration(0)));
  TimerId self;
  bool disarmed = true;
  self = wheel.Arm(At(Milliseconds(1)), [&] {
    EXPECT_EQ(wheel.size(), 0u);
    disarmed = wheel.Disarm(self);
  });
  EXPECT_EQ(wheel.RunDue(At(Milliseconds(1)), kNoMax), 1u);
  EXPECT_FALSE(disarmed);
}

TEST(TimerWheel, ATaskMayDisarmOthersThatAreDueWithIt) {
  NamedTimers timers;
  TimerId next, last, later;
  timers.wheel.Arm(At(Milliseconds(1)), [&] {
    EXPECT_TRUE(timers.wheel.Disarm(next));
    EXPECT_TRUE(timers.wheel.Disarm(last));
    EXPECT_TRUE(timers.wheel.Disarm(later));
  });
  next = timers.Arm(At(Milliseconds(1)), "next");
  timers.Arm(At(Milliseconds(1)), "stays");
  last = timers.Arm(At(Milliseconds(2)), "last");
  later = timers.Arm(At(Hours(1)), "later");
  EXPECT_EQ(timers.wheel.RunDue(At(Milliseconds(2)), kNoMax), 2u);
  EXPECT_THAT(timers.ran, ElementsAre("stays"));
  EXPECT_EQ(timers.wheel.size(), 0u);
  EXPECT_EQ(timers.wheel.NextDue(), kNever);
}

TEST(TimerWheel, ATaskMayDisarmWhatItHasJustArmed) {
  TimerWheel wheel(At(Duration(0)));
  wheel.Arm(At(Milliseconds(1)), [&] {
    EXPECT_TRUE(wheel.Disarm(wheel.Arm(At(Duration(0)), [] { FAIL(); })));
    EXPECT_TRUE(wheel.Disarm(wheel.Arm(At(Minutes(1)), [] { FAIL(); })));
  });
  EXPECT_EQ(wheel.RunDue(At(Milliseconds(1)), kNoMax), 1u);
  EXPECT_EQ(wheel.RunDue(At(Hours(1)), kNoMax), 0u);
}

TEST(TimerWheel, WhatExceedsTheMaximumStaysDueAndGoesFirst) {
  NamedTimers timers;
  for (const char* name : {"a", "b", "c"}) timers.Arm(At(Milliseconds(1)), name);
  timers.Arm(At(Milliseconds(2)), "d");
  timers.Arm(At(Milliseconds(3)), "e");
  EXPECT_THAT(timers.RunDue(At(Milliseconds(2)), 0), IsEmpty());
  EXPECT_THAT(timers.RunDue(At(Milliseconds(2)), 2), ElementsAre("a", "b"));
  EXPECT_EQ(timers.wheel.size(), 3u);
  EXPECT_EQ(timers.wheel.NextDue(), At(Milliseconds(2)));
  timers.Arm(At(Milliseconds(1)), "past");
  EXPECT_THAT(timers.RunDue(At(Milliseconds(3)), 2), ElementsAre("c", "d"));
  EXPECT_THAT(timers.RunDue(At(Milliseconds(3)), 2), ElementsAre("past", "e"));
  EXPECT_THAT(timers.RunDue(At(Milliseconds(3)), 2), IsEmpty());
}

// --- disarming, ids and the lives of tasks ---

TEST(TimerWheel, ADisarmedTimerDoesNotRunAndItsTaskIsGone) {
  for (const Duration due : {Duration(0), Duration(Milliseconds(1)), Duration(Seconds(2)),
                             Duration(Hours(24 * 365 * 50)), kNever.time_since_epoch()}) {
    TimerWheel wheel(At(Duration(0)));
    auto held = std::make_shared<int>();
    const TimerId timer = wheel.Arm(At(due), [held] { FAIL(); });
    EXPECT_EQ(held.use_count(), 2);
    EXPECT_TRUE(wheel.Disarm(timer));
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(wheel.size(), 0u);
    EXPECT_EQ(wheel.NextDue(), kNever);
    EXPECT_EQ(wheel.RunDue(kNever, kNoMax), 0u);
  }
}

TEST(TimerWheel, DisarmingAnyOfASlotLeavesTheOthers) {
  const std::vector<std::string> names = {"0", "1", "2", "3"};
  for (size_t gone = 0; gone < names.size(); ++gone) {
    NamedTimers timers;
    std::vector<TimerId> ids;
    for (const std::string& name : names) ids.push_back(timers.Arm(At(Seconds(100)), name));
    EXPECT_TRUE(timers.wheel.Disarm(ids[gone]));
    std::vector<std::string> expected = names;
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(gone));
    EXPECT_EQ(timers.RunDue(At(Seconds(100))), expected);
  }
}

TEST(TimerWheel, StaleAndForeignIdsNameNothing) {
  TimerWheel wheel(At(Duration(0)));
  EXPECT_FALSE(wheel.Disarm(TimerId{}));
  EXPECT_FALSE(wheel.Disarm(TimerId{{0, 1}}));
  EXPECT_FALSE(wheel.Disarm(TimerId{{UINT32_MAX, 1}}));

  const TimerId disarmed = wheel.Arm(At(Milliseconds(1)), [] {});
  EXPECT_TRUE(wheel.Disarm(disarmed));
  EXPECT_FALSE(wheel.Disarm(disarmed));

  const TimerId run = wheel.Arm(At(Milliseconds(1)), [] {});
  EXPECT_NE(run, disarmed);
  EXPECT_EQ(wheel.RunDue(At(Milliseconds(1)), kNoMax), 1u);
  EXPECT_FALSE(wheel.Disarm(run));

  // The same place again: the old ids must not reach the new timer.
  const TimerId current = wheel.Arm(At(Milliseconds(2)), [] {});
  EXPECT_EQ(current.key.index, run.key.index);
  EXPECT_FALSE(wheel.Disarm(run));
  EXPECT_FALSE(wheel.Disarm(disarmed));
  EXPECT_EQ(wheel.size(), 1u);
  EXPECT_TRUE(wheel.Disarm(current));
}

TEST(TimerWheel, PlacesAreUsedAgain) {
  TimerWheel wheel(At(Duration(0)));
  std::set<uint32_t> places;
  for (int i = 0; i < 100'000; ++i) {
    const TimerId timer = wheel.Arm(At(Milliseconds(i)), [] {});
    places.insert(timer.key.index);
    EXPECT_TRUE(wheel.Disarm(timer));
  }
  EXPECT_EQ(places.size(), 1u);
}

TEST(TimerWheel, HoldsManyPagesOfTimers) {
  constexpr int kTimers = 200'000;
  TimerWheel wheel(At(Duration(0)));
  std::vector<TimerId> ids;
  int64_t sum = 0;
  for (int i = 0; i < kTimers; ++i) {
    ids.push_back(wheel.Arm(At(Milliseconds(1 + i * 7)), [&sum, i] { sum += i; }));
  }
  for (size_t i = 0; i < ids.size(); i += 2) EXPECT_TRUE(wheel.Disarm(ids[i]));
  EXPECT_EQ(wheel.RunDue(At(Hours(1)), kNoMax), kTimers / 2u);
  EXPECT_EQ(sum, int64_t{kTimers / 2} * (kTimers / 2));  // 1 + 3 + 5 + ...
}

// Calls back when it is destroyed; moved from, it does not.
class AtDestruction {
 public:
  explicit AtDestruction(Task task) : task_(std::make_unique<Task>(std::move(task))) {}
  AtDestruction(AtDestruction&&) = default;
  ~AtDestruction() {
    if (task_) (*task_)();
  }

 private:
  std::unique_ptr<Task> task_;
};

TEST(TimerWheel, ATasksDestructorMayArmAndDisarm) {
  NamedTimers timers;
  TimerId self;
  const TimerId other = timers.Arm(At(Seconds(1)), "other");
  self = timers.wheel.Arm(At(Seconds(1)), [held = AtDestruction([&] {
                                             EXPECT_FALSE(timers.wheel.Disarm(self));
                                             timers.Arm(At(Seconds(1)), "heir");
                                             EXPECT_TRUE(timers.wheel.Disarm(other));
                                           })] {});
  EXPECT_TRUE(timers.wheel.Disarm(self));
  EXPECT_EQ(timers.wheel.size(), 1u);
  EXPECT_THAT(timers.RunDue(At(Seconds(1))), ElementsAre("heir"));
}

TEST(TimerWheel, EndsWithItsTasksWhoseDestructorsMayDisarm) {
  auto held = std::make_shared<int>();
  {
    std::vector<TimerId> ids;
    TimerWheel wheel(At(Duration(0)));
    for (int i = 0; i < 10; ++i) {
      ids.push_back(wheel.Arm(At(Seconds(i)), [held, end = AtDestruction([&] {
                                                       for (const TimerId id : ids)
                                                         wheel.Disarm(id);
                                                     })] {}));
    }
    EXPECT_EQ(held.use_count(), 11);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(TimerWheel, ATaskIsDestroyedBeforeTheNextRuns) {
  TimerWheel wheel(At(Duration(0)));
  auto held = std::make_shared<int>();
  wheel.Arm(At(Milliseconds(1)), [held] {});
  wheel.Arm(At(Milliseconds(1)), [&] { EXPECT_EQ(held.use_count(), 1); });
  EXPECT_EQ(wheel.RunDue(At(Milliseconds(1)), kNoMax), 2u);
}

// --- NextDue ---

TEST(TimerWheel, NextDueIsTheEarliestAndNeverABorderOfSlots) {
  NamedTimers timers;
  EXPECT_EQ(timers.wheel.NextDue(), kNever);
  timers.Arm(At(Hours(500)), "a");
  EXPECT_EQ(timers.wheel.NextDue(), At(Hours(500)));
  timers.Arm(At(Hours(400)), "b");
  EXPECT_EQ(timers.wheel.NextDue(), At(Hours(400)));
  timers.Arm(At(Hours(400) + Milliseconds(1)), "c");
  EXPECT_EQ(timers.wheel.NextDue(), At(Hours(400)));
  timers.Arm(At(Seconds(90)), "d");
  EXPECT_EQ(timers.wheel.NextDue(), At(Seconds(90)));
  // As a loop does it: four sleeps for four times.
  std::vector<std::string> ran;
  for (int turn = 0; turn < 4; ++turn) {
    for (std::string& name : timers.RunDue(timers.wheel.NextDue())) ran.push_back(std::move(name));
  }
  EXPECT_THAT(ran, ElementsAre("d", "b", "c", "a"));
  EXPECT_EQ(timers.wheel.NextDue(), kNever);
}

TEST(TimerWheel, NextDueIsExactWhenADisarmedTimerWasAloneInItsSlot) {
  NamedTimers timers;
  const TimerId soon = timers.Arm(At(Milliseconds(7)), "soon");
  const TimerId coarse = timers.Arm(At(Minutes(5)), "coarse");
  timers.Arm(At(Minutes(6)), "stays");
  EXPECT_TRUE(timers.wheel.Disarm(soon));
  EXPECT_EQ(timers.wheel.NextDue(), At(Minutes(5)));
  EXPECT_TRUE(timers.wheel.Disarm(coarse));
  EXPECT_EQ(timers.wheel.NextDue(), At(Minutes(6)));
}

TEST(TimerWheel, ADisarmedTimerCostsAtMostOneVainTurn) {
  NamedTimers timers;
  const TimerId first = timers.Arm(At(Hours(30)), "first");
  const TimerId second = timers.Arm(At(Hours(30) + Seconds(1)), "second");
  timers.Arm(At(Hours(30) + Seconds(2)), "third");
  EXPECT_TRUE(timers.wheel.Disarm(first));
  EXPECT_TRUE(timers.wheel.Disarm(second));
  const TimePoint next = timers.wheel.NextDue();
  EXPECT_GE(next, At(Hours(30)));
  EXPECT_LE(next, At(Hours(30) + Seconds(2)));
  EXPECT_THAT(timers.RunDue(At(Hours(30))), IsEmpty());
  EXPECT_EQ(timers.wheel.NextDue(), At(Hours(30) + Seconds(2)));
}

// --- our own faults ---

TEST(TimerWheelDeathTest, MisuseIsCaught) {
  TimerWheel wheel(At(Seconds(1)));
  EXPECT_DEATH(wheel.RunDue(At(Seconds(1)) - kNs, kNoMax), "CHECK");
  EXPECT_DEATH(wheel.Arm(At(Seconds(2)), Task()), "CHECK");
  wheel.Arm(At(Seconds(2)), [&] { wheel.RunDue(At(Seconds(2)), kNoMax); });
  EXPECT_DEATH(wheel.RunDue(At(Seconds(2)), kNoMax), "CHECK");
}

}  // namespace
}  // namespace denselet::reactor
