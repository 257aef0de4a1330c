#include "tests/sim/core/coverage.h"

#include <algorithm>
#include <array>
#include <functional>
#include <variant>

#include "base/check.h"

namespace denselet::sim {
namespace {

using sync::CallState;
using sync::EndReason;
using sync::KillReason;
using sync::Phase;
using sync::WaitFor;

constexpr size_t kPhases = 4;
constexpr size_t kWaits = sync::kWaitForCount;
constexpr size_t kActions = std::variant_size_v<sync::Action>;
constexpr size_t kKillReasons = 9;
constexpr size_t kEndReasons = 6;
constexpr size_t kCallStates = 5;

constexpr std::array<std::string_view, kSimEvents> kEventNames{
    "deleted",    "removed",         "wished again",    "replaced",        "changed",
    "debugged",   "told again",      "evicted",         "exited",          "sandbox died",
    "state lost", "liveness failed", "runtime crashed", "machine crashed", "agent killed",
    "API outage", "node not ready",  "disk full"};
constexpr std::array<std::string_view, kSimFaults> kFaultNames{
    "not sent", "down", "refused",     "lost before", "lost after",
    "late",     "hang", "leaf failed", "leaf hung"};
constexpr std::array<std::string_view, kActions> kActionNames{
    "wait",        "read",       "prepare",    "mount-volumes",   "run-sandbox",    "ensure-images",
    "create",      "start",      "post-start", "stop-containers", "stop-sandboxes", "remove",
    "enter-phase", "record-end", "release",    "remove-logs",     "nothing"};
constexpr std::array<std::string_view, kKillReasons> kKillNames{
    "none",          "startup probe", "liveness probe", "changed",  "postStart failed",
    "unknown state", "duplicate",     "restart all",    "pod stops"};
constexpr std::array<std::string_view, kEndReasons> kEndNames{"deleted",  "API terminal", "killed",
                                                              "deadline", "completed",    "orphan"};
constexpr std::array<std::string_view, kCallStates> kStateNames{"none", "in flight", "done",
                                                                "failed", "unknown"};
constexpr std::array<std::string_view, 9> kCallNames{
    "run sandbox", "stop sandbox", "remove sandbox", "create", "start",
    "postStart",   "preStop",      "stop",           "remove"};

// Where the parts of the table begin.
constexpr size_t kOfEvents = 0;
constexpr size_t kOfFaults = kOfEvents + kSimEvents * kPhases * kWaits;
constexpr size_t kOfActions = kOfFaults + kSimFaults * kPhases * kWaits;
constexpr size_t kOfWaits = kOfActions + kPhases * kActions;
constexpr size_t kOfKills = kOfWaits + kPhases * kWaits;
constexpr size_t kOfEnds = kOfKills + kKillReasons;
constexpr size_t kOfCalls = kOfEnds + kEndReasons;
constexpr size_t kAll = kOfCalls + kCallNames.size() * kCallStates;

size_t Place(Phase phase, WaitFor wait) {
  return static_cast<size_t>(phase) * kWaits + static_cast<size_t>(wait);
}

bool IsOneOf(WaitFor wait, std::initializer_list<WaitFor> those) {
  return std::ranges::find(those, wait) != those.end();
}

// Who waits for what in which phase.
bool LegalWait(Phase phase, WaitFor wait) {
  switch (phase) {
    case Phase::kSyncing:
      return !IsOneOf(wait, {WaitFor::kEndRecord, WaitFor::kRelease, WaitFor::kRemovalAllowed});
    case Phase::kTerminating:
      return IsOneOf(
          wait, {WaitFor::kRead, WaitFor::kReadRetry, WaitFor::kRuntime, WaitFor::kSandboxRun,
                 WaitFor::kSandboxStop, WaitFor::kSandboxRetry, WaitFor::kCreate, WaitFor::kStart,
                 WaitFor::kPreStop, WaitFor::kStopTurn, WaitFor::kStop, WaitFor::kStopRetry,
                 WaitFor::kEndRecord});
    // A sandbox whose making was given up can turn up late; no container can, without one.
    case Phase::kTerminated:
      return IsOneOf(wait, {WaitFor::kRead, WaitFor::kReadRetry, WaitFor::kRuntime,
                            WaitFor::kSandboxStop, WaitFor::kSandboxRetry, WaitFor::kRelease});
    case Phase::kFinished:
      return IsOneOf(wait, {WaitFor::kRead, WaitFor::kReadRetry, WaitFor::kRuntime,
                            WaitFor::kSandboxStop, WaitFor::kSandboxRetry, WaitFor::kRemove,
                            WaitFor::kRemoveRetry, WaitFor::kRelease, WaitFor::kRemovalAllowed});
  }
  return false;
}

// Where something can hit a pod: one that is through rests in its last phase until its wish is
// gone.
bool LegalPlace(Phase phase, WaitFor wait) {
  return LegalWait(phase, wait) || (phase == Phase::kFinished && wait == WaitFor::kChange);
}

// A sandbox whose making was given up turns up when its pod is all but gone: the one way to these
// places. They are reached (that is demanded), but so rarely and for so short a time that not every
// event is demanded in them too.
bool IsFleeting(Phase phase, WaitFor wait) {
  const bool late = IsOneOf(wait, {WaitFor::kSandboxStop, WaitFor::kSandboxRetry});
  // Its logs go when all else is gone: that takes a moment.
  if (phase == Phase::kFinished) return late || wait == WaitFor::kRelease;
  return phase == Phase::kTerminated &&
         (late || IsOneOf(wait, {WaitFor::kRead, WaitFor::kReadRetry}));
}

// Nothing runs or is ready there that could end by itself.
bool HasContainers(Phase phase, WaitFor wait) {
  if (phase == Phase::kSyncing) {
    return !IsOneOf(wait, {WaitFor::kSandboxRun, WaitFor::kSandboxStop, WaitFor::kSandboxRetry});
  }
  return phase == Phase::kTerminating &&
         !IsOneOf(wait, {WaitFor::kSandboxRun, WaitFor::kSandboxStop, WaitFor::kSandboxRetry});
}

bool IsDemanded(SimEvent event, Phase phase, WaitFor wait) {
  if (!LegalPlace(phase, wait) || IsFleeting(phase, wait)) return false;
  switch (event) {
    case SimEvent::kExited:
    case SimEvent::kStateLost:
    case SimEvent::kLivenessFailed:
      return HasContainers(phase, wait);
    // While one is made there is none.
    case SimEvent::kSandboxDied:
      return phase == Phase::kSyncing && wait != WaitFor::kSandboxRun;
    // A pod of a file that is gone has no source that could change its mind about it.
    case SimEvent::kWishedAgain:
    case SimEvent::kReplaced:
      return phase == Phase::kSyncing;
    // What is to be deleted or has ended is not evicted, and changes no more.
    case SimEvent::kEvicted:
    case SimEvent::kChanged:
      return phase == Phase::kSyncing;
    case SimEvent::kDeleted:
    case SimEvent::kRemoved:
    case SimEvent::kDebugged:
    case SimEvent::kToldAgain:
    case SimEvent::kRuntimeCrashed:
    case SimEvent::kMachineCrashed:
    case SimEvent::kAgentKilled:
    case SimEvent::kApiOutage:
    case SimEvent::kNodeNotReady:
    case SimEvent::kDiskFull:
      return true;
  }
  return true;
}

// A call that goes wrong is seen by who waits for it, at least; reads are seen anywhere.
bool IsDemanded(SimFault fault, Phase phase, WaitFor wait) {
  if (!LegalWait(phase, wait) || IsFleeting(phase, wait)) return false;
  if (fault == SimFault::kLeafFailed || fault == SimFault::kLeafHung) {
    return IsOneOf(wait, {WaitFor::kPrepare, WaitFor::kVolumes, WaitFor::kPostStart,
                          WaitFor::kPreStop, WaitFor::kRelease});
  }
  // What is cancelled when a pod ends is answered at once, whatever else was to become of it.
  if (phase == Phase::kTerminating &&
      IsOneOf(wait, {WaitFor::kSandboxRun, WaitFor::kCreate, WaitFor::kStart})) {
    return false;
  }
  return IsOneOf(wait, {WaitFor::kRead, WaitFor::kSandboxRun, WaitFor::kSandboxStop,
                        WaitFor::kCreate, WaitFor::kStart, WaitFor::kStop, WaitFor::kRemove});
}

bool LegalAction(Phase phase, size_t action) {
  const std::string_view name = kActionNames[action];
  const auto one_of = [name](std::initializer_list<std::string_view> those) {
    return std::ranges::find(those, name) != those.end();
  };
  switch (phase) {
    case Phase::kSyncing:
      return !one_of({"record-end", "release", "remove-logs", "nothing"});
    case Phase::kTerminating:
      return one_of(
          {"wait", "read", "stop-containers", "stop-sandboxes", "enter-phase", "record-end"});
    case Phase::kTerminated:
      return one_of({"wait", "read", "stop-sandboxes", "enter-phase", "release"});
    case Phase::kFinished:
      return one_of({"wait", "read", "stop-sandboxes", "remove", "remove-logs", "nothing"});
  }
  return false;
}

std::string Where(Phase phase, size_t wait) {
  return " in " + std::string(sync::PhaseName(phase)) + "/" +
         std::string(sync::WaitName(static_cast<WaitFor>(wait)));
}

struct Row {
  std::string name;
  bool legal;     // to be reached
  bool possible;  // may be reached
};

std::vector<Row> MakeRows() {
  std::vector<Row> rows;
  rows.reserve(kAll);
  const auto each_place = [](const std::function<void(Phase, size_t)>& take) {
    for (size_t phase = 0; phase < kPhases; ++phase) {
      for (size_t wait = 0; wait < kWaits; ++wait) take(static_cast<Phase>(phase), wait);
    }
  };
  for (size_t event = 0; event < kSimEvents; ++event) {
    each_place([&rows, event](Phase phase, size_t wait) {
      rows.push_back({std::string(kEventNames[event]) + Where(phase, wait),
                      IsDemanded(static_cast<SimEvent>(event), phase, static_cast<WaitFor>(wait)),
                      LegalPlace(phase, static_cast<WaitFor>(wait))});
    });
  }
  for (size_t fault = 0; fault < kSimFaults; ++fault) {
    each_place([&rows, fault](Phase phase, size_t wait) {
      rows.push_back({"call " + std::string(kFaultNames[fault]) + Where(phase, wait),
                      IsDemanded(static_cast<SimFault>(fault), phase, static_cast<WaitFor>(wait)),
                      LegalPlace(phase, static_cast<WaitFor>(wait))});
    });
  }
  for (size_t phase = 0; phase < kPhases; ++phase) {
    for (size_t action = 0; action < kActions; ++action) {
      const bool legal = LegalAction(static_cast<Phase>(phase), action);
      rows.push_back({"decided " + std::string(kActionNames[action]) + " in " +
                          std::string(sync::PhaseName(static_cast<Phase>(phase))),
                      legal, legal});
    }
  }
  each_place([&rows](Phase phase, size_t wait) {
    const bool legal = LegalWait(phase, static_cast<WaitFor>(wait));
    rows.push_back({"waited" + Where(phase, wait), legal, legal});
  });
  for (size_t reason = 0; reason < kKillReasons; ++reason) {
    // Two of one name never run, unless a dead agent's start takes effect beside a new one.
    const auto why = static_cast<KillReason>(reason);
    const bool possible = why != KillReason::kNone;
    rows.push_back({"stopped a container: " + std::string(kKillNames[reason]),
                    possible && why != KillReason::kDuplicate, possible});
  }
  for (const std::string_view name : kEndNames) {
    rows.push_back({"ended a pod: " + std::string(name), true, true});
  }
  for (const std::string_view call : kCallNames) {
    for (size_t state = 0; state < kCallStates; ++state) {
      rows.push_back(
          {"ledger: " + std::string(call) + " " + std::string(kStateNames[state]), true, true});
    }
  }
  CHECK(rows.size() == kAll);
  return rows;
}

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = MakeRows();
  return rows;
}

}  // namespace

std::string_view SimEventName(SimEvent event) { return kEventNames[static_cast<size_t>(event)]; }
std::string_view SimFaultName(SimFault fault) { return kFaultNames[static_cast<size_t>(fault)]; }

std::vector<SimPlace> SimPlaces() {
  std::vector<SimPlace> places;
  for (size_t phase = 0; phase < kPhases; ++phase) {
    for (size_t wait = 0; wait < kWaits; ++wait) {
      const SimPlace place{static_cast<Phase>(phase), static_cast<WaitFor>(wait)};
      if (LegalWait(place.phase, place.wait)) places.push_back(place);
    }
  }
  return places;
}

Coverage::Coverage() : counts_(kAll) {}

void Coverage::Hit(SimEvent event, Phase phase, WaitFor wait) {
  ++counts_[kOfEvents + static_cast<size_t>(event) * kPhases * kWaits + Place(phase, wait)];
}

void Coverage::Hit(SimFault fault, Phase phase, WaitFor wait) {
  ++counts_[kOfFaults + static_cast<size_t>(fault) * kPhases * kWaits + Place(phase, wait)];
}

void Coverage::Decided(const sync::PodWorker& worker, const sync::Decision& decision) {
  const Phase phase = worker.state().phase;
  ++counts_[kOfActions + static_cast<size_t>(phase) * kActions + decision.action.index()];
  if (const auto* wait = std::get_if<sync::Wait>(&decision.action)) {
    ++counts_[kOfWaits + Place(phase, wait->what)];
  } else if (const auto* stop = std::get_if<sync::StopContainers>(&decision.action)) {
    for (const sync::ContainerStop& step : stop->steps) {
      ++counts_[kOfKills + static_cast<size_t>(step.reason)];
    }
  } else if (const auto* enter = std::get_if<sync::EnterPhase>(&decision.action)) {
    if (enter->ending) ++counts_[kOfEnds + static_cast<size_t>(enter->ending->reason)];
  }
  const auto call = [this](size_t which, const sync::Call& of) {
    ++counts_[kOfCalls + which * kCallStates + static_cast<size_t>(of.state)];
  };
  for (const sync::SandboxEntry& entry : worker.ledger().view().sandboxes) {
    call(0, entry.run);
    call(1, entry.stop);
    call(2, entry.remove);
  }
  for (const sync::ContainerEntry& entry : worker.ledger().view().containers) {
    call(3, entry.create);
    call(4, entry.start);
    call(5, entry.post_start);
    call(6, entry.pre_stop);
    call(7, entry.stop);
    call(8, entry.remove);
  }
}

void Coverage::Add(const Coverage& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

size_t Coverage::legal() const {
  return static_cast<size_t>(std::ranges::count_if(Rows(), &Row::legal));
}

std::vector<std::string> Coverage::Missing() const {
  std::vector<std::string> missing;
  for (size_t i = 0; i < kAll; ++i) {
    if (Rows()[i].legal && counts_[i] == 0) missing.push_back(Rows()[i].name);
  }
  return missing;
}

std::vector<std::string> Coverage::Unexpected() const {
  std::vector<std::string> unexpected;
  for (size_t i = 0; i < kAll; ++i) {
    if (!Rows()[i].possible && counts_[i] != 0) unexpected.push_back(Rows()[i].name);
  }
  return unexpected;
}

std::vector<std::string> Coverage::Lines() const {
  std::vector<std::string> lines;
  for (size_t i = 0; i < kAll; ++i) {
    if (counts_[i] != 0) lines.push_back(std::to_string(counts_[i]) + " " + Rows()[i].name);
  }
  return lines;
}

}  // namespace denselet::sim
