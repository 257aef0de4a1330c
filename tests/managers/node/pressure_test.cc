#include "managers/node/pressure.h"

#include <gtest/gtest.h>

#include "kube/api/types.h"

namespace denselet::node {
namespace {

constexpr TimePoint kStart{Seconds(1000)};
constexpr Duration kTransition = Minutes(5);

PressureFacts Facts(uint64_t memory_available) {
  PressureFacts facts;
  facts.fill(SignalReading{.available = 500, .capacity = 1000});
  At(facts, PressureSignal::kMemoryAvailable) =
      SignalReading{.available = memory_available, .capacity = 1000};
  return facts;
}

PressureTracker Tracker() {
  return {{{PressureSignal::kMemoryAvailable, *EvictionThreshold::Parse("100")},
           {PressureSignal::kNodeFsAvailable, *EvictionThreshold::Parse("10%")},
           {PressureSignal::kNodeFsInodesFree, *EvictionThreshold::Parse("5%")}},
          kTransition};
}

TEST(PressureTracker, BelowTheThresholdThereIsPressureAndAtItThereIsNone) {
  PressureTracker tracker = Tracker();
  tracker.Observe(Facts(100), kStart);
  EXPECT_EQ(tracker.Now(kStart).memory, Pressure::kNo);
  tracker.Observe(Facts(99), kStart);
  EXPECT_EQ(tracker.Now(kStart), (Pressures{Pressure::kYes, Pressure::kNo, Pressure::kNo}));
}

TEST(PressureTracker, PressureStaysForAWhileAfterItsCause) {
  PressureTracker tracker = Tracker();
  tracker.Observe(Facts(1), kStart);
  tracker.Observe(Facts(900), kStart + Seconds(10));
  EXPECT_EQ(tracker.Now(kStart + Seconds(10)).memory, Pressure::kYes);
  tracker.Observe(Facts(900), kStart + kTransition);
  EXPECT_EQ(tracker.Now(kStart + kTransition).memory, Pressure::kNo);
}

TEST(PressureTracker, OneOfTheSignalsOfADiskIsEnough) {
  PressureTracker tracker = Tracker();
  PressureFacts facts = Facts(900);
  At(facts, PressureSignal::kNodeFsInodesFree) = SignalReading{.available = 49, .capacity = 1000};
  At(facts, PressureSignal::kNodeFsAvailable).reset();
  tracker.Observe(facts, kStart);
  EXPECT_EQ(tracker.Now(kStart).disk, Pressure::kYes);
}

TEST(PressureTracker, WhatWasNotReadOrLongAgoIsUnknown) {
  PressureTracker tracker = Tracker();
  EXPECT_EQ(tracker.Now(kStart), Pressures());
  PressureFacts facts = Facts(900);
  At(facts, PressureSignal::kNodeFsAvailable).reset();
  tracker.Observe(facts, kStart);
  EXPECT_EQ(tracker.Now(kStart), (Pressures{Pressure::kNo, Pressure::kUnknown, Pressure::kNo}));
  const TimePoint later = kStart + PressureTracker::kReadingAgeMax + Seconds(1);
  // Of PIDs nobody asked.
  EXPECT_EQ(tracker.Now(later), (Pressures{Pressure::kUnknown, Pressure::kUnknown, Pressure::kNo}));
}

TEST(PressureFacts, AreReadAsTheKubeletCountsThem) {
  PressureFacts facts = ParsePressureFacts(
      {{"/proc/meminfo", "MemTotal:  1000 kB\nMemFree: 10 kB\nInactive(file):  20 kB\n"},
       {"/proc/loadavg", "1.36 3.49 4.53 2/3518 3715089\n"},
       {"/proc/sys/kernel/threads-max", "4000\n"}});
  EXPECT_EQ(At(facts, PressureSignal::kMemoryAvailable), (SignalReading{30 << 10, 1000 << 10}));
  EXPECT_EQ(At(facts, PressureSignal::kPidAvailable), (SignalReading{482, 4000}));
  facts = ParsePressureFacts({{"/proc/meminfo", "MemTotal: 1000 kB\n"},
                              {"/proc/loadavg", "nonsense"},
                              {"/proc/sys/kernel/pid_max", "100\n"}});
  EXPECT_FALSE(At(facts, PressureSignal::kMemoryAvailable));
  EXPECT_FALSE(At(facts, PressureSignal::kPidAvailable));
}

TEST(NodeConfig, HasTheThresholdsOfPressureHardAndSoft) {
  kube::config::KubeletConfiguration config;
  auto& hard = *config.mutable_evictionhard();
  hard["memory.available"] = "100Mi";
  hard["nodefs.available"] = "0%";    // turned off
  hard["imagefs.available"] = "15%";  // not measured here
  (*config.mutable_evictionsoft())["pid.available"] = "10%";
  config.mutable_evictionpressuretransitionperiod()->set_duration(Duration(Seconds(7)).count());
  const Result<NodeConfig> node = MakeNodeConfig(config, {});
  ASSERT_TRUE(node) << node.error().message();
  ASSERT_EQ(node->pressure_thresholds.size(), 2u);
  EXPECT_EQ(node->pressure_thresholds[0].signal, PressureSignal::kMemoryAvailable);
  EXPECT_EQ(node->pressure_thresholds[1].signal, PressureSignal::kPidAvailable);
  EXPECT_EQ(node->pressure_transition_period, Seconds(7));
}

}  // namespace
}  // namespace denselet::node
