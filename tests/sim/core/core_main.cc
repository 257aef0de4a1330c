// ./dev sim: the whole core, seed by seed, on as many processes as asked for. Prints how many seeds
// a second; a seed that fails, or that its process dies of, says why, and how to see it again. Exit
// status 1 when one failed, or when --coverage found something that is legal and was never reached.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>
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
  } else if (word == "--effects-only") {
    arguments.run.effects_only = true;
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
  if (run.effects_only) command += " --effects-only";
  if (run.mutation != nullptr) command += " --mutation " + std::string(run.mutation->name);
  return command + " --trace";
}

// What a job has done, in memory that outlives its process.
class JobState {
 public:
  explicit JobState(std::span<uint64_t> words) : words_(words) {}
  static size_t Words() { return kFields + Coverage().counts().size(); }

  // The place in the row of seeds of the one that runs.
  uint64_t& at() { return words_[0]; }
  uint64_t& done() { return words_[1]; }
  uint64_t& failed() { return words_[2]; }
  uint64_t& finished() { return words_[3]; }
  std::span<uint64_t> reached() { return words_.subspan(kFields); }

 private:
  static constexpr size_t kFields = 4;
  std::span<uint64_t> words_;
};

CoreRun RunOf(const Arguments& arguments, uint64_t at) {
  CoreRun run = arguments.run;
  run.seed = arguments.first_seed + at;
  return run;
}

void TellLine(const CoreRun& run, const CoreResult& result) {
  std::printf("core seed %" PRIu64 " hash %016" PRIx64 " events %" PRIu64
              " virtual %s pods %" PRIu64 " wishes %" PRIu64 " kills %" PRIu64 "\n",
              run.seed, result.trace_hash, result.trace_lines,
              denselet::FormatDuration(result.virtual_time).c_str(), result.pods, result.wishes,
              result.kills);
}

// Every `jobs`-th seed from where it is on.
void RunSome(const Arguments& arguments, JobState job) {
  for (; job.at() < arguments.seeds; job.at() += arguments.jobs) {
    const CoreRun run = RunOf(arguments, job.at());
    const CoreResult result =
        arguments.both ? denselet::sim::RunBothWays(run) : denselet::sim::RunCoreScenario(run);
    if (arguments.lines) TellLine(run, result);
    for (size_t i = 0; i < job.reached().size(); ++i) {
      job.reached()[i] += result.coverage.counts()[i];
    }
    for (const std::string& problem : result.problems) {
      std::printf("core seed %" PRIu64 " FAILED: %s (again with: %s)\n", run.seed, problem.c_str(),
                  Again(run, arguments.both).c_str());
    }
    std::fflush(stdout);
    ++job.done();
    if (result.problems.empty()) continue;
    ++job.failed();
    if (arguments.until_first) break;
  }
  job.finished() = 1;
}

// The process of a job died of a seed: of a CHECK, of a sanitizer, of a signal.
void TellDeath(const Arguments& arguments, JobState job, int how) {
  const CoreRun run = RunOf(arguments, job.at());
  const std::string of = WIFSIGNALED(how) ? "of signal " + std::to_string(WTERMSIG(how))
                                          : "with status " + std::to_string(WEXITSTATUS(how));
  std::printf("core seed %" PRIu64 " FAILED: its process died %s (again with: %s)\n", run.seed,
              of.c_str(), Again(run, arguments.both).c_str());
  std::fflush(stdout);
  ++job.failed();
}

std::optional<pid_t> BeginProcess(const Arguments& arguments, JobState job) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child != 0) return child;
  RunSome(arguments, job);
  std::_Exit(0);
}

// One process a job; of one that dies another takes over what is left. False: there cannot be any.
bool RunInProcesses(const Arguments& arguments, std::vector<JobState>& jobs) {
  std::map<pid_t, JobState*> running;
  const auto begin = [&](JobState& job) {
    const std::optional<pid_t> child = BeginProcess(arguments, job);
    if (child) running[*child] = &job;
    return child.has_value();
  };
  for (JobState& job : jobs) {
    if (!begin(job)) return false;
  }
  while (!running.empty()) {
    int how = 0;
    const pid_t child = waitpid(-1, &how, 0);
    const auto found = running.find(child);
    if (found == running.end()) return false;
    JobState& job = *found->second;
    running.erase(found);
    if (job.finished() != 0) continue;
    TellDeath(arguments, job, how);
    if (arguments.until_first) continue;
    job.at() += arguments.jobs;
    if (!begin(job)) return false;
  }
  return true;
}

std::vector<JobState> MakeJobs(uint64_t count) {
  const size_t words = JobState::Words();
  const size_t bytes = count * words * sizeof(uint64_t);
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  std::vector<JobState> jobs;
  for (uint64_t i = 0; i < count; ++i) {
    jobs.emplace_back(std::span(static_cast<uint64_t*>(memory) + i * words, words));
    jobs.back().at() = i;
  }
  return jobs;
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
                 "[--effects-only] [--mutation NAME] [--verbosity N]\n",
                 argv[0]);
    return 2;
  }
  std::vector<JobState> jobs = MakeJobs(arguments.jobs);
  if (jobs.empty()) return 2;
  const denselet::reactor::RealClock clock;
  const denselet::TimePoint began = clock.Now();
  // A single one runs here, where a debugger finds it.
  if (arguments.seeds == 1) {
    RunSome(arguments, jobs.front());
  } else if (!RunInProcesses(arguments, jobs)) {
    return 2;
  }
  const double seconds = std::chrono::duration<double>(clock.Now() - began).count();
  Coverage coverage;
  uint64_t done = 0, failed = 0;
  for (JobState& job : jobs) {
    done += job.done();
    failed += job.failed();
    for (size_t i = 0; i < job.reached().size(); ++i) coverage.counts()[i] += job.reached()[i];
  }
  int status = failed == 0 ? 0 : 1;
  if (arguments.coverage && TellCoverage(coverage) != 0) status = 1;
  std::printf("core: %" PRIu64 " of %" PRIu64 " seeds in %.1f s, %.1f seeds/s\n", done,
              arguments.seeds, seconds, static_cast<double>(done) / seconds);
  return status;
}
