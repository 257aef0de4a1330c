#include "sync/core/dead_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/sim/world.h"

namespace denselet::sync {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

using Pods = std::map<PodUid, DeadOfPod>;

DeadOfPod Living(std::vector<uint32_t> by_name) { return {.by_name = std::move(by_name)}; }
DeadOfPod Ended(std::vector<uint32_t> by_name, int64_t made) {
  return {.by_name = std::move(by_name), .newest = WallTime(Seconds(made)), .may_go = true};
}
PodUid Uid(const std::string& uid) { return PodUid(uid); }

TEST(JudgeDead, FewEnoughAreLeftAlone) {
  EXPECT_EQ(JudgeDead({}, 0), DeadVerdict{});
  EXPECT_EQ(JudgeDead({{Uid("a"), Living({3, 2})}}, 5), DeadVerdict{});
}

TEST(JudgeDead, EveryNameKeepsTheSameNumberFirst) {
  const DeadVerdict verdict =
      JudgeDead({{Uid("a"), Living({5})}, {Uid("b"), Living({2, 1})}, {Uid("c"), Living({3})}}, 8);
  EXPECT_EQ(verdict.per_name_max, 2u);
  EXPECT_THAT(verdict.trimmed, ElementsAre(Uid("a"), Uid("c")));
  EXPECT_THAT(verdict.dropped, IsEmpty());
}

TEST(JudgeDead, ALivingPodKeepsOneOfEachName) {
  const DeadVerdict verdict = JudgeDead({{Uid("a"), Living({2})}, {Uid("b"), Living({1})}}, 0);
  EXPECT_EQ(verdict.per_name_max, 1u);
  EXPECT_THAT(verdict.trimmed, ElementsAre(Uid("a")));
  EXPECT_THAT(verdict.dropped, IsEmpty());
}

TEST(JudgeDead, ThenThoseThatEndedGoTheOldestFirst) {
  const Pods pods = {{Uid("a"), Ended({1}, 30)},
                     {Uid("b"), Ended({1, 1}, 10)},
                     {Uid("c"), Living({1})},
                     {Uid("d"), Ended({1}, 20)}};
  EXPECT_THAT(JudgeDead(pods, 4).dropped, ElementsAre(Uid("b")));
  EXPECT_THAT(JudgeDead(pods, 2).dropped, ElementsAre(Uid("b"), Uid("d")));
  EXPECT_THAT(JudgeDead(pods, 0).dropped, ElementsAre(Uid("b"), Uid("d"), Uid("a")));
}

TEST(CountDead, CountsWhatHasExitedByName) {
  ObservedPod pod;
  const auto add = [&pod](const char* name, uint32_t attempt, ContainerState state, int made) {
    pod.containers.push_back(
        {.name = name, .attempt = attempt, .state = state, .created = WallTime(Seconds(made))});
  };
  add("a", 2, ContainerState::kRunning, 9);
  add("a", 1, ContainerState::kExited, 5);
  add("a", 0, ContainerState::kExited, 4);
  add("b", 0, ContainerState::kCreated, 8);
  add("c", 0, ContainerState::kExited, 3);
  const DeadOfPod dead = CountDead(pod, false);
  EXPECT_THAT(dead.by_name, ElementsAre(2, 1));
  EXPECT_EQ(dead.newest, WallTime(Seconds(5)));
}

class DeadBoundTest : public testing::Test {
 protected:
  void Run(Duration length) { world_.RunUntil(After(world_.clock().Now(), length)); }

  sim::World world_{{.seed = 1, .shards = 1}};
  bool full_ = false;
  std::map<std::string, std::string> orders_;
  DeadBound bound_{world_.loop(0), 3, [this](const PodUid& pod, const KeepLess& order) -> Status {
                     if (full_) return Error(ErrorCode::kOverloaded, "full");
                     orders_[pod.value()] =
                         order.nothing ? "nothing" : std::to_string(order.per_name_max);
                     return Ok();
                   }};
};

TEST_F(DeadBoundTest, TellsThoseWhoHaveTooManyAfterAPause) {
  bound_.Set(Uid("a"), Living({3}));
  Run(Minutes(1));
  EXPECT_THAT(orders_, IsEmpty());
  bound_.Set(Uid("b"), Ended({1}, 1));
  bound_.Set(Uid("c"), Ended({1}, 2));
  bound_.Set(Uid("d"), Ended({1}, 3));
  EXPECT_THAT(orders_, IsEmpty());
  Run(DeadBound::kPause + Seconds(1));
  EXPECT_THAT(orders_, UnorderedElementsAre(Pair("a", "1"), Pair("b", "nothing")));
}

TEST_F(DeadBoundTest, WhatIsGoneDoesNotCount) {
  bound_.Set(Uid("a"), Living({3}));
  bound_.Set(Uid("b"), Ended({2}, 1));
  bound_.Set(Uid("b"), {});
  EXPECT_EQ(bound_.total(), 3u);
  Run(Minutes(1));
  EXPECT_THAT(orders_, IsEmpty());
}

TEST_F(DeadBoundTest, AnOrderThatDoesNotFitIsSentAgain) {
  full_ = true;
  bound_.Set(Uid("a"), Living({4}));
  Run(Minutes(1));
  full_ = false;
  Run(Seconds(1));
  EXPECT_THAT(orders_, ElementsAre(Pair("a", "3")));
}

}  // namespace
}  // namespace denselet::sync
