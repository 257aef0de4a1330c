#include "tests/sim/core/decision_details.h"

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include "sync/decide/container_rules.h"
#include "sync/decide/known_pod.h"
#include "sync/decide/sandbox_rules.h"

namespace denselet::sim {
namespace {

using sync::ContainerKind;
using sync::ContainerPlan;
using sync::KnownContainer;
using sync::PodPlan;
using sync::RestartPolicy;

constexpr std::array<std::string_view, kDecisionDetails> kNames{
    "judged the sandbox: does",
    "judged the sandbox: to be looked at",
    "judged the sandbox: first",
    "judged the sandbox: not ready",
    "judged the sandbox: several ready",
    "judged the sandbox: another network",
    "judged the sandbox: no address",
    "created: init",
    "created: sidecar",
    "created: regular",
    "created: ephemeral",
    "started: init",
    "started: sidecar",
    "started: regular",
    "started: ephemeral",
    "after an exit: again, always",
    "after an exit: again, for it failed",
    "after an exit: again, by a rule",
    "after an exit: all again, by a rule",
    "after an exit: done, for it succeeded",
    "after an exit: done for good",
    "stopped: by a hook first",
    "stopped",
    "stopped: sooner than asked for before",
    "stopped a sandbox: replaced",
    "stopped a sandbox: one too many",
    "stopped a sandbox: its pod ends",
    "removed: init containers for a new sandbox",
    "removed: all are to restart",
    "removed: made before our time",
    "removed: containers too many",
    "removed: sandboxes too many",
    "removed: too many of a pod that has ended",
    "removed: all of a pod that has ended"};

DecisionDetail NthFrom(DecisionDetail first, size_t n) {
  return static_cast<DecisionDetail>(static_cast<size_t>(first) + n);
}

DecisionDetail AfterExit(const PodPlan& pod, const ContainerPlan& container, int32_t exit_code) {
  if (sync::RestartsAllAfterExit(container, exit_code)) {
    return DecisionDetail::kRestartOfAllByRule;
  }
  const bool again = sync::RestartsAfterExit(pod, container, exit_code);
  switch (container.restart_policy.value_or(pod.restart_policy)) {
    case RestartPolicy::kAlways:
      return DecisionDetail::kRestartAlways;
    case RestartPolicy::kOnFailure:
      if (exit_code != 0) return DecisionDetail::kRestartAfterFailure;
      return again ? DecisionDetail::kRestartByRule : DecisionDetail::kDoneAfterSuccess;
    case RestartPolicy::kNever:
      return again ? DecisionDetail::kRestartByRule : DecisionDetail::kDoneForGood;
  }
  return DecisionDetail::kDoneForGood;
}

// A pod that is to run, as its decision saw it.
class Syncing {
 public:
  Syncing(const sync::PodWorker& worker, std::vector<DecisionDetail>& details)
      : plan_(worker.plan()),
        details_(details),
        pod_(sync::MakeKnownPod({.plan = plan_,
                                 .state = worker.state(),
                                 .observation = worker.Observe(),
                                 .ledger = worker.ledger().view(),
                                 .facts = worker.facts(),
                                 .memory = worker.memory(),
                                 .node = sync::NodeFacts(),
                                 .now = {}})),
        need_(sync::JudgeSandbox(plan_, pod_)) {}

  void Run(const sync::Action& action) {
    // Only a read follows while it is not known what is there.
    if (pod_.outcome_unknown) return;
    JudgeExits();
    if (std::holds_alternative<sync::EnterPhase>(action)) return;
    Add(NthFrom(DecisionDetail::kSandboxDoes, static_cast<size_t>(need_.need)));
    if (std::holds_alternative<sync::StopSandboxes>(action)) {
      Add(need_.NewOne() ? DecisionDetail::kStopReplacedSandbox
                         : DecisionDetail::kStopSurplusSandbox);
    } else if (const auto* remove = std::get_if<sync::Remove>(&action)) {
      Add(WhyRemoved(*remove));
    }
  }

 private:
  void Add(DecisionDetail detail) { details_.push_back(detail); }

  void JudgeExits() {
    for (size_t at = 0; at < size_t{plan_.init_count} + plan_.regular_count; ++at) {
      const KnownContainer* container = pod_.Subject(static_cast<sync::ContainerIndex>(at));
      if (!container || container->life != sync::Life::kExited || !container->exit_seen) continue;
      const ContainerPlan& plan = plan_.containers[at];
      // It has done its work, whatever its policy is.
      if (plan.kind == ContainerKind::kInit && container->exit_code == 0) continue;
      Add(AfterExit(plan_, plan, container->exit_code));
    }
  }

  bool IsInit(const ContainerId& id) const {
    const auto found = std::ranges::find_if(
        pod_.containers, [&id](const KnownContainer& c) { return c.id != nullptr && *c.id == id; });
    return found != pod_.containers.end() && plan_.Find(found->name) < plan_.init_count;
  }

  DecisionDetail WhyRemoved(const sync::Remove& remove) const {
    if (remove.containers.empty()) return DecisionDetail::kRemoveSurplusSandboxes;
    if (remove.logs == sync::KeepLogs::kYes) {
      return sync::AllRestart(plan_, pod_) ? DecisionDetail::kRemoveForRestartOfAll
                                           : DecisionDetail::kRemoveAdopted;
    }
    const bool purge = need_.NewOne() && std::ranges::all_of(remove.containers, [this](auto& id) {
                         return IsInit(id);
                       });
    return purge ? DecisionDetail::kRemoveInitForNewSandbox
                 : DecisionDetail::kRemoveSurplusContainers;
  }

  const PodPlan& plan_;
  std::vector<DecisionDetail>& details_;
  const sync::KnownPod pod_;
  const sync::SandboxVerdict need_;
};

// What the action itself says.
void AddOfAction(const sync::PodWorker& worker, const sync::Action& action,
                 std::vector<DecisionDetail>& details) {
  const auto kind = [&worker](sync::ContainerIndex index) {
    return static_cast<size_t>(worker.plan().containers[index].kind);
  };
  if (const auto* create = std::get_if<sync::CreateContainer>(&action)) {
    details.push_back(NthFrom(DecisionDetail::kCreateInit, kind(create->container)));
  } else if (const auto* start = std::get_if<sync::StartContainer>(&action)) {
    details.push_back(NthFrom(DecisionDetail::kStartInit, kind(start->container)));
  } else if (const auto* stop = std::get_if<sync::StopContainers>(&action)) {
    for (const sync::ContainerStop& step : stop->steps) {
      const bool hook = step.step == sync::ContainerStop::Step::kPreStop;
      details.push_back(hook              ? DecisionDetail::kStopWithHook
                        : step.supersedes ? DecisionDetail::kStopSooner
                                          : DecisionDetail::kStop);
    }
  }
}

void AddOfEnding(const sync::PodWorker& worker, const sync::Action& action,
                 std::vector<DecisionDetail>& details) {
  if (std::holds_alternative<sync::StopSandboxes>(action)) {
    details.push_back(DecisionDetail::kStopSandboxOfEnding);
  } else if (std::holds_alternative<sync::Remove>(action)) {
    details.push_back(worker.facts().removal_allowed ? DecisionDetail::kRemoveAllOfEnded
                                                     : DecisionDetail::kRemoveSurplusOfEnded);
  }
}

// The others follow from what the pod is to be, not from what it is.
bool FollowsFromWhatRuns(const sync::Action& action) {
  return !std::holds_alternative<sync::Wait>(action) &&
         !std::holds_alternative<sync::PreparePod>(action) &&
         !std::holds_alternative<sync::MountVolumes>(action);
}

}  // namespace

std::string_view DecisionDetailName(DecisionDetail detail) {
  return kNames[static_cast<size_t>(detail)];
}

std::vector<DecisionDetail> DetailsOf(const sync::PodWorker& worker,
                                      const sync::Decision& decision) {
  std::vector<DecisionDetail> details;
  AddOfAction(worker, decision.action, details);
  if (worker.state().phase != sync::Phase::kSyncing) {
    AddOfEnding(worker, decision.action, details);
  } else if (FollowsFromWhatRuns(decision.action) && worker.Observe().pod != nullptr) {
    Syncing(worker, details).Run(decision.action);
  }
  return details;
}

}  // namespace denselet::sim
