#include "sync/admission/preemption.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace denselet::sync {
namespace {

PodNeeds Pod(const std::string& uid, QosClass qos, ResourceAmounts reclaimable) {
  PodNeeds needs;
  needs.pod.uid = PodUid(uid);
  needs.qos = qos;
  needs.reclaimable = std::move(reclaimable);
  return needs;
}

PodNeeds Critical() {
  PodNeeds needs = Pod("critical", QosClass::kBurstable, {});
  needs.critical = true;
  return needs;
}

std::string Chosen(const std::deque<PodNeeds>& others, const std::vector<Shortage>& shortages) {
  std::vector<const PodNeeds*> pods;
  for (const PodNeeds& pod : others) pods.push_back(&pod);
  const auto chosen = ChoosePodsToPreempt(Critical(), pods, shortages);
  if (!chosen) return chosen.error().message();
  std::string text;
  for (const PodUid& uid : *chosen) text += uid.value() + " ";
  return text;
}

constexpr auto kGuaranteed = QosClass::kGuaranteed;
constexpr auto kBurstable = QosClass::kBurstable;
constexpr auto kBestEffort = QosClass::kBestEffort;

TEST(Preemption, TheSmallestThatIsEnoughGoes) {
  EXPECT_EQ(Chosen({Pod("large", kBurstable, {{"memory", 500}}),
                    Pod("enough", kBurstable, {{"memory", 120}}),
                    Pod("small", kBurstable, {{"memory", 50}})},
                   {{"memory", 100, 0, 0}}),
            "enough ");
}

TEST(Preemption, CheapClassesGoBeforeDearOnes) {
  const std::deque<PodNeeds> pods = {
      Pod("g", kGuaranteed, {{"cpu", 100}}), Pod("b1", kBurstable, {{"cpu", 60}}),
      Pod("b2", kBurstable, {{"cpu", 60}}), Pod("e", kBestEffort, {})};
  EXPECT_EQ(Chosen(pods, {{"cpu", 100, 0, 0}}), "b2 b1 ");
  EXPECT_EQ(Chosen(pods, {{"cpu", 200, 0, 0}}), "b2 b1 g ");
  EXPECT_EQ(Chosen(pods, {{"pods", 1, 110, 110}}), "e ");
}

TEST(Preemption, WhatCannotBeMetPreemptsNobody) {
  EXPECT_EQ(
      Chosen({Pod("b", kBurstable, {{"cpu", 60}})}, {{"cpu", 100, 0, 0}, {"memory", 5, 0, 0}}),
      "no set of running pods found to reclaim resources: [(res: cpu, q: 40), (res: memory, q: "
      "5), ]");
}

TEST(Preemption, CriticalOnesGoForHigherPrioritiesOnly) {
  PodNeeds low = Critical(), high = Critical();
  EXPECT_FALSE(MayPreempt(high, low)) << "neither has a priority";
  low.priority = 2'000'000'000;
  high.priority = 2'000'001'000;
  EXPECT_TRUE(MayPreempt(high, low));
  EXPECT_FALSE(MayPreempt(low, high));
  PodNeeds plain;
  EXPECT_TRUE(MayPreempt(low, plain));
  EXPECT_FALSE(MayPreempt(plain, low));
}

}  // namespace
}  // namespace denselet::sync
