#include "tests/sim/core/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace denselet::sim {
namespace {

using sync::Phase;
using sync::WaitFor;

size_t ReachedExempt(const Coverage& coverage) {
  size_t reached = 0;
  for (const Exemption& exemption : coverage.Exemptions()) reached += exemption.reached;
  return reached;
}

TEST(Coverage, WhatIsDemandedIsMissingUntilItIsHit) {
  Coverage coverage;
  EXPECT_EQ(coverage.Missing().size(), coverage.legal());
  coverage.Hit(SimEvent::kEvicted, Phase::kTerminating, WaitFor::kPreStop);
  EXPECT_EQ(coverage.Missing().size(), coverage.legal() - 1);
  EXPECT_EQ(coverage.Lines().size(), 1u);
}

TEST(Coverage, WhatIsExemptIsToldWithItsReasonAndWhetherItWasReached) {
  Coverage coverage;
  EXPECT_EQ(ReachedExempt(coverage), 0u);
  coverage.Hit(SimEvent::kExited, Phase::kFinished, WaitFor::kRelease);
  EXPECT_EQ(coverage.Missing().size(), coverage.legal());
  EXPECT_EQ(ReachedExempt(coverage), 1u);
  EXPECT_EQ(coverage.Unexpected().size(), 0u);
  for (const Exemption& exemption : coverage.Exemptions()) {
    EXPECT_FALSE(exemption.reason.empty());
    EXPECT_GT(exemption.rows, 0u);
  }
}

TEST(Coverage, WhatCannotBeIsUnexpected) {
  Coverage coverage;
  coverage.Hit(SimEvent::kDeleted, Phase::kTerminated, WaitFor::kBackOff);
  coverage.Hit(SimFault::kEventLost, Phase::kSyncing, WaitFor::kRelease);
  EXPECT_EQ(coverage.Unexpected(), (std::vector<std::string>{"deleted in terminated/back-off",
                                                             "event lost in syncing/release"}));
  EXPECT_EQ(ReachedExempt(coverage), 0u);
}

TEST(Coverage, EveryEventIsDemandedSomewhereInAPodsLife) {
  const std::vector<SimPlace> places = SimPlaces();
  for (size_t i = 0; i < kSimEvents; ++i) {
    const auto event = static_cast<SimEvent>(i);
    EXPECT_TRUE(std::ranges::any_of(places, [event](const SimPlace& place) {
      return WhyNotDemanded(event, place).empty();
    })) << SimEventName(event);
  }
  for (size_t i = 0; i < kSimFaults; ++i) {
    const auto fault = static_cast<SimFault>(i);
    EXPECT_TRUE(std::ranges::any_of(places, [fault](const SimPlace& place) {
      return WhyNotDemanded(fault, place).empty();
    })) << SimFaultName(fault);
  }
}

}  // namespace
}  // namespace denselet::sim
