#include "sync/decide/start_steps.h"

#include <algorithm>

namespace denselet::sync {
namespace {

bool Failed(const Call& call) {
  return call.state == CallState::kFailed || call.state == CallState::kUnknown;
}

// One that was stopped in order to be started at once is not judged by its own end.
const KnownContainer* NotJudged(const KnownContainer* subject) {
  return subject && subject->entry && subject->entry->restart_at_once ? subject : nullptr;
}

}  // namespace

uint32_t NextAttempt(const DecideInput& input, const KnownPod& pod, ContainerIndex index) {
  const std::string& name = input.plan.containers[index].name;
  std::optional<uint32_t> newest;
  for (const KnownContainer& container : pod.containers) {
    if (container.name == name) newest = std::max(newest.value_or(0), container.attempt);
  }
  const uint32_t logged =
      index < input.facts.containers.size() ? input.facts.containers[index].logged_attempts : 0;
  const ContainerMemory* memory = input.memory.Find(name);
  // What is gone from the runtime has had its number, too, also where an older one is still there.
  const uint32_t had = std::max(newest ? 0 : logged, memory ? memory->attempts : 0);
  uint32_t attempt = std::max(had, newest ? *newest + 1 : 0);
  // One that was asked for and did not come to be is asked for again under its own number.
  for (const ContainerEntry& entry : input.ledger.containers) {
    if (entry.name != name || !Failed(entry.create) || entry.attempt + 1 != attempt) continue;
    if (!newest || entry.attempt > *newest) --attempt;
  }
  return attempt;
}

std::optional<BackOff> CrashLoop(const DecideInput& input, const KnownPod& pod,
                                 ContainerIndex index) {
  const auto exited = ExitBefore(input, pod, index, NotJudged(pod.Subject(index)));
  const ContainerMemory* memory = input.memory.Find(input.plan.containers[index].name);
  if (!exited || !memory) return std::nullopt;
  const uint64_t key = input.plan.containers[index].back_off_key;
  const auto delay = BackOffDelay(memory->back_off, key, *exited, input.now);
  if (!delay) return std::nullopt;
  return BackOff{.delay = *delay, .until = After(*exited, *delay)};
}

std::optional<Duration> CrashLoopDelay(const DecideInput& input, const KnownPod& pod,
                                       ContainerIndex index) {
  const auto exited = ExitBefore(input, pod, index, NotJudged(pod.Subject(index)));
  const ContainerMemory* memory = input.memory.Find(input.plan.containers[index].name);
  if (!exited || !memory) return std::nullopt;
  return BackOffDelay(memory->back_off, input.plan.containers[index].back_off_key, *exited,
                      *exited);
}

MaybeAction Starter::Start(const ContainerVerdict& verdict) {
  if (auto action = Images(verdict.ephemeral)) return action;
  for (const ContainerIndex index : verdict.ephemeral) {
    if (Step step = Advance(index); step.action) return step.action;
  }
  bool held = false;
  if (auto action = Images(verdict.init)) return action;
  if (auto action = StartInOrder(verdict.init, held)) return action;
  if (held || !verdict.initialized) {
    const ContainerIndex who = verdict.initializing;
    if (who != kNoContainer) {
      const bool sidecar = plan_.containers[who].kind == ContainerKind::kSidecar;
      steps_.waits().Add(
          {.what = sidecar ? WaitFor::kStartupProbe : WaitFor::kInitContainer, .container = who});
    }
    return std::nullopt;
  }
  if (auto action = Images(verdict.regular)) return action;
  return StartInOrder(verdict.regular, held);
}

MaybeAction Starter::StartInOrder(const std::vector<ContainerIndex>& containers, bool& held) {
  for (const ContainerIndex index : containers) {
    Step step = Advance(index);
    if (step.action) return step.action;
    const bool needed = plan_.containers[index].kind == ContainerKind::kInit;
    if (step.hold == Hold::kYes || needed) {
      held = true;
      return std::nullopt;
    }
  }
  return std::nullopt;
}

Starter::Step Starter::WaitingFor(WaitFor what, ContainerIndex index, Hold hold) {
  steps_.waits().Add({.what = what, .container = index});
  return {.hold = hold};
}

bool Starter::NeedsInstance(ContainerIndex index) const {
  const KnownContainer* container = SubjectIn(plan_, pod_, index, sandbox_);
  if (!container) return true;
  switch (container->life) {
    case Life::kNone:
    case Life::kExited:
      return true;
    case Life::kCreated: {
      const bool here = container->sandbox && *container->sandbox == *sandbox_.id;
      const bool same = !container->hash || *container->hash == plan_.containers[index].hash;
      // One that the runtime refused to start and still shows as created will not be started. One
      // whose start has an unknown outcome may yet run: it is the one to start again.
      const Call start = container->entry ? container->entry->start : Call{};
      if (here && start.state == CallState::kUnknown) return false;
      const bool refused = start.state == CallState::kFailed && !start.no_effect;
      return !here || !same || (refused && container->as_of > start.ended);
    }
    case Life::kCreating:
    case Life::kStarting:
    case Life::kRunning:
    case Life::kUnknown:
      return false;
  }
  return false;
}

Starter::Step Starter::Advance(ContainerIndex index) {
  if (NeedsInstance(index)) return NewInstance(index);
  const KnownContainer& container = *pod_.Subject(index);
  switch (container.life) {
    case Life::kCreating:
      return WaitingFor(WaitFor::kCreate, index, Hold::kYes);
    case Life::kCreated:
      return StartMade(index, container);
    case Life::kStarting:
      return WaitingFor(WaitFor::kStart, index, Hold::kYes);
    case Life::kRunning:
      if (container.entry && container.entry->post_start.in_flight()) {
        return WaitingFor(WaitFor::kPostStart, index, Hold::kYes);
      }
      if (plan_.containers[index].post_start && container.entry && container.entry->start.done() &&
          container.entry->post_start.state == CallState::kNone && !container.stopping()) {
        return {.action = RunPostStart{
                    .container = index, .attempt = container.attempt, .id = *container.id}};
      }
      return {};  // to be stopped first
    case Life::kNone:
    case Life::kExited:
    case Life::kUnknown:
      return {};
  }
  return {};
}

Starter::Step Starter::StartMade(ContainerIndex index, const KnownContainer& made) {
  const Call start = made.entry ? made.entry->start : Call{};
  // One that was of no use beside another, which is gone by now.
  if (made.entry && made.entry->remove.in_flight()) {
    return WaitingFor(WaitFor::kRemove, index, Hold::kYes);
  }
  if (made.entry && made.entry->remove.state != CallState::kNone &&
      made.as_of <= made.entry->remove.ended) {
    return {.action = steps_.ReadPod(), .hold = Hold::kYes};
  }
  if (Failed(start) && !MayRetry(start)) {
    steps_.waits().Add({.what = WaitFor::kContainerRetry,
                        .container = index,
                        .until = start.retry_at,
                        .detail = start.message()});
    return {};
  }
  if (Failed(start) && !start.no_effect && made.as_of <= start.ended) {
    return {.action = steps_.ReadPod(), .hold = Hold::kYes};
  }
  return {
      .action = StartContainer{
          .container = index, .attempt = made.attempt, .id = *made.id, .sandbox = *made.sandbox}};
}

const ContainerEntry* Starter::EntryOf(ContainerIndex index, uint32_t attempt) const {
  for (const ContainerEntry& entry : in_.ledger.containers) {
    if (entry.attempt == attempt && entry.name == plan_.containers[index].name) return &entry;
  }
  return nullptr;
}

const ImageFact* Starter::Image(ContainerIndex index, uint32_t attempt) const {
  if (index >= in_.facts.containers.size()) return nullptr;
  const ImageFact& image = in_.facts.containers[index].image;
  return image.state != WorkState::kNone && image.attempt == attempt ? &image : nullptr;
}

MaybeAction Starter::Images(const std::vector<ContainerIndex>& containers) {
  EnsureImages action;
  for (const ContainerIndex index : containers) {
    if (!NeedsInstance(index) || CrashLoop(in_, pod_, index)) continue;
    const uint32_t attempt = NextAttempt(in_, pod_, index);
    const ContainerEntry* entry = EntryOf(index, attempt);
    if (entry && Failed(entry->create) && !MayRetry(entry->create)) continue;
    const ImageFact* image = Image(index, attempt);
    if (!image || (image->state == WorkState::kFailed && in_.now >= image->retry_at)) {
      action.items.push_back({.container = index, .attempt = attempt});
    }
    // Those behind an init container are not wanted yet.
    if (plan_.containers[index].kind == ContainerKind::kInit) break;
  }
  if (action.items.empty()) return std::nullopt;
  return action;
}

Starter::Step Starter::NewInstance(ContainerIndex index) {
  if (const auto loop = CrashLoop(in_, pod_, index)) {
    steps_.waits().Add({.what = WaitFor::kBackOff, .container = index, .until = loop->until});
    return {};
  }
  // A runtime that cannot start a container is not asked to make one after the other.
  const KnownContainer* last = pod_.Subject(index);
  if (last && last->life == Life::kCreated && last->entry && !MayRetry(last->entry->start)) {
    steps_.waits().Add({.what = WaitFor::kContainerRetry,
                        .container = index,
                        .until = last->entry->start.retry_at,
                        .detail = last->entry->start.message()});
    return {};
  }
  // One that was made before our time may have been asked to start then, and do so beside its
  // successor: it goes first.
  const bool here = last && last->sandbox && *last->sandbox == *sandbox_.id;
  const bool adopted = last && (!last->entry || last->entry->create.state == CallState::kNone);
  if (here && adopted && last->life == Life::kCreated) {
    auto removal = steps_.RemoveContainers({last}, KeepLogs::kYes);
    return {.action = std::move(removal), .hold = Hold::kYes};
  }
  const uint32_t attempt = NextAttempt(in_, pod_, index);
  const ContainerEntry* entry = EntryOf(index, attempt);
  if (entry && Failed(entry->create)) {
    if (!MayRetry(entry->create)) {
      steps_.waits().Add({.what = WaitFor::kContainerRetry,
                          .container = index,
                          .until = entry->create.retry_at,
                          .detail = entry->create.message()});
      return {};
    }
    if (!entry->create.no_effect && in_.observation.epoch <= entry->create.ended) {
      return {.action = steps_.ReadPod(), .hold = Hold::kYes};
    }
  }
  const ImageFact* image = Image(index, attempt);
  if (!image || image->state == WorkState::kInProgress) {
    return WaitingFor(WaitFor::kImage, index, Hold::kYes);
  }
  if (image->state == WorkState::kFailed) {
    steps_.waits().Add({.what = WaitFor::kImageRetry,
                        .container = index,
                        .until = image->retry_at,
                        .detail = image->message});
    return {};
  }
  return {.action = Create(index, attempt)};
}

MaybeAction Starter::Create(ContainerIndex index, uint32_t attempt) {
  CreateContainer action{.container = index,
                         .attempt = attempt,
                         .sandbox = *sandbox_.id,
                         .sandbox_attempt = sandbox_.attempt};
  if (sandbox_.ips) action.pod_ips = *sandbox_.ips;
  const ContainerPlan& plan = plan_.containers[index];
  if (!plan.target.empty()) {
    const ContainerIndex target = plan_.Find(plan.target);
    const KnownContainer* container = target == kNoContainer ? nullptr : pod_.Subject(target);
    if (container && container->id) action.pid_target = *container->id;
  }
  if (const auto exited = ExitBefore(in_, pod_, index, NotJudged(pod_.Subject(index)))) {
    const ContainerMemory* memory = in_.memory.Find(plan.name);
    action.back_off = NextBackOff(memory ? memory->back_off : std::nullopt, plan.back_off_key,
                                  *exited, in_.node, in_.now);
  }
  return action;
}

}  // namespace denselet::sync
