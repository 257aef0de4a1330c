// The core under a bounded number of seeds, those that once failed, and with a deliberate fault
// each.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/sim/core/core_scenario.h"
#include "tests/sim/seeds.h"
#include "tests/source_dir.h"

namespace denselet::sim {
namespace {

std::vector<uint64_t> RecordedSeeds() {
  std::ifstream file(tests::SourcePath("tests/sim/core/seeds.txt"));
  std::vector<uint64_t> seeds;
  std::string line;
  while (std::getline(file, line)) {
    if (!line.empty() && line[0] != '#') seeds.push_back(std::strtoull(line.c_str(), nullptr, 10));
  }
  return seeds;
}

TEST(Core, StaysSafeAndConverges) {
  uint64_t wishes = 0;
  uint64_t runs = 0;
  for (const uint64_t seed : Seeds(40)) {
    const CoreResult result = RunCoreScenario({.seed = seed});
    EXPECT_EQ(result.problems, std::vector<std::string>()) << "seed " << seed;
    EXPECT_GE(result.kills, 1u) << "seed " << seed;
    wishes += result.wishes;
    ++runs;
  }
  EXPECT_GE(wishes / runs, 100u);
}

TEST(Core, RecordedSeedsStayClean) {
  for (const uint64_t seed : RecordedSeeds()) {
    const CoreResult result = RunCoreScenario({.seed = seed});
    EXPECT_EQ(result.problems, std::vector<std::string>()) << "seed " << seed;
  }
}

TEST(Core, ASeedIsARun) {
  const CoreResult once = RunCoreScenario({.seed = 3});
  const CoreResult again = RunCoreScenario({.seed = 3});
  EXPECT_EQ(once.trace_hash, again.trace_hash);
  EXPECT_GT(once.trace_lines, 100u);
}

TEST(Core, WithoutEventsItEndsInTheSameState) {
  for (const uint64_t seed : Seeds(10)) {
    const CoreResult evented = RunCoreScenario({.seed = seed});
    const CoreResult relisted = RunCoreScenario({.seed = seed, .use_events = false});
    EXPECT_EQ(relisted.problems, std::vector<std::string>()) << "seed " << seed;
    EXPECT_EQ(evented.end_state, relisted.end_state) << "seed " << seed;
  }
}

// Where nothing changes by itself faster than lists can see, both ways decide the same.
TEST(Core, WithoutEventsItDoesTheSameInTheSameOrder) {
  for (const uint64_t seed : Seeds(20)) {
    const CoreResult evented = RunCoreScenario({.seed = seed, .quiet = true});
    const CoreResult relisted = RunCoreScenario({.seed = seed, .use_events = false, .quiet = true});
    EXPECT_EQ(evented.problems, std::vector<std::string>()) << "seed " << seed;
    EXPECT_EQ(relisted.problems, std::vector<std::string>()) << "seed " << seed;
    EXPECT_EQ(evented.history, relisted.history) << "seed " << seed;
  }
}

class CoreMutation : public testing::TestWithParam<size_t> {};

TEST_P(CoreMutation, IsNoticed) {
  constexpr uint64_t kSeedsMax = 2000;
  const Mutation& mutation = Mutations()[GetParam()];
  for (uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    if (!RunCoreScenario({.seed = seed, .mutation = &mutation}).problems.empty()) {
      RecordProperty("seed", std::to_string(seed));
      return;
    }
  }
  FAIL() << mutation.name << " was not noticed in " << kSeedsMax << " seeds";
}

INSTANTIATE_TEST_SUITE_P(Each, CoreMutation, testing::Range(size_t{0}, Mutations().size()),
                         [](const auto& which) {
                           std::string name(Mutations()[which.param].name);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace denselet::sim
