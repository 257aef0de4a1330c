// A pod that is to run: what it needs first, then its sandbox, then its containers.
#include <algorithm>

#include "sync/decide/container_rules.h"
#include "sync/decide/phases.h"
#include "sync/decide/sandbox_rules.h"
#include "sync/decide/start_steps.h"
#include "sync/decide/steps.h"
#include "sync/decide/tidy.h"

namespace denselet::sync {
namespace {

class Syncing {
 public:
  Syncing(const DecideInput& input, const KnownPod& pod)
      : in_(input), plan_(input.plan), pod_(pod), steps_(input, pod) {}

  Action Run() {
    steps_.waits().Until(ActiveDeadline(in_));
    SandboxVerdict sandbox = JudgeSandbox(plan_, pod_);
    if (sandbox.need == SandboxNeed::kFirst) sandbox.attempt = in_.state.first_sandbox_attempt;
    sandbox.attempt = std::max(sandbox.attempt, AskedFor());
    if (auto action = LookBeforeJudging()) return *action;
    if (auto ended = Ended(sandbox)) return End(*ended);
    if (auto action = Prerequisites()) return *action;
    if (auto action = sandbox.NewOne() ? Replace(sandbox) : Keep(sandbox)) return *action;
    // Sandboxes are not looked at while another one is to be made.
    const TidyWhat what = sandbox.NewOne() ? TidyWhat::kContainers : TidyWhat::kAll;
    if (auto action = Tidy(in_, pod_, what, steps_)) return *action;
    return steps_.waits().Take({.what = WaitFor::kChange});
  }

 private:
  static Action End(PodOutcome outcome) {
    return EnterPhase{.phase = Phase::kTerminating,
                      .ending = Ending{.reason = EndReason::kCompleted, .outcome = outcome}};
  }

  // One that was asked for and did not come to be, as far as one can see, may yet turn up: it is
  // asked for again under its own number, whatever became of those before it meanwhile.
  uint32_t AskedFor() const {
    uint32_t attempt = 0;
    for (const SandboxEntry& entry : in_.ledger.sandboxes) {
      const CallState run = entry.run.state;
      if (run != CallState::kFailed && run != CallState::kUnknown) continue;
      attempt = std::max(attempt, entry.attempt);
    }
    return attempt;
  }

  // What comes after a container that we stopped depends on how it ended.
  MaybeAction LookBeforeJudging() {
    for (const KnownContainer& container : pod_.containers) {
      if (container.life != Life::kExited || container.exit_seen) continue;
      if (container.entry && container.entry->restart_at_once) continue;
      if (auto action = steps_.ReadChanged()) return action;
      return steps_.waits().Take({.what = WaitFor::kRead});
    }
    return std::nullopt;
  }

  std::optional<PodOutcome> Ended(const SandboxVerdict& sandbox) {
    if (pod_.running_sandbox || AllRestart(plan_, pod_)) return std::nullopt;
    if (auto over = AlreadyOver(plan_, pod_)) return over;
    if (sandbox.NewOne()) return EndsWithItsSandbox(in_, pod_, sandbox);
    verdict_ = JudgeContainers(in_, pod_, *sandbox.current);
    return verdict_.ended;
  }

  MaybeAction Prerequisites() {
    if (plan_.network == NetworkMode::kPod && !in_.node.network_ready) {
      return steps_.waits().Take({.what = WaitFor::kNetwork, .detail = in_.node.why_not});
    }
    if (auto action = Wanted(in_.facts.prepare, WaitFor::kPrepare, PreparePod{})) return action;
    return Wanted(in_.facts.volumes, WaitFor::kVolumes, MountVolumes{});
  }

  MaybeAction Wanted(const Work& work, WaitFor what, Action begin) {
    switch (work.state) {
      case WorkState::kDone:
        return std::nullopt;
      case WorkState::kInProgress:
        return steps_.waits().Take({.what = what});
      case WorkState::kFailed:
        if (in_.now >= work.retry_at) return begin;
        return steps_.waits().Take({.what = what, .until = work.retry_at, .detail = work.message});
      case WorkState::kNone:
        return begin;
    }
    return std::nullopt;
  }

  // Another sandbox: everything of the old one stops first, and init containers start over.
  MaybeAction Replace(const SandboxVerdict& sandbox) {
    if (steps_.StartsInFlight()) {
      steps_.WaitForStarts();
      return std::nullopt;
    }
    if (sandbox.current) {
      if (auto action = steps_.StopPod(std::nullopt)) return action;
      if (!steps_.waits().empty()) return std::nullopt;
      if (auto action = PurgeInit()) return action;
    }
    return RunOne(sandbox.attempt);
  }

  // What cannot be removed stays: it belongs to another sandbox and counts for nothing.
  MaybeAction PurgeInit() {
    std::vector<const KnownContainer*> old;
    for (const KnownContainer& container : pod_.containers) {
      const ContainerIndex index = plan_.Find(container.name);
      const bool tried = container.entry && container.entry->remove.state != CallState::kNone &&
                         !container.entry->remove.in_flight();
      if (index < plan_.init_count && container.id && !tried) old.push_back(&container);
    }
    if (old.empty()) return std::nullopt;
    if (auto action = steps_.RemoveContainers(old, KeepLogs::kNo)) return action;
    return steps_.waits().Take({.what = WaitFor::kRemove});
  }

  MaybeAction RunOne(uint32_t attempt) {
    const auto entry = std::ranges::find(in_.ledger.sandboxes, attempt, &SandboxEntry::attempt);
    if (entry == in_.ledger.sandboxes.end()) return RunSandbox{.attempt = attempt};
    const Call& run = entry->run;
    if (run.state == CallState::kFailed || run.state == CallState::kUnknown) {
      if (in_.now < run.retry_at) {
        steps_.waits().Add(
            {.what = WaitFor::kSandboxRetry, .until = run.retry_at, .detail = run.message()});
        return std::nullopt;
      }
      // A runtime that refused may have kept something: with this attempt's name.
      if (!run.no_effect && in_.observation.epoch <= run.ended) return steps_.ReadPod();
    }
    return RunSandbox{.attempt = attempt};
  }

  MaybeAction Keep(const SandboxVerdict& sandbox) {
    if (AllRestart(plan_, pod_)) return Reset(*sandbox.current);
    if (auto action = steps_.Stop(verdict_.kills)) return action;
    if (sandbox.need == SandboxNeed::kLook) {
      if (auto action = steps_.ReadChanged()) return action;
      return steps_.waits().Take({.what = WaitFor::kRead});
    }
    Starter starter(in_, pod_, *sandbox.current, steps_);
    if (auto action = starter.Start(verdict_)) return action;
    // Once when the plan is through: what our calls have made of the pod.
    return steps_.ReadChanged();
  }

  // All containers are stopped without grace and removed; those whose exit asked for it go last, so
  // that the wish outlives us. One that may yet run would be removed by force if it did meanwhile.
  MaybeAction Reset(const KnownSandbox& sandbox) {
    if (steps_.StartsInFlight()) {
      steps_.WaitForStarts();
      return std::nullopt;
    }
    std::vector<Kill> kills;
    std::vector<const KnownContainer*> may_run;
    std::vector<const KnownContainer*> sources;
    std::vector<const KnownContainer*> others;
    for (const KnownContainer& container : pod_.containers) {
      const ContainerIndex index = plan_.Find(container.name);
      if (index >= plan_.init_count + plan_.regular_count) continue;
      if (container.life == Life::kRunning || container.life == Life::kUnknown) {
        kills.push_back(
            {.container = &container, .index = index, .reason = KillReason::kRestartAll});
      }
      const bool here = container.sandbox && *container.sandbox == *sandbox.id;
      if (here && container.may_yet_run()) may_run.push_back(&container);
      const bool source = container.life == Life::kExited && container.exit_seen &&
                          RestartsAllAfterExit(plan_.containers[index], container.exit_code);
      (source ? sources : others).push_back(&container);
    }
    if (auto action = steps_.Stop(kills)) return action;
    Starter starter(in_, pod_, sandbox, steps_);
    for (const KnownContainer* container : may_run) {
      if (auto action = starter.StartAgain(plan_.Find(container->name), *container)) return action;
    }
    if (!kills.empty() || !may_run.empty()) return std::nullopt;
    if (auto action = steps_.RemoveContainers(others.empty() ? sources : others, KeepLogs::kYes)) {
      return action;
    }
    return std::nullopt;
  }

  const DecideInput& in_;
  const PodPlan& plan_;
  const KnownPod& pod_;
  Steps steps_;
  ContainerVerdict verdict_ = {};
};

}  // namespace

TimePoint ActiveDeadline(const DecideInput& input) {
  if (!input.plan.active_deadline || !input.state.active_since) return kNever;
  return After(*input.state.active_since, *input.plan.active_deadline);
}

Action DecideSyncing(const DecideInput& input, const KnownPod& pod) {
  return Syncing(input, pod).Run();
}

}  // namespace denselet::sync
