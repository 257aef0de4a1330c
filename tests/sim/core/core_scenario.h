// The whole core on virtual time: a seed draws shards, pods, wishes, faults and kills of the agent;
// after the trouble everything must converge. Safety is checked at every request and every turn.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "tests/sim/core/coverage.h"
#include "tests/sim/core/mutations.h"
#include "tests/sim/trace.h"

namespace denselet::sim {

struct CoreRun {
  uint64_t seed = 1;
  Trace::Mode trace = Trace::Mode::kHash;
  bool use_events = true;
  // Nothing fails, and what happens is far apart: further than lists are.
  bool quiet = false;
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
  uint64_t pods = 0;
  // For comparing runs: of every pod what there is in the end, and what was done about it.
  std::map<std::string, std::string> end_state = {};
  std::map<std::string, std::vector<std::string>> history = {};
};

CoreResult RunCoreScenario(const CoreRun& run);

// With events and without: both must be clean and end in the same state; where the seed is quiet,
// they must do the same in the same order. Answers with the first, and all problems.
CoreResult RunBothWays(const CoreRun& run);

}  // namespace denselet::sim
