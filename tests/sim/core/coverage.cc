#include "tests/sim/core/coverage.h"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <utility>
#include <variant>

#include "base/check.h"
#include "tests/sim/core/decision_details.h"

namespace denselet::sim {
namespace {

using sync::CallState;
using sync::EndReason;
using sync::KillReason;
using sync::Phase;
using sync::WaitFor;

constexpr size_t kPhases = kSimPhases;
constexpr size_t kWaits = sync::kWaitForCount;
constexpr size_t kActions = std::variant_size_v<sync::Action>;
constexpr size_t kKillReasons = 9;
constexpr size_t kEndReasons = 6;
constexpr size_t kCallStates = 5;

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
constexpr size_t kOfDetails = kOfCalls + kCallNames.size() * kCallStates;
constexpr size_t kAll = kOfDetails + kDecisionDetails;

size_t Place(Phase phase, WaitFor wait) {
  return static_cast<size_t>(phase) * kWaits + static_cast<size_t>(wait);
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

std::string Where(const SimPlace& place) {
  return " in " + std::string(sync::PhaseName(place.phase)) + "/" +
         std::string(sync::WaitName(place.wait));
}

struct Row {
  std::string name;
  bool possible;                     // may be reached
  std::string_view exempt_for = {};  // of a possible one; empty: it must be reached

  bool Demanded() const { return possible && exempt_for.empty(); }
};

using Rows = std::vector<Row>;

template <class Take>
void EachPlace(Take take) {
  for (size_t phase = 0; phase < kPhases; ++phase) {
    for (size_t wait = 0; wait < kWaits; ++wait) {
      take(SimPlace{static_cast<Phase>(phase), static_cast<WaitFor>(wait)});
    }
  }
}

// An event or a fault in every place.
template <class What>
void AddPairs(Rows& rows, const std::string& name, What what) {
  EachPlace([&](const SimPlace& place) {
    const bool possible = CanBeHit(place);
    rows.push_back({name + Where(place), possible,
                    possible ? WhyNotDemanded(what, place) : std::string_view()});
  });
}

void AddActions(Rows& rows) {
  for (size_t phase = 0; phase < kPhases; ++phase) {
    const auto in = static_cast<Phase>(phase);
    for (size_t action = 0; action < kActions; ++action) {
      rows.push_back({"decided " + std::string(kActionNames[action]) + " in " +
                          std::string(sync::PhaseName(in)),
                      LegalAction(in, action)});
    }
  }
}

void AddKills(Rows& rows) {
  for (size_t reason = 0; reason < kKillReasons; ++reason) {
    Row row{"stopped a container: " + std::string(kKillNames[reason]),
            static_cast<KillReason>(reason) != KillReason::kNone};
    if (static_cast<KillReason>(reason) == KillReason::kDuplicate) {
      row.exempt_for =
          "two of one name run only when a dead agent's start takes effect beside a new one";
    }
    rows.push_back(std::move(row));
  }
}

Rows MakeRows() {
  Rows rows;
  rows.reserve(kAll);
  for (size_t i = 0; i < kSimEvents; ++i) {
    const auto event = static_cast<SimEvent>(i);
    AddPairs(rows, std::string(SimEventName(event)), event);
  }
  for (size_t i = 0; i < kSimFaults; ++i) {
    const auto fault = static_cast<SimFault>(i);
    AddPairs(rows, std::string(SimFaultName(fault)), fault);
  }
  AddActions(rows);
  EachPlace([&rows](const SimPlace& place) {
    rows.push_back({"waited" + Where(place), CanWait(place)});
  });
  AddKills(rows);
  for (const std::string_view name : kEndNames) {
    rows.push_back({"ended a pod: " + std::string(name), true});
  }
  for (const std::string_view call : kCallNames) {
    for (const std::string_view state : kStateNames) {
      rows.push_back({"ledger: " + std::string(call) + " " + std::string(state), true});
    }
  }
  for (size_t i = 0; i < kDecisionDetails; ++i) {
    const auto detail = static_cast<DecisionDetail>(i);
    Row row{std::string(DecisionDetailName(detail)), true};
    if (detail == DecisionDetail::kSandboxNetworkChanged) {
      row.exempt_for = "a pod's hostNetwork cannot be changed";
    } else if (detail == DecisionDetail::kSandboxSeveralReady) {
      row.exempt_for = "one that may turn up late is asked for again under its own number";
    }
    rows.push_back(std::move(row));
  }
  CHECK(rows.size() == kAll);
  return rows;
}

const Rows& AllRows() {
  static const Rows rows = MakeRows();
  return rows;
}

}  // namespace

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
  for (const DecisionDetail detail : DetailsOf(worker, decision)) {
    ++counts_[kOfDetails + static_cast<size_t>(detail)];
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
  return static_cast<size_t>(std::ranges::count_if(AllRows(), &Row::Demanded));
}

std::vector<std::string> Coverage::Missing() const {
  std::vector<std::string> missing;
  for (size_t i = 0; i < kAll; ++i) {
    if (AllRows()[i].Demanded() && counts_[i] == 0) missing.push_back(AllRows()[i].name);
  }
  return missing;
}

std::vector<std::string> Coverage::Unexpected() const {
  std::vector<std::string> unexpected;
  for (size_t i = 0; i < kAll; ++i) {
    if (!AllRows()[i].possible && counts_[i] != 0) unexpected.push_back(AllRows()[i].name);
  }
  return unexpected;
}

std::vector<std::string> Coverage::Lines() const {
  std::vector<std::string> lines;
  for (size_t i = 0; i < kAll; ++i) {
    if (counts_[i] != 0) lines.push_back(std::to_string(counts_[i]) + " " + AllRows()[i].name);
  }
  return lines;
}

std::vector<Exemption> Coverage::Exemptions() const {
  std::map<std::string_view, Exemption> by_reason;
  for (size_t i = 0; i < kAll; ++i) {
    const Row& row = AllRows()[i];
    if (row.exempt_for.empty()) continue;
    Exemption& exemption = by_reason[row.exempt_for];
    exemption.reason = row.exempt_for;
    ++exemption.rows;
    if (counts_[i] != 0) ++exemption.reached;
  }
  std::vector<Exemption> all;
  for (const auto& [reason, exemption] : by_reason) all.push_back(exemption);
  std::ranges::stable_sort(all, std::ranges::greater{}, &Exemption::rows);
  return all;
}

}  // namespace denselet::sim
