// The whole core on virtual time: a seed draws shards, pods, wishes, faults and kills of the agent;
// after the trouble everything must converge. Safety is checked at every request and every turn.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "tests/sim/core/coverage.h"
#include "tests/sim/core/mutations.h"
#include "tests/sim/trace.h"

namespace denselet::sim {

// What the sources tell in every run, at least.
inline constexpr uint64_t kWishesMin = 100;

struct CoreRun {
  uint64_t seed = 1;
  Trace::Mode trace = Trace::Mode::kHash;
  int32_t verbosity = 0;  // of the agent's log, which a printed trace contains
  bool use_events = true;
  // Nothing fails, and what happens to a pod is so far apart that it comes to rest in between.
  bool quiet = false;
  // Without the checks that ask the agent itself what it has seen: what is left sees effects.
  bool effects_only = false;
  const Mutation* mutation = nullptr;
};

struct CoreResult {
  uint64_t trace_hash = 0;
  uint64_t trace_lines = 0;
  Duration virtual_time = {};
  std::vector<std::string> problems = {};
  Coverage coverage = {};
  uint64_t wishes = 0;
  uint64_t kills = 0;
  uint64_t deaths = 0;  // of these, under the work of a pod
  uint64_t pods = 0;
  // For comparing runs: of every pod what there is in the end, what was done about it, and how each
  // of its lives ended.
  std::map<std::string, std::string> end_state = {};
  // The same of pods to which nothing happened: what the API server shows, too.
  std::map<std::string, std::string> untouched = {};
  std::map<std::string, std::vector<std::string>> history = {};
  std::map<std::string, std::vector<std::string>> endings = {};
  std::set<std::string> without_grace = {};  // pods whose containers may all be stopped at once
};

CoreResult RunCoreScenario(const CoreRun& run);

// With events and without: both must be clean and end in the same state; where the seed is quiet,
// they must do the same in the same order. Answers with the first, and all problems.
CoreResult RunBothWays(const CoreRun& run);

}  // namespace denselet::sim
