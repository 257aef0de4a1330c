#include "tests/sim/core/core_scenario.h"

#include <algorithm>
#include <utility>

#include "tests/sim/core/admission_checks.h"
#include "tests/sim/core/checks.h"
#include "tests/sim/core/comparison.h"
#include "tests/sim/core/core_world.h"
#include "tests/sim/core/disturbances.h"
#include "tests/sim/core/server_checks.h"
#include "tests/sim/core/status_checks.h"

namespace denselet::sim {
namespace {

constexpr Duration kTroubled = Minutes(5);
constexpr Duration kLength = Minutes(10);
// Many times what a burst takes: who is still at work then will not come to an end.
constexpr uint64_t kTurnsAtOnceMax = 20'000;
constexpr Duration kConvergesWithin = Minutes(15);
// What was done last is told to the API server by then.
constexpr Duration kToldWithin = Minutes(1);

class Scenario {
 public:
  explicit Scenario(const CoreRun& run)
      : core_(run),
        checks_(core_),
        statuses_(core_),
        server_(core_),
        admission_(core_),
        disturbances_(core_) {
    core_.set_watchers({&checks_, &statuses_, &server_, &admission_, &disturbances_});
  }

  CoreResult Run() {
    const TimePoint began = core_.Now();
    disturbances_.Begin(began + kTroubled);
    core_.StartTicking();
    RunUntil(began + kTroubled);
    disturbances_.MakePeace();
    Converge(core_.Now() + kConvergesWithin);
    RunUntil(std::max(began + kLength, After(core_.Now(), kToldWithin)));
    checks_.CheckTurn();
    if (clean()) {
      if (const std::string missing = NotConverged(); !missing.empty()) {
        core_.Problem("did not stay as it was: " + missing);
      }
    }
    CoreResult& result = core_.result();
    if (clean() && result.wishes < kWishesMin) {
      core_.Problem("the sources had only " + std::to_string(result.wishes) + " wishes");
    }
    result.end_state = checks_.EndState();
    result.untouched = checks_.UntouchedState();
    for (const auto& [uid, lines] : core_.model().history()) result.history[uid.value()] = lines;
    for (const auto& [uid, pod] : core_.pods()) {
      if (pod.grace_seconds == 0) result.without_grace.insert(uid.value());
    }
    result.trace_hash = core_.world().trace().hash();
    result.trace_lines = core_.world().trace().lines();
    result.virtual_time = core_.Now() - began;
    result.pods = core_.pods().size();
    return std::move(result);
  }

 private:
  std::string NotConverged() {
    std::string missing = checks_.NotConverged();
    if (missing.empty()) missing = statuses_.NotTrue();
    return missing.empty() ? server_.NotTrue() : missing;
  }

  bool clean() { return core_.result().problems.empty(); }

  void RunUntil(TimePoint end) {
    while (core_.Now() < end && clean()) {
      const uint64_t turns = core_.world().turns();
      const TimePoint before = core_.Now();
      if (!core_.Step()) return;
      if (core_.world().turns() != turns) {
        checks_.CheckTurn();
        admission_.CheckTurn();
      }
      if (core_.Now() != before) moved_at_turn_ = turns;
      if (turns > moved_at_turn_ + kTurnsAtOnceMax) core_.Problem("time stands still");
    }
  }

  void Converge(TimePoint limit) {
    std::string missing = "never looked";
    while (clean() && core_.Now() < limit) {
      RunUntil(core_.Now() + Seconds(1));
      missing = NotConverged();
      if (missing.empty()) return;
    }
    if (clean()) core_.Problem("did not converge: " + missing);
  }

  CoreWorld core_;
  uint64_t moved_at_turn_ = 0;  // when time last went on
  Checks checks_;
  StatusChecks statuses_;
  ServerChecks server_;
  AdmissionChecks admission_;
  Disturbances disturbances_;
};

}  // namespace

CoreResult RunCoreScenario(const CoreRun& run) { return Scenario(run).Run(); }

CoreResult RunBothWays(const CoreRun& run) {
  CoreRun other = run;
  other.use_events = false;
  CoreResult evented = RunCoreScenario(run);
  if (!evented.problems.empty()) return evented;
  const CoreResult relisted = RunCoreScenario(other);
  for (const std::string& problem : relisted.problems) {
    evented.problems.push_back("without events: " + problem);
  }
  if (!relisted.problems.empty()) return evented;
  evented.problems = DifferentEnds(evented, relisted);
  if (run.quiet && evented.problems.empty()) {
    evented.problems = DifferentWays(evented, relisted);
  }
  evented.coverage.Add(relisted.coverage);
  return evented;
}

}  // namespace denselet::sim
