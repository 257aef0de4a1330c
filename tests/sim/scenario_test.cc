#include "tests/sim/scenario.h"

#include <gtest/gtest.h>

namespace denselet::sim {
namespace {

TEST(ReactorScenario, HoldsForASampleOfSeeds) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const ScenarioResult result = RunReactorScenario(seed, Trace::Mode::kHash);
    for (const std::string& problem : result.problems) {
      ADD_FAILURE() << problem << " (./dev sim --seed " << seed << " --trace)";
    }
  }
}

TEST(ReactorScenario, ASeedIsOneRun) {
  const ScenarioResult first = RunReactorScenario(42, Trace::Mode::kHash);
  const ScenarioResult again = RunReactorScenario(42, Trace::Mode::kHash);
  const ScenarioResult other = RunReactorScenario(43, Trace::Mode::kHash);
  EXPECT_EQ(first.trace_hash, again.trace_hash);
  EXPECT_EQ(first.trace_lines, again.trace_lines);
  EXPECT_NE(first.trace_hash, other.trace_hash);
}

}  // namespace
}  // namespace denselet::sim
