#include "sync/decide/container_rules.h"

#include <algorithm>

namespace denselet::sync {
namespace {

bool IsSidecar(const ContainerPlan& plan) { return plan.kind == ContainerKind::kSidecar; }

// Created, started or greeted by us just now.
bool OnItsWay(const ContainerPlan& plan, const KnownContainer& container) {
  switch (container.life) {
    case Life::kCreating:
    case Life::kCreated:
    case Life::kStarting:
      return true;
    case Life::kRunning:
      return plan.post_start && container.entry && container.entry->start.done() &&
             (container.entry->post_start.state == CallState::kNone ||
              container.entry->post_start.in_flight());
    case Life::kNone:
    case Life::kExited:
    case Life::kUnknown:
      return false;
  }
  return false;
}

bool HookFailed(const KnownContainer& container) {
  return container.entry && (container.entry->post_start.state == CallState::kFailed ||
                             container.entry->post_start.state == CallState::kUnknown);
}

bool Changed(const ContainerPlan& plan, const KnownContainer& container) {
  return container.hash && *container.hash != plan.hash;
}

bool DoneOnce(const PodPlan& pod, const ContainerPlan& plan, const KnownContainer& container) {
  return plan.restart_policy.value_or(pod.restart_policy) == RestartPolicy::kOnFailure &&
         container.life == Life::kExited && container.exit_code == 0;
}

class Judge {
 public:
  Judge(const DecideInput& input, const KnownPod& pod, const KnownSandbox& sandbox)
      : in_(input), plan_(input.plan), pod_(pod), sandbox_(sandbox) {}

  ContainerVerdict Run() {
    JudgeEphemeral();
    verdict_.initialized = JudgeInit();
    if (verdict_.initialized && !verdict_.ended) JudgeRegular();
    if (!verdict_.ended) KillDuplicates();
    return std::move(verdict_);
  }

 private:
  const KnownContainer* Subject(ContainerIndex index) const {
    return SubjectIn(plan_, pod_, index, sandbox_);
  }

  ProbeResult Probed(ContainerIndex index, const KnownContainer& container,
                     ProbeResult ContainerFacts::*probe) const {
    if (index >= in_.facts.containers.size()) return ProbeResult::kNone;
    const ContainerFacts& facts = in_.facts.containers[index];
    return facts.probed_attempt == container.attempt ? facts.*probe : ProbeResult::kNone;
  }

  void AddKill(ContainerIndex index, const KnownContainer& container, KillReason reason,
               bool restart) {
    const ContainerPlan& plan = plan_.containers[index];
    verdict_.kills.push_back({.container = &container,
                              .index = index,
                              .reason = reason,
                              .grace = KillGrace(plan_, plan, reason),
                              .restart_at_once = restart && !InBackOff(index, container)});
  }

  // The one to be killed has not ended yet: the loop is judged by the one before it.
  bool InBackOff(ContainerIndex index, const KnownContainer& container) const {
    const auto exited = ExitBefore(in_, pod_, index, &container);
    const ContainerMemory* memory = in_.memory.Find(container.name);
    if (!exited || !memory) return false;
    const uint64_t key = plan_.containers[index].back_off_key;
    return BackOffDelay(memory->back_off, key, *exited, in_.now).has_value();
  }

  void JudgeEphemeral() {
    for (size_t at = plan_.containers.size() - plan_.ephemeral().size();
         at < plan_.containers.size(); ++at) {
      const auto index = static_cast<ContainerIndex>(at);
      const KnownContainer* container = pod_.Subject(index);
      // Never a second time.
      if (!container || OnItsWay(plan_.containers[index], *container)) {
        verdict_.ephemeral.push_back(index);
      }
    }
  }

  bool RegularCreated() const {
    for (ContainerIndex at = 0; at < plan_.regular_count; ++at) {
      const auto index = static_cast<ContainerIndex>(plan_.init_count + at);
      const KnownContainer* container = pod_.Subject(index);
      if (!container || (container->sandbox && *container->sandbox != *sandbox_.id)) continue;
      if (container->life == Life::kRunning || OnItsWay(plan_.containers[index], *container)) {
        return true;
      }
    }
    return false;
  }

  // From the last to the first: what ran last tells how far the pod is, and those before it may be
  // gone. True: all of them are done or, if sidecars, up.
  bool JudgeInit() {
    if (plan_.init_count == 0) return true;
    bool initialized = RegularCreated();
    bool later_ran = initialized;  // all before this one have had their turn
    for (int at = plan_.init_count - 1; at >= 0 && !verdict_.ended; --at) {
      const auto index = static_cast<ContainerIndex>(at);
      const KnownContainer* container = Subject(index);
      const bool sidecar = IsSidecar(plan_.containers[index]);
      if (!container) {
        if (later_ran && sidecar) verdict_.init.push_back(index);
        continue;
      }
      if (later_ran && !sidecar) continue;
      const bool done = sidecar ? JudgeSidecar(index, *container, later_ran)
                                : JudgeInitContainer(index, *container);
      if (done && index + 1 == plan_.init_count) initialized = true;
      later_ran = true;
    }
    if (verdict_.ended) return false;
    if (!later_ran) verdict_.init.push_back(0);
    std::ranges::reverse(verdict_.init);
    return initialized;
  }

  // True: it has done its work.
  bool JudgeInitContainer(ContainerIndex index, const KnownContainer& container) {
    const ContainerPlan& plan = plan_.containers[index];
    switch (container.life) {
      case Life::kNone:
        return false;
      case Life::kCreating:
      case Life::kCreated:
      case Life::kStarting:
        verdict_.init.push_back(index);
        return false;
      case Life::kRunning:
        if (HookFailed(container)) AddKill(index, container, KillReason::kPostStartFailed, false);
        if (OnItsWay(plan, container)) verdict_.init.push_back(index);
        verdict_.initializing = index;
        return false;
      case Life::kExited:
        return JudgeEndedInit(index, container);
      case Life::kUnknown:
        if (!RestartsAfterKill(plan_, plan)) {
          verdict_.ended = PodOutcome::kFailed;
          return false;
        }
        AddKill(index, container, KillReason::kUnknownState, true);
        verdict_.init.push_back(index);
        return false;
    }
    return false;
  }

  bool JudgeEndedInit(ContainerIndex index, const KnownContainer& container) {
    if (container.entry && container.entry->restart_at_once) {
      verdict_.init.push_back(index);
      return false;
    }
    if (IsInitFailure(container)) {
      if (!RestartsAfterExit(plan_, plan_.containers[index], container.exit_code)) {
        verdict_.ended = PodOutcome::kFailed;
      } else {
        verdict_.init.push_back(index);
      }
      return false;
    }
    if (index + 1 < plan_.init_count)
      verdict_.init.push_back(static_cast<ContainerIndex>(index + 1));
    return true;
  }

  // True: it is up, so far as the next one needs it.
  bool JudgeSidecar(ContainerIndex index, const KnownContainer& container, bool later_ran) {
    const ContainerPlan& plan = plan_.containers[index];
    switch (container.life) {
      case Life::kNone:
        return false;
      case Life::kCreating:
      case Life::kCreated:
      case Life::kStarting:
      case Life::kExited:
        verdict_.init.push_back(index);
        return false;
      case Life::kUnknown:
        AddKill(index, container, KillReason::kUnknownState, true);
        verdict_.init.push_back(index);
        return false;
      case Life::kRunning:
        break;
    }
    if (container.stopping()) return KillAndRestart(index, container, container.entry->kill_reason);
    if (HookFailed(container)) {
      return KillAndRestart(index, container, KillReason::kPostStartFailed);
    }
    if (OnItsWay(plan, container)) {
      verdict_.init.push_back(index);
      return false;
    }
    if (plan.startup_probe) {
      const ProbeResult startup = Probed(index, container, &ContainerFacts::startup);
      if (startup == ProbeResult::kFailure) {
        return KillAndRestart(index, container, KillReason::kStartupProbe);
      }
      if (startup != ProbeResult::kSuccess) {
        verdict_.initializing = index;
        return false;
      }
    }
    if (index + 1 < plan_.init_count && !later_ran) {
      verdict_.init.push_back(static_cast<ContainerIndex>(index + 1));
    }
    if (Changed(plan, container)) {
      KillAndRestart(index, container, KillReason::kChanged);
    } else if (plan.liveness_probe &&
               Probed(index, container, &ContainerFacts::liveness) == ProbeResult::kFailure) {
      KillAndRestart(index, container, KillReason::kLivenessProbe);
    }
    return true;
  }

  bool KillAndRestart(ContainerIndex index, const KnownContainer& container, KillReason reason) {
    AddKill(index, container, reason, reason != KillReason::kPostStartFailed);
    verdict_.init.push_back(index);
    return false;
  }

  void JudgeRegular() {
    bool kept = false;
    bool runs = false;
    bool all_succeeded = true;
    for (ContainerIndex at = 0; at < plan_.regular_count; ++at) {
      const auto index = static_cast<ContainerIndex>(plan_.init_count + at);
      const KnownContainer* container = pod_.Subject(index);
      if (!container || container->life != Life::kRunning) {
        JudgeStopped(index, container);
        if (container)
          all_succeeded &= container->life == Life::kExited && container->exit_code == 0;
        continue;
      }
      kept |= JudgeRunning(index, *container);
      runs = true;
    }
    if (kept || !verdict_.regular.empty()) return;
    verdict_.init.clear();  // sidecars do not keep a pod alive
    if (runs) return;       // the last ones are stopped for good
    verdict_.ended = all_succeeded ? PodOutcome::kSucceeded : PodOutcome::kFailed;
    verdict_.kills.clear();
  }

  void JudgeStopped(ContainerIndex index, const KnownContainer* container) {
    const ContainerPlan& plan = plan_.containers[index];
    if (!container || OnItsWay(plan, *container)) return verdict_.regular.push_back(index);
    if (container->life == Life::kUnknown) {
      AddKill(index, *container, KillReason::kUnknownState, true);
      return verdict_.regular.push_back(index);
    }
    const bool at_once = container->entry && container->entry->restart_at_once;
    // One that went with its sandbox starts with the new one, unless it had done its work.
    if (container->sandbox && *container->sandbox != *sandbox_.id) {
      if (!DoneOnce(plan_, plan, *container)) verdict_.regular.push_back(index);
      return;
    }
    if (at_once || RestartsAfterExit(plan_, plan, container->exit_code)) {
      verdict_.regular.push_back(index);
    }
  }

  // True: it goes on, or will be started again.
  bool JudgeRunning(ContainerIndex index, const KnownContainer& container) {
    const ContainerPlan& plan = plan_.containers[index];
    const size_t before = verdict_.kills.size();
    if (OnItsWay(plan, container)) verdict_.regular.push_back(index);
    if (container.stopping()) {
      AddKill(index, container, container.entry->kill_reason, container.entry->restart_at_once);
    } else if (Changed(plan, container)) {
      AddKill(index, container, KillReason::kChanged, true);
    } else if (HookFailed(container)) {
      AddKill(index, container, KillReason::kPostStartFailed, false);
    } else if (Probed(index, container, &ContainerFacts::liveness) == ProbeResult::kFailure) {
      AddKill(index, container, KillReason::kLivenessProbe, RestartsAfterKill(plan_, plan));
    } else if (Probed(index, container, &ContainerFacts::startup) == ProbeResult::kFailure) {
      AddKill(index, container, KillReason::kStartupProbe, RestartsAfterKill(plan_, plan));
    }
    return verdict_.kills.size() == before || RestartsAfterKill(plan_, plan) ||
           verdict_.kills.back().restart_at_once;
  }

  // Two of one name must not run: the newest stays.
  void KillDuplicates() {
    for (const KnownContainer& container : pod_.containers) {
      if (container.life != Life::kRunning && container.life != Life::kUnknown) continue;
      const ContainerIndex index = plan_.Find(container.name);
      if (index == kNoContainer || pod_.Subject(index) == &container) continue;
      AddKill(index, container, KillReason::kDuplicate, false);
    }
  }

  const DecideInput& in_;
  const PodPlan& plan_;
  const KnownPod& pod_;
  const KnownSandbox& sandbox_;
  ContainerVerdict verdict_ = {};
};

}  // namespace

bool IsInitFailure(const KnownContainer& container) {
  return container.exit_code != 0 || container.oom_killed;
}

const KnownContainer* SubjectIn(const PodPlan& plan, const KnownPod& pod, ContainerIndex index,
                                const KnownSandbox& sandbox) {
  const KnownContainer* container = pod.Subject(index);
  if (!container || index >= plan.init_count || !container->sandbox) return container;
  return *container->sandbox == *sandbox.id ? container : nullptr;
}

ContainerVerdict JudgeContainers(const DecideInput& input, const KnownPod& pod,
                                 const KnownSandbox& sandbox) {
  return Judge(input, pod, sandbox).Run();
}

std::optional<PodOutcome> AlreadyOver(const PodPlan& plan, const KnownPod& pod) {
  for (ContainerIndex index = 0; index < plan.init_count; ++index) {
    const KnownContainer* container = pod.Subject(index);
    if (!container || container->life != Life::kExited || !container->exit_seen) continue;
    if (plan.containers[index].kind == ContainerKind::kSidecar || container->exit_code == 0)
      continue;
    if (!RestartsAfterExit(plan, plan.containers[index], container->exit_code)) {
      return PodOutcome::kFailed;
    }
  }
  bool succeeded = true;
  for (ContainerIndex at = 0; at < plan.regular_count; ++at) {
    const auto index = static_cast<ContainerIndex>(plan.init_count + at);
    const KnownContainer* container = pod.Subject(index);
    if (!container || container->life != Life::kExited || !container->exit_seen)
      return std::nullopt;
    if (container->entry && container->entry->restart_at_once) return std::nullopt;
    if (RestartsAfterExit(plan, plan.containers[index], container->exit_code)) return std::nullopt;
    succeeded &= container->exit_code == 0;
  }
  if (plan.regular_count == 0) return std::nullopt;
  return succeeded ? PodOutcome::kSucceeded : PodOutcome::kFailed;
}

std::optional<PodOutcome> EndsWithItsSandbox(const DecideInput& input, const KnownPod& pod,
                                             const SandboxVerdict& sandbox) {
  const PodPlan& plan = input.plan;
  bool created = false;
  bool succeeded = true;
  bool to_start = false;
  for (ContainerIndex at = 0; at < plan.regular_count; ++at) {
    const auto index = static_cast<ContainerIndex>(plan.init_count + at);
    const ContainerPlan& container_plan = plan.containers[index];
    const KnownContainer* container = pod.Subject(index);
    created |= container && container->life != Life::kUnknown;
    const bool good = container && container->life == Life::kExited && container->exit_code == 0;
    succeeded &= good;
    to_start |= !container || !DoneOnce(plan, container_plan, *container);
  }
  const PodOutcome outcome = succeeded ? PodOutcome::kSucceeded : PodOutcome::kFailed;
  if (plan.restart_policy == RestartPolicy::kNever && sandbox.current && !pod.containers.empty()) {
    return outcome;
  }
  if (!to_start && created) return outcome;
  return std::nullopt;
}

bool AllRestart(const PodPlan& plan, const KnownPod& pod) {
  for (ContainerIndex index = 0; index < plan.init_count + plan.regular_count; ++index) {
    const KnownContainer* container = pod.Subject(index);
    if (!container || container->life != Life::kExited || !container->exit_seen) continue;
    if (RestartsAllAfterExit(plan.containers[index], container->exit_code)) return true;
  }
  return false;
}

std::optional<TimePoint> ExitBefore(const DecideInput& input, const KnownPod& pod,
                                    ContainerIndex index, const KnownContainer* but) {
  const ContainerMemory* memory = input.memory.Find(input.plan.containers[index].name);
  for (const KnownContainer& container : pod.containers) {
    if (&container == but || container.life != Life::kExited ||
        container.name != input.plan.containers[index].name) {
      continue;
    }
    for (const auto* seen :
         {memory ? &memory->last_exit : nullptr, memory ? &memory->exit_before : nullptr}) {
      if (seen && *seen && (*seen)->attempt == container.attempt) return (*seen)->at;
    }
    return input.now;  // it ended before our time
  }
  return std::nullopt;
}

}  // namespace denselet::sync
