// ./dev sim: the whole core, seed by seed, on as many processes as asked for. Prints how many seeds
// a second; a seed that fails says why, and how to see it again. Exit status 1 when one failed.
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "reactor/real_clock.h"
#include "tests/sim/core/core_scenario.h"

namespace {

using denselet::sim::CoreResult;
using denselet::sim::CoreRun;

struct Arguments {
  uint64_t first_seed = 1;
  uint64_t seeds = 20;
  uint64_t jobs = 1;
  bool lines = false;     // one a seed
  bool coverage = false;  // what was reached
  CoreRun run = {};
};

bool ParseNumber(const char* text, uint64_t& number) {
  char* end = nullptr;
  number = std::strtoull(text, &end, 10);
  return end != text && *end == '\0';
}

bool Parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "--trace") {
      arguments.run.trace = denselet::sim::Trace::Mode::kPrint;
    } else if (word == "--lines") {
      arguments.lines = true;
    } else if (word == "--coverage") {
      arguments.coverage = true;
    } else if (word == "--relist-only") {
      arguments.run.use_events = false;
    } else if (word == "--quiet") {
      arguments.run.quiet = true;
    } else if (word == "--mutation" && more) {
      arguments.run.mutation = denselet::sim::FindMutation(argv[++i]);
      if (arguments.run.mutation == nullptr) return false;
    } else if (word == "--seeds" && more) {
      if (!ParseNumber(argv[++i], arguments.seeds)) return false;
    } else if (word == "--from" && more) {
      if (!ParseNumber(argv[++i], arguments.first_seed)) return false;
    } else if (word == "--jobs" && more) {
      if (!ParseNumber(argv[++i], arguments.jobs) || arguments.jobs == 0) return false;
    } else if (word == "--seed" && more) {
      if (!ParseNumber(argv[++i], arguments.first_seed)) return false;
      arguments.seeds = 1;
    } else {
      return false;
    }
  }
  return true;
}

// Every `jobs`-th seed from the `job`-th on.
int RunSome(const Arguments& arguments, uint64_t job) {
  int status = 0;
  std::map<std::string, uint64_t> coverage;
  for (uint64_t i = job; i < arguments.seeds; i += arguments.jobs) {
    CoreRun run = arguments.run;
    run.seed = arguments.first_seed + i;
    const CoreResult result = denselet::sim::RunCoreScenario(run);
    if (arguments.lines) {
      std::printf("core seed %" PRIu64 " hash %016" PRIx64 " events %" PRIu64 " virtual %s\n",
                  run.seed, result.trace_hash, result.trace_lines,
                  denselet::FormatDuration(result.virtual_time).c_str());
    }
    for (const auto& [what, count] : result.coverage) coverage[what] += count;
    for (const std::string& problem : result.problems) {
      std::printf("core seed %" PRIu64 " FAILED: %s (again with: ./dev sim --seed %" PRIu64
                  " --trace)\n",
                  run.seed, problem.c_str(), run.seed);
      status = 1;
    }
    std::fflush(stdout);
  }
  if (arguments.coverage) {
    for (const auto& [what, count] : coverage) {
      std::printf("reached %" PRIu64 " times: %s\n", count, what.c_str());
    }
  }
  std::fflush(stdout);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, arguments)) {
    std::fprintf(stderr,
                 "usage: %s [--seeds N] [--from SEED] [--seed SEED] [--jobs N] [--trace] [--lines] "
                 "[--coverage] [--relist-only] [--quiet] [--mutation NAME]\n",
                 argv[0]);
    return 2;
  }
  const denselet::reactor::RealClock clock;
  const denselet::TimePoint began = clock.Now();
  int status = 0;
  if (arguments.jobs == 1) {
    status = RunSome(arguments, 0);
  } else {
    std::vector<pid_t> children;
    for (uint64_t job = 0; job < arguments.jobs; ++job) {
      const pid_t child = fork();
      if (child < 0) return 2;
      if (child == 0) std::_Exit(RunSome(arguments, job));
      children.push_back(child);
    }
    for (const pid_t child : children) {
      int how = 0;
      if (waitpid(child, &how, 0) != child || !WIFEXITED(how) || WEXITSTATUS(how) != 0) status = 1;
    }
  }
  const double seconds = std::chrono::duration<double>(clock.Now() - began).count();
  std::printf("core: %" PRIu64 " seeds in %.1f s, %.1f seeds/s\n", arguments.seeds, seconds,
              static_cast<double>(arguments.seeds) / seconds);
  return status;
}
