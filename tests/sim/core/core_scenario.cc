#include "tests/sim/core/core_scenario.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tests/sim/core/checks.h"
#include "tests/sim/core/core_world.h"
#include "tests/sim/core/disturbances.h"

namespace denselet::sim {
namespace {

constexpr Duration kTroubled = Minutes(5);
constexpr Duration kLength = Minutes(10);
constexpr Duration kConvergesWithin = Minutes(15);

class Scenario {
 public:
  explicit Scenario(const CoreRun& run) : core_(run), checks_(core_), disturbances_(core_) {
    core_.set_watchers({&checks_, &disturbances_});
  }

  CoreResult Run() {
    const TimePoint began = core_.Now();
    disturbances_.Begin(began + kTroubled);
    core_.StartTicking();
    RunUntil(began + kTroubled);
    disturbances_.MakePeace();
    Converge(core_.Now() + kConvergesWithin);
    RunUntil(began + kLength);
    if (clean()) {
      if (const std::string missing = checks_.NotConverged(); !missing.empty()) {
        core_.Problem("did not stay as it was: " + missing);
      }
    }
    CoreResult& result = core_.result();
    result.end_state = checks_.EndState();
    for (const auto& [uid, lines] : core_.model().history()) result.history[uid.value()] = lines;
    result.trace_hash = core_.world().trace().hash();
    result.trace_lines = core_.world().trace().lines();
    result.virtual_time = core_.Now() - began;
    result.pods = core_.pods().size();
    return std::move(result);
  }

 private:
  bool clean() { return core_.result().problems.empty(); }

  void RunUntil(TimePoint end) {
    while (core_.Now() < end && clean()) {
      if (!core_.Step()) return;
      checks_.CheckTurn();
    }
  }

  void Converge(TimePoint limit) {
    std::string missing = "never looked";
    while (clean() && core_.Now() < limit) {
      RunUntil(core_.Now() + Seconds(1));
      missing = checks_.NotConverged();
      if (missing.empty()) return;
    }
    if (clean()) core_.Problem("did not converge: " + missing);
  }

  CoreWorld core_;
  Checks checks_;
  Disturbances disturbances_;
};

// Containers that are stopped together are stopped in no order.
std::vector<std::string> InOrder(std::vector<std::string> done) {
  const auto stops = [](const std::string& line) {
    return line.starts_with("stop ") && !line.starts_with("stop sandbox");
  };
  for (auto begin = done.begin(); begin != done.end();) {
    const auto end = std::find_if_not(begin, done.end(), stops);
    std::sort(begin, end);
    begin = end == done.end() ? end : std::next(end);
  }
  return done;
}

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
  // Pods that only one of the runs had must be gone.
  std::map<std::string, std::pair<std::string, std::string>> ends;
  for (const auto& [uid, state] : evented.end_state) ends[uid].first = state;
  for (const auto& [uid, state] : relisted.end_state) ends[uid].second = state;
  for (const auto& [uid, both] : ends) {
    if (both.first == both.second) continue;
    evented.problems.push_back(uid + " runs" + both.first + " in the end, and without events" +
                               both.second);
  }
  if (run.quiet && evented.problems.empty()) {
    for (const auto& [uid, done] : evented.history) {
      const auto found = relisted.history.find(uid);
      if (found != relisted.history.end() && InOrder(found->second) == InOrder(done)) continue;
      std::string text = uid + " was treated otherwise without events:";
      for (const std::string& line : done) text += " " + line + ",";
      text += " against";
      if (found != relisted.history.end()) {
        for (const std::string& line : found->second) text += " " + line + ",";
      }
      evented.problems.push_back(text);
    }
  }
  evented.coverage.Add(relisted.coverage);
  return evented;
}

}  // namespace denselet::sim
