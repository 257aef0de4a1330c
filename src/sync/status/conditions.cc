#include "sync/status/conditions.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api/types.h"
#include "sync/spec/pod_traits.h"
#include "sync/status/container_statuses.h"
#include "sync/status/status_lookup.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;
using Names = std::vector<std::string>;

struct Verdict {
  bool is_true = false;
  std::string reason = {};
  std::string message = {};
};

// As Go prints a list of texts.
std::string List(std::string_view what, const Names& names) {
  std::string text(what);
  text += " [";
  for (const std::string& name : names) text += (&name == names.data() ? "" : " ") + name;
  return text + "]";
}

std::string Joined(const std::vector<std::string>& messages) {
  std::string text;
  for (const std::string& message : messages) text += (text.empty() ? "" : ", ") + message;
  return text;
}

class Conditions {
 public:
  Conditions(const StatusInput& input, const core::PodStatus& old, core::PodStatus& out)
      : in_(input), old_(old), out_(out) {}

  void Run() {
    for (const core::PodCondition& condition : in_.pod.status().conditions()) {
      if (!IsOwnCondition(condition.type())) *out_.add_conditions() = condition;
    }
    Disruption();
    Add("PodReadyToStartContainers", {.is_true = HasSandbox()});
    Add("Initialized", Initialized());
    Add("Ready", Ready());
    Add("ContainersReady", ContainersReady());
    Add("PodScheduled", {.is_true = true});
    if (AllCouldRestart()) AddAllRestarting();
    for (core::PodCondition& condition : *out_.mutable_conditions()) SetTransition(condition);
  }

 private:
  core::PodCondition& Add(const char* type, const Verdict& verdict) {
    core::PodCondition& condition = *out_.add_conditions();
    condition.set_type(type);
    condition.set_status(verdict.is_true ? "True" : "False");
    if (!verdict.reason.empty()) condition.set_reason(verdict.reason);
    if (!verdict.message.empty()) condition.set_message(verdict.message);
    const int64_t generation = in_.pod.metadata().generation();
    if (generation != 0) condition.set_observedgeneration(generation);
    return condition;
  }

  void SetTransition(core::PodCondition& condition) const {
    if (!IsOwnCondition(condition.type()) && condition.type() != kDisruptionTarget) return;
    const core::PodCondition* before = FindCondition(old_, condition.type());
    const bool same = before && before->status() == condition.status();
    *condition.mutable_lasttransitiontime() =
        same ? before->lasttransitiontime() : InSeconds(in_.now);
  }

  // Once set it stays; who ends a pod for the node's sake sets it.
  void Disruption() {
    const core::PodCondition* before = FindCondition(old_, kDisruptionTarget);
    core::PodCondition made;
    if (before) {
      made = *before;
    } else if (!in_.disruption.empty()) {
      made.set_type(std::string(kDisruptionTarget));
      made.set_status("True");
      made.set_reason("TerminationByKubelet");
      made.set_message(in_.disruption);
      const int64_t generation = in_.pod.metadata().generation();
      if (generation != 0) made.set_observedgeneration(generation);
    } else {
      return;
    }
    for (core::PodCondition& condition : *out_.mutable_conditions()) {
      if (condition.type() != kDisruptionTarget) continue;
      condition = made;
      return;
    }
    *out_.add_conditions() = made;
  }

  // The newest one will do.
  bool HasSandbox() const {
    const auto& sandboxes = in_.seen.sandboxes;
    if (sandboxes.empty() || sandboxes.front().state != SandboxState::kReady) return false;
    const auto ready = [](const ObservedSandbox& each) {
      return each.state == SandboxState::kReady;
    };
    if (std::ranges::count_if(sandboxes, ready) > 1) return false;
    const ObservedSandbox& newest = sandboxes.front();
    if (newest.network != in_.plan.network) return false;
    return in_.plan.network == NetworkMode::kNode || !newest.ips.empty();
  }

  Verdict Initialized() const {
    Names unknown, incomplete;
    for (const auto& container : in_.pod.spec().initcontainers()) {
      const core::ContainerStatus* status = FindStatus(out_, container.name());
      if (!status) {
        unknown.push_back(container.name());
      } else if (!(IsSidecar(container) ? status->started() : status->ready())) {
        incomplete.push_back(container.name());
      }
    }
    if (out_.phase() == "Succeeded" && unknown.empty()) {
      return {.is_true = true, .reason = "PodCompleted"};
    }
    // Once a regular container has started, sidecars may come and go.
    const bool began = std::ranges::any_of(out_.containerstatuses(), [](const auto& status) {
      return status.state().has_running() || status.state().has_terminated();
    });
    if (began) return {.is_true = true};
    std::vector<std::string> messages;
    if (!unknown.empty()) messages.push_back(List("containers with unknown status:", unknown));
    if (!incomplete.empty()) {
      messages.push_back(List("containers with incomplete status:", incomplete));
    }
    // What was initialized once stays so, also when all its containers are restarted.
    if (messages.empty() || IsTrue(FindCondition(old_, "Initialized"))) return {.is_true = true};
    return {.reason = "ContainersNotInitialized", .message = Joined(messages)};
  }

  Verdict ContainersReady() const {
    Names unready;
    const auto look = [&](const core::Container& container) {
      const core::ContainerStatus* status = FindStatus(out_, container.name());
      if (!status || !status->ready()) unready.push_back(container.name());
    };
    for (const auto& container : in_.pod.spec().initcontainers()) {
      if (IsSidecar(container)) look(container);
    }
    for (const auto& container : in_.pod.spec().containers()) look(container);
    if (out_.phase() == "Succeeded") return {.reason = "PodCompleted"};
    if (out_.phase() == "Failed") return {.reason = "PodFailed"};
    if (unready.empty()) return {.is_true = true};
    return {.reason = "ContainersNotReady",
            .message = List("containers with unready status:", unready)};
  }

  Verdict Ready() const {
    const Verdict containers = ContainersReady();
    if (!containers.is_true) return containers;
    std::vector<std::string> messages;
    for (const auto& gate : in_.pod.spec().readinessgates()) {
      const core::PodCondition* condition = FindCondition(out_, gate.conditiontype());
      const std::string name = "\"" + gate.conditiontype() + "\"";
      if (!condition) {
        messages.push_back("corresponding condition of pod readiness gate " + name +
                           " does not exist.");
      } else if (condition->status() != "True") {
        messages.push_back("the status of pod readiness gate " + name + " is not \"True\", but " +
                           condition->status());
      }
    }
    if (messages.empty()) return {.is_true = true};
    return {.reason = "ReadinessGatesNotReady", .message = Joined(messages)};
  }

  bool AllCouldRestart() const {
    return std::ranges::any_of(in_.plan.containers, [](const ContainerPlan& container) {
      return std::ranges::any_of(container.restart_rules, [](const RestartRule& rule) {
        return rule.action == RestartRule::Action::kRestartAllContainers;
      });
    });
  }

  void AddAllRestarting() {
    Verdict verdict;
    if (IsTerminalPhase(out_.phase())) {
      verdict.reason = out_.phase() == "Failed" ? "PodFailed" : "PodCompleted";
    } else if (AllContainersRestart(in_, old_) && AnyIsLeft()) {
      verdict = {.is_true = true,
                 .reason = "RestartAllContainersStarted",
                 .message = "container exited with restart policy rule"};
    }
    Add("AllContainersRestarting", verdict).clear_observedgeneration();
  }

  bool AnyIsLeft() const {
    return std::ranges::any_of(in_.seen.containers, [&](const ObservedContainer& seen) {
      const ContainerIndex index = in_.plan.Find(seen.name);
      return index != kNoContainer && in_.plan.containers[index].kind != ContainerKind::kEphemeral;
    });
  }

  const StatusInput& in_;
  const core::PodStatus& old_;
  core::PodStatus& out_;
};

}  // namespace

void SetConditions(const StatusInput& input, const core::PodStatus& old, core::PodStatus& out) {
  Conditions(input, old, out).Run();
}

}  // namespace denselet::sync
