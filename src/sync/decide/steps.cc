#include "sync/decide/steps.h"

#include <algorithm>

namespace denselet::sync {
namespace {

// A runtime that says that something was stopped and shows it running is asked again after this.
constexpr Duration kAskAgainAfter = Seconds(10);

bool IsStopping(CallState state) { return state != CallState::kNone; }

// When a stop that did not help may be repeated.
TimePoint RepeatAt(const Call& call) {
  if (call.state == CallState::kDone) return After(call.began, kAskAgainAfter);
  return call.retry_at;
}

}  // namespace

std::optional<ContainerStop> Steps::StopStep(const Kill& kill) {
  const KnownContainer& container = *kill.container;
  const ContainerEntry* entry = container.entry;
  const TimePoint began = container.stopping() ? *entry->stop_began : std::min(kill.began, in_.now);
  const TimePoint ends = After(began, kill.grace);
  const Seconds left = GraceLeft(kill.grace, began, in_.now);
  ContainerStop step{.container = kill.index,
                     .name = std::string(container.name),
                     .attempt = container.attempt,
                     .id = *container.id,
                     .sandbox = container.sandbox ? *container.sandbox : SandboxId(),
                     .grace = std::max<Seconds>(left, kMinimumGrace),
                     .reason = kill.reason,
                     .restart_at_once = kill.restart_at_once};
  if (container.stopping()) {
    step.reason = entry->kill_reason;
    step.restart_at_once = entry->restart_at_once && kill.restart_at_once;
  }
  const CallState stop = entry ? entry->stop.state : CallState::kNone;
  if (stop == CallState::kInFlight) {
    // A second's difference is not worth a call.
    step.supersedes =
        entry->stop_ends > After(std::max(ends, After(in_.now, kMinimumGrace)), Seconds(1));
    if (step.supersedes) return step;
    waits_.Add({.what = WaitFor::kStop, .container = kill.index});
    return std::nullopt;
  }
  if (IsStopping(stop) && in_.now < RepeatAt(entry->stop)) {
    waits_.Add({.what = WaitFor::kStopRetry,
                .container = kill.index,
                .until = RepeatAt(entry->stop),
                .detail = entry->stop.message()});
    return std::nullopt;
  }
  const CallState hook = entry ? entry->pre_stop.state : CallState::kNone;
  const bool has_hook = kill.index != kNoContainer && in_.plan.containers[kill.index].pre_stop;
  if (left > Seconds(0) && !IsStopping(stop)) {
    if (has_hook && hook == CallState::kNone) {
      step.step = ContainerStop::Step::kPreStop;
      step.grace = left;
      return step;
    }
    if (hook == CallState::kInFlight) {
      waits_.Add({.what = WaitFor::kPreStop, .container = kill.index, .until = ends});
      return std::nullopt;
    }
    if (!kill.its_turn) {
      waits_.Add({.what = WaitFor::kStopTurn, .container = kill.index, .until = ends});
      return std::nullopt;
    }
  }
  return step;
}

MaybeAction Steps::Stop(const std::vector<Kill>& kills) {
  StopContainers action;
  for (const Kill& kill : kills) {
    if (auto step = StopStep(kill)) action.steps.push_back(std::move(*step));
  }
  if (action.steps.empty()) return std::nullopt;
  return action;
}

// A sidecar stops after all regular containers, and after the sidecars that were started later.
bool Steps::ItsTurn(ContainerIndex index) const {
  if (index == kNoContainer || in_.plan.containers[index].kind != ContainerKind::kSidecar)
    return true;
  for (size_t other = 0; other < in_.plan.containers.size(); ++other) {
    const ContainerKind kind = in_.plan.containers[other].kind;
    const bool before =
        kind == ContainerKind::kRegular || (kind == ContainerKind::kSidecar && other > index);
    if (!before) continue;
    const KnownContainer* container = pod_.Subject(static_cast<ContainerIndex>(other));
    if (container && container->life == Life::kRunning) return false;
  }
  return true;
}

// Something of it has yet to stop.
bool Steps::Runs(const SandboxId& sandbox) const {
  return std::ranges::any_of(pod_.containers, [&sandbox](const KnownContainer& container) {
    return container.life == Life::kRunning && container.sandbox && *container.sandbox == sandbox;
  });
}

// A sidecar's grace runs while it waits for its turn. What was stopped with a sandbox before, and
// is kept, does not count: its grace was another one.
TimePoint Steps::PodStopBegan() const {
  TimePoint began = in_.state.kill_began.value_or(kNever);
  for (const KnownContainer& container : pod_.containers) {
    if (!container.stopping() || container.entry->kill_reason != KillReason::kPodStops) continue;
    if (container.sandbox && !Runs(*container.sandbox)) continue;
    began = std::min(began, *container.entry->stop_began);
  }
  return began;
}

std::vector<Kill> Steps::AllRunning(std::optional<Seconds> grace) const {
  static const ContainerPlan kNobody;
  std::vector<Kill> kills;
  const TimePoint began = PodStopBegan();
  for (const KnownContainer& container : pod_.containers) {
    if (container.life != Life::kRunning) continue;
    const ContainerIndex index = in_.plan.Find(container.name);
    const ContainerPlan& plan = index == kNoContainer ? kNobody : in_.plan.containers[index];
    kills.push_back({.container = &container,
                     .index = index,
                     .reason = KillReason::kPodStops,
                     .grace = grace ? *grace : KillGrace(in_.plan, plan, KillReason::kPodStops),
                     .its_turn = ItsTurn(index),
                     .began = began});
  }
  return kills;
}

MaybeAction Steps::StopPod(std::optional<Seconds> grace) {
  const std::vector<Kill> kills = AllRunning(grace);
  if (auto action = Stop(kills)) return action;
  // A container that could not be stopped does not hold up its sandbox, whose end ends it by force.
  const bool tried = std::ranges::all_of(kills, [](const Kill& kill) {
    const ContainerEntry* entry = kill.container->entry;
    return entry &&
           (entry->stop.state == CallState::kFailed || entry->stop.state == CallState::kUnknown ||
            entry->stop.state == CallState::kDone);
  });
  if (!tried) return std::nullopt;
  return StopSandboxesNow();
}

MaybeAction Steps::StopSandboxesNow() {
  StopSandboxes action;
  for (const KnownSandbox& sandbox : pod_.sandboxes) {
    const Call stop = sandbox.entry ? sandbox.entry->stop : Call{};
    if (stop.in_flight()) {
      waits_.Add({.what = WaitFor::kSandboxStop});
    } else if (stop.done() && !sandbox.ready) {
      continue;
    } else if (stop.state != CallState::kNone && in_.now < RepeatAt(stop)) {
      waits_.Add(
          {.what = WaitFor::kSandboxRetry, .until = RepeatAt(stop), .detail = stop.message()});
    } else {
      action.ids.push_back(*sandbox.id);
    }
  }
  if (action.ids.empty()) return std::nullopt;
  return action;
}

bool Steps::MayBegin(const Call& call, WaitFor in_flight, WaitFor retry) {
  if (call.in_flight()) {
    waits_.Add({.what = in_flight});
    return false;
  }
  if (call.state == CallState::kNone || in_.now >= RepeatAt(call)) return true;
  waits_.Add({.what = retry, .until = RepeatAt(call), .detail = call.message()});
  return false;
}

MaybeAction Steps::RemoveContainers(const std::vector<const KnownContainer*>& containers,
                                    KeepLogs logs) {
  Remove action{.logs = logs};
  bool look = false;
  for (const KnownContainer* container : containers) {
    const Call remove = container->entry ? container->entry->remove : Call{};
    if (!MayBegin(remove, WaitFor::kRemove, WaitFor::kRemoveRetry)) continue;
    // An agent before us may have asked it to start, and it may have done so while our first try
    // went wrong.
    if (container->life == Life::kCreated && remove.state != CallState::kNone &&
        container->as_of <= remove.ended) {
      look = true;
    } else {
      action.containers.push_back(*container->id);
    }
  }
  if (!action.containers.empty()) return action;
  if (look) return ReadPod();
  return std::nullopt;
}

// Their sandboxes were stopped: nothing of it can start.
MaybeAction Steps::RemoveAll() {
  Remove action{.logs = KeepLogs::kYes};
  for (const KnownContainer& container : pod_.containers) {
    const Call remove = container.entry ? container.entry->remove : Call{};
    if (MayBegin(remove, WaitFor::kRemove, WaitFor::kRemoveRetry)) {
      action.containers.push_back(*container.id);
    }
  }
  for (const KnownSandbox& sandbox : pod_.sandboxes) {
    const Call remove = sandbox.entry ? sandbox.entry->remove : Call{};
    if (MayBegin(remove, WaitFor::kRemove, WaitFor::kRemoveRetry)) {
      action.sandboxes.push_back(*sandbox.id);
    }
  }
  if (action.containers.empty() && action.sandboxes.empty()) return std::nullopt;
  return action;
}

MaybeAction Steps::RemoveDeadSandboxes(const std::vector<const KnownSandbox*>& sandboxes) {
  StopSandboxes stops;
  Remove removals;
  for (const KnownSandbox* sandbox : sandboxes) {
    const SandboxEntry none;
    const SandboxEntry& entry = sandbox->entry ? *sandbox->entry : none;
    if (!sandbox->stopped()) {
      if (MayBegin(entry.stop, WaitFor::kSandboxStop, WaitFor::kSandboxRetry)) {
        stops.ids.push_back(*sandbox->id);
      }
    } else if (MayBegin(entry.remove, WaitFor::kRemove, WaitFor::kRemoveRetry)) {
      removals.sandboxes.push_back(*sandbox->id);
    }
  }
  if (!stops.ids.empty()) return stops;
  if (!removals.sandboxes.empty()) return removals;
  return std::nullopt;
}

Action Steps::ReadPod() {
  if (in_.ledger.read_in_flight) return Wait{.what = WaitFor::kRead};
  if (in_.now < in_.ledger.read_retry_at) {
    return Wait{.what = WaitFor::kReadRetry,
                .until = in_.ledger.read_retry_at,
                .detail = in_.ledger.read_failure};
  }
  return Read{.whole_pod = true};
}

MaybeAction Steps::ReadChanged() {
  // More is about to change.
  const bool busy = std::ranges::any_of(in_.ledger.containers, [](const ContainerEntry& entry) {
    return entry.create.in_flight() || entry.start.in_flight() || entry.post_start.in_flight();
  });
  if (busy) return std::nullopt;
  Read read;
  for (const KnownSandbox& sandbox : pod_.sandboxes) {
    if (sandbox.stopped() && in_.observation.epoch <= sandbox.entry->stop.ended) {
      read.whole_pod = true;  // its containers went with it
    }
    if (!sandbox.seen) read.sandboxes.push_back(*sandbox.id);
  }
  for (const KnownContainer& container : pod_.containers) {
    if (!container.entry || !container.id) continue;
    const Epoch looked = std::max(in_.observation.epoch, container.entry->seen_at);
    const auto changed = [&](const Call& call) { return call.done() && looked <= call.ended; };
    if (changed(container.entry->create) || changed(container.entry->start) ||
        changed(container.entry->stop)) {
      read.containers.push_back(*container.id);
    }
  }
  if (!read.whole_pod && read.sandboxes.empty() && read.containers.empty()) return std::nullopt;
  if (read.whole_pod) read = {.whole_pod = true};
  if (in_.ledger.read_in_flight) {
    waits_.Add({.what = WaitFor::kRead});
    return std::nullopt;
  }
  if (in_.now < in_.ledger.read_retry_at) {
    waits_.Add({.what = WaitFor::kReadRetry,
                .until = in_.ledger.read_retry_at,
                .detail = in_.ledger.read_failure});
    return std::nullopt;
  }
  return read;
}

bool Steps::StartsInFlight() const {
  return pod_.running_sandbox ||
         std::ranges::any_of(in_.ledger.containers, [](const ContainerEntry& entry) {
           return entry.create.in_flight() || entry.start.in_flight();
         });
}

void Steps::WaitForStarts() {
  if (pod_.running_sandbox) waits_.Add({.what = WaitFor::kSandboxRun});
  for (const ContainerEntry& entry : in_.ledger.containers) {
    const ContainerIndex index = in_.plan.Find(entry.name);
    if (entry.create.in_flight()) waits_.Add({.what = WaitFor::kCreate, .container = index});
    if (entry.start.in_flight()) waits_.Add({.what = WaitFor::kStart, .container = index});
  }
}

}  // namespace denselet::sync
