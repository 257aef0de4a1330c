// ./dev sim: the whole core, seed by seed, on as many processes as asked for. Prints how many seeds
// a second; a seed that fails says why, and how to see it again. Exit status 1 when one failed, or
// when --coverage found something that is legal and was never reached.
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "reactor/real_clock.h"
#include "tests/sim/core/core_scenario.h"

namespace {

using denselet::sim::CoreResult;
using denselet::sim::CoreRun;
using denselet::sim::Coverage;
using denselet::sim::Exemption;

struct Arguments {
  uint64_t first_seed = 1;
  uint64_t seeds = 20;
  uint64_t jobs = 1;
  bool lines = false;        // one a seed
  bool coverage = false;     // what was reached, and what was not
  bool both = false;         // with events and without, compared
  bool until_first = false;  // stop at the first seed that fails
  CoreRun run = {};
};

bool ParseNumber(const char* text, uint64_t& number) {
  char* end = nullptr;
  number = std::strtoull(text, &end, 10);
  return end != text && *end == '\0';
}

bool ParseFlag(const std::string& word, Arguments& arguments) {
  if (word == "--trace") {
    arguments.run.trace = denselet::sim::Trace::Mode::kPrint;
  } else if (word == "--lines") {
    arguments.lines = true;
  } else if (word == "--coverage") {
    arguments.coverage = true;
  } else if (word == "--both") {
    arguments.both = true;
  } else if (word == "--until-first") {
    arguments.until_first = true;
  } else if (word == "--relist-only") {
    arguments.run.use_events = false;
  } else if (word == "--quiet") {
    arguments.run.quiet = true;
  } else {
    return false;
  }
  return true;
}

bool Parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (ParseFlag(word, arguments)) continue;
    if (i + 1 == argc) return false;
    const char* value = argv[++i];
    if (word == "--mutation") {
      arguments.run.mutation = denselet::sim::FindMutation(value);
      if (arguments.run.mutation == nullptr) return false;
    } else if (word == "--verbosity") {
      uint64_t verbosity = 0;
      if (!ParseNumber(value, verbosity)) return false;
      arguments.run.verbosity = static_cast<int32_t>(verbosity);
    } else if (word == "--seeds") {
      if (!ParseNumber(value, arguments.seeds)) return false;
    } else if (word == "--from") {
      if (!ParseNumber(value, arguments.first_seed)) return false;
    } else if (word == "--jobs") {
      if (!ParseNumber(value, arguments.jobs) || arguments.jobs == 0) return false;
    } else if (word == "--seed") {
      if (!ParseNumber(value, arguments.first_seed)) return false;
      arguments.seeds = 1;
    } else {
      return false;
    }
  }
  return true;
}

std::string Again(const CoreRun& run, bool both) {
  std::string command = "./dev sim --seed " + std::to_string(run.seed);
  if (both) command += " --both";
  if (!both && !run.use_events) command += " --relist-only";
  if (run.quiet) command += " --quiet";
  if (run.mutation != nullptr) command += " --mutation " + std::string(run.mutation->name);
  return command + " --trace";
}

// Every `jobs`-th seed from the `job`-th on.
int RunSome(const Arguments& arguments, uint64_t job, Coverage& coverage) {
  int status = 0;
  for (uint64_t i = job; i < arguments.seeds; i += arguments.jobs) {
    CoreRun run = arguments.run;
    run.seed = arguments.first_seed + i;
    const CoreResult result =
        arguments.both ? denselet::sim::RunBothWays(run) : denselet::sim::RunCoreScenario(run);
    if (arguments.lines) {
      std::printf("core seed %" PRIu64 " hash %016" PRIx64 " events %" PRIu64
                  " virtual %s pods %" PRIu64 " wishes %" PRIu64 " kills %" PRIu64 "\n",
                  run.seed, result.trace_hash, result.trace_lines,
                  denselet::FormatDuration(result.virtual_time).c_str(), result.pods, result.wishes,
                  result.kills);
    }
    coverage.Add(result.coverage);
    for (const std::string& problem : result.problems) {
      std::printf("core seed %" PRIu64 " FAILED: %s (again with: %s)\n", run.seed, problem.c_str(),
                  Again(run, arguments.both).c_str());
      status = 1;
    }
    std::fflush(stdout);
    if (status != 0 && arguments.until_first) break;
  }
  return status;
}

bool WriteAll(int fd, const Coverage& coverage) {
  const auto& counts = coverage.counts();
  const char* at = reinterpret_cast<const char*>(counts.data());
  size_t left = counts.size() * sizeof counts[0];
  while (left > 0) {
    const ssize_t written = write(fd, at, left);
    if (written <= 0) return false;
    at += written;
    left -= static_cast<size_t>(written);
  }
  return true;
}

bool ReadAll(int fd, Coverage& coverage) {
  auto& counts = coverage.counts();
  char* at = reinterpret_cast<char*>(counts.data());
  size_t left = counts.size() * sizeof counts[0];
  while (left > 0) {
    const ssize_t got = read(fd, at, left);
    if (got <= 0) return false;
    at += got;
    left -= static_cast<size_t>(got);
  }
  return true;
}

struct Child {
  pid_t pid;
  int results;
};

// One process a job; what each has reached comes back through a pipe.
int RunInProcesses(const Arguments& arguments, Coverage& coverage) {
  std::vector<Child> children;
  for (uint64_t job = 0; job < arguments.jobs; ++job) {
    int ends[2];
    if (pipe(ends) != 0) return 2;
    const pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) {
      Coverage mine;
      const int status = RunSome(arguments, job, mine);
      std::_Exit(WriteAll(ends[1], mine) ? status : 2);
    }
    close(ends[1]);
    children.push_back({child, ends[0]});
  }
  int status = 0;
  for (const Child& child : children) {
    Coverage theirs;
    if (ReadAll(child.results, theirs)) coverage.Add(theirs);
    close(child.results);
    int how = 0;
    if (waitpid(child.pid, &how, 0) != child.pid || !WIFEXITED(how) || WEXITSTATUS(how) != 0) {
      status = 1;
    }
  }
  return status;
}

int TellCoverage(const Coverage& coverage) {
  for (const std::string& line : coverage.Lines()) std::printf("reached %s\n", line.c_str());
  const std::vector<std::string> missing = coverage.Missing();
  for (const std::string& name : missing) std::printf("NEVER REACHED: %s\n", name.c_str());
  const std::vector<std::string> unexpected = coverage.Unexpected();
  for (const std::string& name : unexpected) std::printf("NOT LEGAL: %s\n", name.c_str());
  size_t exempt = 0;
  for (const Exemption& e : coverage.Exemptions()) {
    std::printf("exempt %zu, reached %zu of these: %.*s\n", e.rows, e.reached,
                static_cast<int>(e.reason.size()), e.reason.data());
    exempt += e.rows;
  }
  std::printf("core: reached %zu of %zu that are legal; %zu more are exempt\n",
              coverage.legal() - missing.size(), coverage.legal(), exempt);
  return missing.empty() && unexpected.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, arguments)) {
    std::fprintf(stderr,
                 "usage: %s [--seeds N] [--from SEED] [--seed SEED] [--jobs N] [--trace] [--lines] "
                 "[--coverage] [--both] [--until-first] [--relist-only] [--quiet] "
                 "[--mutation NAME] [--verbosity N]\n",
                 argv[0]);
    return 2;
  }
  const denselet::reactor::RealClock clock;
  const denselet::TimePoint began = clock.Now();
  Coverage coverage;
  int status =
      arguments.jobs == 1 ? RunSome(arguments, 0, coverage) : RunInProcesses(arguments, coverage);
  const double seconds = std::chrono::duration<double>(clock.Now() - began).count();
  if (arguments.coverage && TellCoverage(coverage) != 0) status = 1;
  std::printf("core: %" PRIu64 " seeds in %.1f s, %.1f seeds/s\n", arguments.seeds, seconds,
              static_cast<double>(arguments.seeds) / seconds);
  return status;
}
