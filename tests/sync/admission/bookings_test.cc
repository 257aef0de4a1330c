#include "sync/admission/bookings.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "base/random.h"

namespace denselet::sync {
namespace {

std::shared_ptr<const PodNeeds> Pod(const std::string& uid, ResourceAmounts requests,
                                    std::vector<HostPort> ports = {}) {
  PodNeeds needs;
  needs.pod.uid = PodUid(uid);
  needs.requests = std::move(requests);
  needs.ports = std::move(ports);
  return std::make_shared<PodNeeds>(std::move(needs));
}

TEST(Bookings, WhatIsGivenBackIsFreeAgain) {
  Bookings bookings;
  bookings.Book(Pod("a", {{"cpu", 100}}, {{"0.0.0.0", "TCP", 80}}));
  EXPECT_EQ(bookings.Used("cpu"), 100);
  EXPECT_TRUE(bookings.Unbook(PodUid("a")));
  EXPECT_FALSE(bookings.Unbook(PodUid("a")));
  EXPECT_EQ(bookings.Used("cpu"), 0);
  EXPECT_EQ(bookings.pods(), 0);
  EXPECT_EQ(bookings.ports(), 0u);
}

TEST(Bookings, AnAddressOfAllTakesThePortFromEveryOther) {
  Bookings bookings;
  bookings.Book(Pod("a", {}, {{"10.0.0.1", "TCP", 80}, {"0.0.0.0", "UDP", 53}}));
  EXPECT_FALSE(bookings.IsPortFree({"10.0.0.1", "TCP", 80}));
  EXPECT_FALSE(bookings.IsPortFree({"0.0.0.0", "TCP", 80}));
  EXPECT_TRUE(bookings.IsPortFree({"10.0.0.2", "TCP", 80}));
  EXPECT_TRUE(bookings.IsPortFree({"10.0.0.1", "UDP", 80}));
  EXPECT_TRUE(bookings.IsPortFree({"10.0.0.1", "TCP", 81}));
  EXPECT_FALSE(bookings.IsPortFree({"10.0.0.9", "UDP", 53}));
}

TEST(Bookings, OneThatIsGoingFreesItsResourcesAtOnceAndItsPortsWhenItIsGone) {
  Bookings bookings;
  bookings.Book(Pod("a", {{"cpu", 100}}, {{"0.0.0.0", "TCP", 80}, {"0.0.0.0", "TCP", 80}}));
  bookings.MarkGoing(PodUid("a"));
  bookings.MarkGoing(PodUid("a"));
  EXPECT_EQ(bookings.Used("cpu"), 0);
  EXPECT_EQ(bookings.pods(), 0);
  EXPECT_FALSE(bookings.IsPortFree({"0.0.0.0", "TCP", 80}));
  EXPECT_TRUE(bookings.IsPortBecomingFree({"0.0.0.0", "TCP", 80}));
  bookings.Book(Pod("b", {}, {{"10.0.0.1", "TCP", 80}}));
  EXPECT_FALSE(bookings.IsPortBecomingFree({"0.0.0.0", "TCP", 80})) << "another has it, too";
  EXPECT_TRUE(bookings.IsPortBecomingFree({"10.0.0.2", "TCP", 80}));
  bookings.Unbook(PodUid("b"));
  EXPECT_TRUE(bookings.Staying().empty());
  bookings.Unbook(PodUid("a"));
  EXPECT_EQ(bookings.Used("cpu"), 0);
  EXPECT_TRUE(bookings.IsPortFree({"0.0.0.0", "TCP", 80}));
}

TEST(Bookings, OfThoseThatMakeRoomCountsWhatTheOtherDoesNotNeed) {
  Bookings bookings;
  bookings.Book(Pod("a", {{"cpu", 100}}, {{"0.0.0.0", "TCP", 80}}));
  bookings.Book(Pod("b", {{"cpu", 50}, {"memory", 7}}));
  bookings.Book(Pod("critical", {{"cpu", 120}, {"memory", 9}}));
  for (const char* uid : {"a", "b"}) bookings.MakeRoom(PodUid(uid), PodUid("critical"));
  EXPECT_EQ(bookings.Used("cpu"), 150);
  EXPECT_EQ(bookings.Leaving("cpu"), 30);
  EXPECT_EQ(bookings.Used("memory"), 9);
  EXPECT_EQ(bookings.Leaving("memory"), 0);
  EXPECT_EQ(bookings.pods(), 2);
  EXPECT_EQ(bookings.Leaving("pods"), 1);
  EXPECT_TRUE(bookings.IsPortBecomingFree({"0.0.0.0", "TCP", 80}));
  EXPECT_EQ(bookings.Staying().size(), 1U);
  EXPECT_EQ(bookings.rooms().at(PodUid("critical")), (std::set{PodUid("a"), PodUid("b")}));
  EXPECT_TRUE(bookings.Unbook(PodUid("a")));
  EXPECT_EQ(bookings.Used("cpu"), 120) << "the rest is the critical one's own";
  bookings.MarkStaying(PodUid("b"));
  EXPECT_EQ(bookings.Used("cpu"), 170);
  EXPECT_EQ(bookings.Used("memory"), 16);
  bookings.MakeRoom(PodUid("b"), PodUid("critical"));
  bookings.MarkGoing(PodUid("b"));
  EXPECT_EQ(bookings.Used("memory"), 9) << "dropped by its source";
  EXPECT_EQ(bookings.Leaving("pods"), 0);
  EXPECT_TRUE(bookings.rooms().empty());
}

// What it made room for comes no more, but it still runs.
TEST(Bookings, OneThatMakesRoomForOneThatGoesCountsItself) {
  Bookings bookings;
  bookings.Book(Pod("a", {{"cpu", 100}}));
  bookings.Book(Pod("critical", {{"cpu", 80}}));
  bookings.MakeRoom(PodUid("a"), PodUid("critical"));
  EXPECT_EQ(bookings.Used("cpu"), 100);
  bookings.MarkGoing(PodUid("critical"));
  EXPECT_EQ(bookings.Used("cpu"), 100);
  EXPECT_EQ(bookings.pods(), 1);
}

TEST(Bookings, SumsBeyondAllBoundsComeApartAgain) {
  Bookings bookings;
  for (const char* uid : {"a", "b", "c"}) bookings.Book(Pod(uid, {{"memory", INT64_MAX}}));
  EXPECT_EQ(bookings.Used("memory"), INT64_MAX);
  bookings.Unbook(PodUid("a"));
  bookings.Unbook(PodUid("b"));
  bookings.Unbook(PodUid("c"));
  EXPECT_EQ(bookings.Used("memory"), 0);
}

// Against a model that adds everything up each time.
TEST(Bookings, SumsAreAlwaysThoseOfThePodsThatStay) {
  SeededRandom random(3);
  Bookings bookings;
  std::map<std::string, std::pair<PodNeeds, bool>> model;  // with: going
  for (int step = 0; step < 5000; ++step) {
    const std::string uid = std::to_string(random.Below(30));
    const auto known = model.find(uid);
    if (known == model.end()) {
      const auto amount = static_cast<int64_t>(random.Below(1000));
      const auto pod = Pod(uid, {{"cpu", amount}, {"memory", 7}},
                           {{"0.0.0.0", "TCP", static_cast<int32_t>(1 + random.Below(9))}});
      bookings.Book(pod);
      model[uid] = {*pod, false};
    } else if (random.Below(3) == 0) {
      bookings.MarkGoing(PodUid(uid));
      known->second.second = true;
    } else {
      EXPECT_TRUE(bookings.Unbook(PodUid(uid)));
      model.erase(known);
    }
    int64_t cpu = 0, pods = 0;
    for (const auto& [name, pod] : model) {
      if (pod.second) continue;
      cpu += AmountOf(pod.first.requests, "cpu");
      ++pods;
    }
    ASSERT_EQ(bookings.Used("cpu"), cpu);
    ASSERT_EQ(bookings.pods(), pods);
    ASSERT_EQ(bookings.ports(), model.size());
    ASSERT_EQ(static_cast<int64_t>(bookings.Staying().size()), pods);
  }
}

}  // namespace
}  // namespace denselet::sync
