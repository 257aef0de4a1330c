#include "sync/ledger/pod_ledger.h"

#include <algorithm>

namespace denselet::sync {
namespace {

bool Covered(const Call& call, Epoch as_of) {
  return call.state != CallState::kInFlight && call.ended < as_of;
}

// Has done its duty: nothing to wait for, nothing to remember.
bool IsHistory(const Call& call, Epoch as_of) {
  return call.state == CallState::kNone ||
         (Covered(call, as_of) && call.state != CallState::kFailed &&
          call.state != CallState::kUnknown);
}

bool IsUnresolved(const Call& call, Epoch as_of) {
  return call.state == CallState::kInFlight ||
         (call.state == CallState::kUnknown && call.ended >= as_of);
}

// A create that failed or whose outcome nobody knew, and what it was to make is there: it was made.
void Settle(Call& create, Epoch as_of) {
  if (!Covered(create, as_of)) return;
  if (create.state != CallState::kFailed && create.state != CallState::kUnknown) return;
  create = {.state = CallState::kDone, .ended = create.ended, .began = create.began};
}

}  // namespace

std::string_view CallKindName(CallKind kind) {
  switch (kind) {
    case CallKind::kRunSandbox:
      return "run sandbox";
    case CallKind::kStopSandbox:
      return "stop sandbox";
    case CallKind::kRemoveSandbox:
      return "remove sandbox";
    case CallKind::kReadSandbox:
      return "read sandbox";
    case CallKind::kCreate:
      return "create container";
    case CallKind::kStart:
      return "start container";
    case CallKind::kPostStart:
      return "postStart";
    case CallKind::kPreStop:
      return "preStop";
    case CallKind::kStop:
      return "stop container";
    case CallKind::kRemove:
      return "remove container";
    case CallKind::kReadContainer:
      return "read container";
  }
  return "";
}

SandboxEntry& PodLedger::Sandbox(uint32_t attempt) {
  for (SandboxEntry& entry : view_.sandboxes) {
    if (entry.attempt == attempt) return entry;
  }
  view_.sandboxes.push_back({.attempt = attempt});
  return view_.sandboxes.back();
}

ContainerEntry& PodLedger::Container(const std::string& name, uint32_t attempt) {
  for (ContainerEntry& entry : view_.containers) {
    if (entry.attempt == attempt && entry.name == name) return entry;
  }
  view_.containers.push_back({.name = name, .attempt = attempt});
  return view_.containers.back();
}

SandboxEntry* PodLedger::FindSandbox(const SandboxId& id) {
  for (SandboxEntry& entry : view_.sandboxes) {
    if (entry.id == id) return &entry;
  }
  return nullptr;
}

ContainerEntry* PodLedger::FindContainer(const ContainerId& id) {
  for (ContainerEntry& entry : view_.containers) {
    if (entry.id == id) return &entry;
  }
  return nullptr;
}

void PodLedger::Begin(Call& call, TimePoint now) {
  call = {.state = CallState::kInFlight, .began = now};
}

// Sandboxes of one pod follow each other: none is run while another is being run.
Status PodLedger::BeginRunSandbox(uint32_t attempt, TimePoint now) {
  for (const SandboxEntry& entry : view_.sandboxes) {
    ENSURE(!entry.run.in_flight(), "a sandbox is being run already");
    ENSURE(entry.attempt != attempt || !entry.run.done() || faults_.forget_done,
           "this attempt's sandbox was run already");
  }
  SandboxEntry& entry = Sandbox(attempt);
  entry.id = {};
  entry.seen.reset();
  Begin(entry.run, now);
  return Ok();
}

Status PodLedger::BeginCreate(const std::string& name, uint32_t attempt, const SandboxId& sandbox,
                              uint64_t hash, TimePoint now) {
  for (const ContainerEntry& entry : view_.containers) {
    if (entry.name != name) continue;
    ENSURE(!entry.create.in_flight(), "a container of this name is being created already");
    ENSURE(entry.attempt != attempt || !entry.create.done() || faults_.forget_done,
           "this attempt was created already");
  }
  ContainerEntry& entry = Container(name, attempt);
  entry = {.name = name, .attempt = attempt, .sandbox = sandbox, .hash = hash};
  Begin(entry.create, now);
  return Ok();
}

void PodLedger::End(Call& call, const Status& answer, Epoch ended, std::string_view reason,
                    bool is_create, TimePoint now, double jitter) {
  call.ended = ended;
  if (answer) {
    call.state = faults_.forget_done && is_create ? CallState::kNone : CallState::kDone;
    failures_ = 0;
    return;
  }
  const ErrorCode code = answer.error().code();
  const bool surely_not_taken = code == ErrorCode::kUnavailable || code == ErrorCode::kOverloaded ||
                                code == ErrorCode::kDeadlineExceeded ||
                                code == ErrorCode::kCancelled;
  const bool unknown =
      code == ErrorCode::kUnknownOutcome || (is_create && code == ErrorCode::kAlreadyExists);
  call.state = unknown && !faults_.unknown_is_failed ? CallState::kUnknown : CallState::kFailed;
  call.no_effect = surely_not_taken || (unknown && faults_.unknown_is_failed);
  call.failure = CallFailure{.reason = std::string(reason), .message = answer.error().message()};
  // What nobody wanted any more says nothing about the runtime.
  const uint32_t doublings = std::min<uint32_t>(failures_, 8);
  if (code != ErrorCode::kCancelled) ++failures_;
  const Duration pause = std::min(retry_.pause_min * (1 << doublings), retry_.pause_max);
  call.retry_at = After(
      now, pause + Duration(static_cast<int64_t>(static_cast<double>(pause.count()) * jitter)));
}

void PodLedger::Prune(const ObservedPod& observed, Epoch as_of) {
  for (const ObservedSandbox& seen : observed.sandboxes) {
    for (SandboxEntry& entry : view_.sandboxes) {
      if (entry.attempt != seen.attempt) continue;
      Settle(entry.run, as_of);
      if (entry.id.empty() && entry.run.done()) entry.id = seen.id;
    }
  }
  for (const ObservedContainer& seen : observed.containers) {
    for (ContainerEntry& entry : view_.containers) {
      if (entry.attempt != seen.attempt || entry.name != seen.name) continue;
      Settle(entry.create, as_of);
      if (entry.id.empty() && entry.create.done()) entry.id = seen.id;
      if (entry.seen_at < as_of && entry.id == seen.id) entry.seen.reset();
    }
  }
  std::erase_if(view_.sandboxes, [&observed, as_of](const SandboxEntry& entry) {
    const bool history = IsHistory(entry.run, as_of) && IsHistory(entry.stop, as_of) &&
                         IsHistory(entry.remove, as_of);
    const bool newer = std::ranges::any_of(observed.sandboxes, [&entry](const ObservedSandbox& s) {
      return s.attempt > entry.attempt;
    });
    const bool there = std::ranges::any_of(observed.sandboxes, [&entry](const ObservedSandbox& s) {
      return s.attempt == entry.attempt;
    });
    const bool settled =
        Covered(entry.run, as_of) && Covered(entry.stop, as_of) && Covered(entry.remove, as_of);
    // That a sandbox was stopped is in no observation: it is remembered as long as it is there.
    return !there && (history || (settled && newer));
  });
  std::erase_if(view_.containers, [&observed, as_of](const ContainerEntry& entry) {
    const Call* calls[] = {&entry.create,   &entry.start, &entry.post_start,
                           &entry.pre_stop, &entry.stop,  &entry.remove};
    const bool history =
        std::ranges::all_of(calls, [as_of](const Call* c) { return IsHistory(*c, as_of); });
    const bool settled = std::ranges::all_of(calls, [as_of](const Call* c) {
      return Covered(*c, as_of) || c->state == CallState::kNone;
    });
    const auto same_name = [&entry](const ObservedContainer& c) { return c.name == entry.name; };
    bool there = false;
    bool newer = false;
    for (const ObservedContainer& container : observed.containers) {
      if (!same_name(container)) continue;
      there |= container.attempt == entry.attempt;
      newer |= container.attempt > entry.attempt;
    }
    return (history && !there) || (settled && newer);
  });
}

bool PodLedger::making() const {
  return std::ranges::any_of(view_.sandboxes,
                             [](const SandboxEntry& e) { return e.run.in_flight(); }) ||
         std::ranges::any_of(view_.containers, [](const ContainerEntry& e) {
           return e.create.in_flight() || e.start.in_flight();
         });
}

std::optional<uint32_t> PodLedger::LateSandbox() const {
  std::optional<uint32_t> late;
  for (const SandboxEntry& entry : view_.sandboxes) {
    if (entry.run.state != CallState::kUnknown) continue;
    late = std::max(late.value_or(0), entry.attempt);
  }
  return late;
}

size_t PodLedger::Unresolved(Epoch as_of) const {
  size_t count = 0;
  for (const SandboxEntry& entry : view_.sandboxes) count += IsUnresolved(entry.run, as_of);
  for (const ContainerEntry& entry : view_.containers) count += IsUnresolved(entry.create, as_of);
  return count;
}

}  // namespace denselet::sync
