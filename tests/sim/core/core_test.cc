// The core under a bounded number of seeds, those that once failed, and with a deliberate fault
// each.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/sim/core/core_scenario.h"
#include "tests/sim/core/disturbances.h"
#include "tests/sim/seeds.h"
#include "tests/source_dir.h"

extern "C" [[gnu::weak]] void __asan_init();
extern "C" [[gnu::weak]] void __tsan_init();

namespace denselet::sim {
namespace {

using Problems = std::vector<std::string>;

// Sanitizers take an order of magnitude longer, and look for other things.
bool IsSlowBuild() { return __asan_init != nullptr || __tsan_init != nullptr; }

// Several tests, so that they run side by side: each takes every kParts-th seed.
constexpr size_t kParts = 8;
template <class Seed>
std::vector<Seed> PartOf(const std::vector<Seed>& seeds, size_t part) {
  std::vector<Seed> mine;
  for (size_t i = part; i < seeds.size(); i += kParts) mine.push_back(seeds[i]);
  return mine;
}

// As the file says how each was found.
std::vector<CoreRun> RecordedRuns() {
  std::ifstream file(tests::SourcePath("tests/sim/core/seeds.txt"));
  std::vector<CoreRun> runs;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    CoreRun run;
    std::string how;
    words >> run.seed >> how;
    run.quiet = how == "--quiet";
    runs.push_back(run);
  }
  return runs;
}

class CoreSeeds : public testing::TestWithParam<size_t> {};

TEST_P(CoreSeeds, StaysSafeAndConvergesAndEndsTheSameWithoutEvents) {
  Coverage coverage;
  for (const uint64_t seed : PartOf(FreshSeeds(IsSlowBuild() ? 8 : 40), GetParam())) {
    const CoreResult result = RunBothWays({.seed = seed});
    EXPECT_EQ(result.problems, Problems()) << "seed " << seed;
    EXPECT_GE(result.kills, 1u) << "seed " << seed;
    EXPECT_GE(result.wishes, 100u) << "seed " << seed;
    EXPECT_GE(result.pods, 3u) << "seed " << seed;
    EXPECT_GE(result.virtual_time, Minutes(10)) << "seed " << seed;
    coverage.Add(result.coverage);
  }
  EXPECT_EQ(coverage.Unexpected(), Problems());
}

TEST_P(CoreSeeds, RecordedOnesStayClean) {
  for (const CoreRun& run : PartOf(RecordedRuns(), GetParam())) {
    EXPECT_EQ(RunBothWays(run).problems, Problems()) << "seed " << run.seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Part, CoreSeeds, testing::Range<size_t>(0, kParts));

// A few seeds reach most of what ten thousand must reach all of (./dev sim --coverage).
TEST(Core, AFewSeedsReachMostOfWhatIsLegal) {
  Coverage coverage;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    coverage.Add(RunCoreScenario({.seed = seed}).coverage);
  }
  EXPECT_LT(coverage.Missing().size() * 2, coverage.legal());
}

TEST(Core, ASeedIsARun) {
  const CoreResult once = RunCoreScenario({.seed = 3});
  const CoreResult again = RunCoreScenario({.seed = 3});
  EXPECT_EQ(once.trace_hash, again.trace_hash);
  EXPECT_GT(once.trace_lines, 100u);
}

// Where nothing changes by itself faster than lists can see, both ways decide the same.
TEST(Core, WithoutEventsItDoesTheSameInTheSameOrder) {
  for (const uint64_t seed : Seeds(IsSlowBuild() ? 10 : 40)) {
    const CoreResult result = RunBothWays({.seed = seed, .quiet = true});
    EXPECT_EQ(result.problems, Problems()) << "seed " << seed;
  }
}

// What decides otherwise for events is seen where both ways are compared.
Problems ProblemsOf(const Mutation& mutation, uint64_t seed) {
  if (mutation.invariant == 12) {
    return RunBothWays({.seed = seed, .quiet = true, .mutation = &mutation}).problems;
  }
  return RunCoreScenario({.seed = seed, .mutation = &mutation}).problems;
}

class CoreMutation : public testing::TestWithParam<size_t> {};

TEST_P(CoreMutation, IsNoticed) {
  // A sanitizer looks at what faults do to memory, not at how soon they are noticed.
  const uint64_t seeds_max = IsSlowBuild() ? 2 : 2000;
  const Mutation& mutation = Mutations()[GetParam()];
  for (uint64_t seed = 1; seed <= seeds_max; ++seed) {
    if (!ProblemsOf(mutation, seed).empty()) {
      RecordProperty("seed", std::to_string(seed));
      return;
    }
  }
  if (!IsSlowBuild()) FAIL() << mutation.name << " was not noticed in " << seeds_max << " seeds";
}

INSTANTIATE_TEST_SUITE_P(Each, CoreMutation, testing::Range(size_t{0}, Mutations().size()),
                         [](const auto& which) {
                           std::string name(Mutations()[which.param].name);
                           std::erase(name, '-');
                           return name;
                         });

// Each run is clean for itself; only the order of what was done tells.
TEST(CoreMutations, WhatEventsHurryIsSeenByTheComparison) {
  if (IsSlowBuild()) return;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Problems problems = ProblemsOf(*FindMutation("hurry-on-hints"), seed);
    if (problems.empty()) continue;
    EXPECT_NE(problems.front().find("was treated otherwise without events"), std::string::npos)
        << problems.front();
    return;
  }
  FAIL();
}

// Not only the agent's own word tells that what was lost is not looked for.
TEST(CoreMutations, WhatIsLostAndNotLookedForStaysUndone) {
  if (IsSlowBuild()) return;
  for (const std::string name : {"ignore-lost-hints", "trust-before-list"}) {
    bool seen = false;
    for (uint64_t seed = 1; seed <= 2000 && !seen; ++seed) {
      // Where lists come anyway they make up for what was lost.
      if (name == "ignore-lost-hints" && !ListsOnlyAtAWord(seed)) continue;
      const CoreRun run{.seed = seed, .effects_only = true, .mutation = FindMutation(name)};
      seen = !RunCoreScenario(run).problems.empty();
    }
    EXPECT_TRUE(seen) << name;
  }
}

TEST(CoreMutations, EveryInvariantHasOne) {
  for (int invariant = 1; invariant <= 14; ++invariant) {
    EXPECT_TRUE(std::ranges::any_of(Mutations(), [invariant](const Mutation& m) {
      return m.invariant == invariant;
    })) << invariant;
  }
}

}  // namespace
}  // namespace denselet::sim
