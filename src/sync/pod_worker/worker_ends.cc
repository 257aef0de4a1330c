// What a pod worker does to end a pod, or one container of it.
#include <algorithm>
#include <utility>

#include "sync/pod_worker/pod_worker.h"
#include "sync/pod_worker/worker_pauses.h"

namespace denselet::sync {
namespace {

constexpr Duration kGraceMin = Seconds(2);  // that is ever sent

// What is gone need not be stopped or removed.
Status GoneIsFine(const Status& answer) {
  if (!answer && answer.error().code() == ErrorCode::kNotFound) return Ok();
  return answer;
}

}  // namespace

Status PodWorker::Begin(const RecordEnd&, TimePoint now) {
  facts_.end_record = {.state = WorkState::kInProgress, .retry_at = After(now, kEndRecordLimit)};
  if (!host_.RecordEnd(*this)) EndRecorded();
  return Ok();
}

Status PodWorker::Begin(const ReleasePod&, TimePoint now) {
  facts_.release = {.state = WorkState::kInProgress};
  const Result<OpToken> op = host_.BeginOp(*this, "release", OpGroup::kEnds);
  if (!op) {
    EndWork(facts_.release, op.error(), release_failures_, now);
    return Ok();
  }
  host_.ports().resources.Release(
      WorkContext(*op, now, kWorkLimit), pod_id_,
      host_.Reply<Unit>(*op, [](PodWorker& w, const Status& answer, TimePoint then) {
        w.EndWork(w.facts_.release, answer, w.release_failures_, then);
      }));
  return Ok();
}

Status PodWorker::Begin(const RemoveLogs&, TimePoint now) {
  facts_.logs = {.state = WorkState::kInProgress};
  const Result<OpToken> op = host_.BeginOp(*this, "remove logs", OpGroup::kEnds);
  if (!op) {
    EndWork(facts_.logs, op.error(), logs_failures_, now);
    return Ok();
  }
  host_.ports().resources.RemoveLogs(
      WorkContext(*op, now, kWorkLimit), pod_id_,
      host_.Reply<Unit>(*op, [](PodWorker& w, const Status& answer, TimePoint then) {
        w.EndWork(w.facts_.logs, answer, w.logs_failures_, then);
      }));
  return Ok();
}

Status PodWorker::Begin(const StopContainers& action, TimePoint now) {
  if (state_.phase == Phase::kTerminating && !state_.kill_began) state_.kill_began = now;
  for (const ContainerStop& step : action.steps) {
    if (Status began = StopOne(step, now); !began) return began;
  }
  return Ok();
}

Status PodWorker::StopOne(const ContainerStop& step, TimePoint now) {
  ContainerEntry& entry = ledger_.Container(step.name, step.attempt);
  entry.id = step.id;
  entry.sandbox = step.sandbox;
  if (entry.kill_reason == KillReason::kNone || step.reason == KillReason::kPodStops) {
    entry.kill_reason = step.reason;
  }
  entry.restart_at_once = step.restart_at_once;
  if (!entry.stop_began) {
    entry.stop_began = now;
    TellStop(entry);
  }
  const std::pair key(step.name, step.attempt);

  if (step.step == ContainerStop::Step::kPreStop) {
    PodLedger::Begin(entry.pre_stop, now);
    const Result<OpToken> op = host_.BeginOp(*this, "preStop", OpGroup::kEnds);
    if (!op || !pod_) {
      if (op) host_.Abandon(*op);
      EndCall(entry.pre_stop, Error(ErrorCode::kUnsupported, "the hook cannot be run"), "preStop",
              false, now);
      return Ok();
    }
    host_.ports().hooks.Run(
        WorkContext(*op, now, step.grace), HookKind::kPreStop, pod_, step.name, step.id, PodIps(),
        host_.Reply<HookOutcome>(
            *op, [key, ends = After(now, step.grace)](
                     PodWorker& w, const Result<HookOutcome>& answer, TimePoint then) {
              w.EndCall(w.ledger_.Container(key.first, key.second).pre_stop, ToStatus(answer),
                        "preStop", false, then);
              if (answer) return w.TellHook(*answer);
              // One that is cut off by the grace has not failed.
              if (then >= ends) return;
              w.Tell(key.first, EventType::kWarning, "FailedPreStopHook", "PreStopHook failed");
            }));
    return Ok();
  }

  // A second try, or another reason, does not lengthen what the first stop promised.
  Duration grace = step.grace;
  if (entry.stop.state != CallState::kNone && !faults_.grace_grows) {
    const Duration left = std::chrono::ceil<Seconds>(entry.stop_ends - now);
    grace = std::min(grace, std::max<Duration>(left, kGraceMin));
  }
  const TimePoint ends = After(now, grace);
  if (step.supersedes) {
    ENSURE(ends <= entry.stop_ends || faults_.grace_grows, "a grace that grows");
    if (const auto old = stop_ops_.find(key); old != stop_ops_.end()) host_.Abandon(old->second);
  }
  ENSURE(step.supersedes || !entry.stop.in_flight(), "this container is being stopped already");
  // Whole seconds are asked for, so each try would add up to one to what the first has promised.
  const bool is_first = entry.stop.state == CallState::kNone;
  entry.stop_ends = is_first || faults_.grace_grows ? ends : std::min(entry.stop_ends, ends);
  PodLedger::Begin(entry.stop, now);
  const Result<OpToken> op = host_.BeginOp(*this, "stop container", OpGroup::kEnds);
  if (!op) {
    EndCall(entry.stop, op.error(), "KillContainerError", false, now);
    return Ok();
  }
  stop_ops_[key] = *op;
  host_.ports().runtime.StopContainer(
      WorkContext(*op, now, Duration::max()), step.id, grace,
      host_.Reply<Unit>(*op, [key](PodWorker& w, const Status& answer, TimePoint then) {
        w.stop_ops_.erase(key);
        w.EndCall(w.ledger_.Container(key.first, key.second).stop, GoneIsFine(answer),
                  "KillContainerError", false, then);
      }));
  return Ok();
}

Status PodWorker::Begin(const StopSandboxes& action, TimePoint now) {
  for (const SandboxId& id : action.ids) {
    if (Status began = StopSandboxNow(id, now); !began) return began;
  }
  return Ok();
}

Status PodWorker::StopSandboxNow(const SandboxId& id, TimePoint now) {
  const std::optional<uint32_t> attempt = AttemptOf(id);
  ENSURE(attempt.has_value(), "a sandbox that nobody has seen");
  SandboxEntry& entry = ledger_.Sandbox(*attempt);
  ENSURE(!entry.stop.in_flight(), "this sandbox is being stopped already");
  entry.id = id;
  PodLedger::Begin(entry.stop, now);
  const Result<OpToken> op = host_.BeginOp(*this, "stop sandbox", OpGroup::kEnds);
  if (!op) {
    EndCall(entry.stop, op.error(), "KillPodSandboxError", false, now);
    return Ok();
  }
  host_.ports().runtime.StopSandbox(
      WorkContext(*op, now, Duration::max()), id,
      host_.Reply<Unit>(*op,
                        [attempt = *attempt](PodWorker& w, const Status& answer, TimePoint then) {
                          w.EndCall(w.ledger_.Sandbox(attempt).stop, GoneIsFine(answer),
                                    "KillPodSandboxError", false, then);
                        }));
  return Ok();
}

// Containers before the sandboxes that they are in; what is left is asked for again.
Status PodWorker::Begin(const Remove& action, TimePoint now) {
  // What the status needs stays until that has arrived (invariant 14).
  ENSURE(state_.phase != Phase::kFinished || facts_.removal_allowed || facts_.status_settled,
         "the last status of the pod has not arrived");
  for (const ContainerId& id : action.containers) {
    if (Status began = RemoveContainerNow(id, action.logs, now); !began) return began;
  }
  if (!action.containers.empty()) return Ok();
  for (const SandboxId& id : action.sandboxes) {
    if (Status began = RemoveSandboxNow(id, now); !began) return began;
  }
  return Ok();
}

// Its logs first, as the kubelet does: what is not removed with it nobody would find before the end
// of the pod. They hold up nothing: those that stay go with the pod's directory.
Status PodWorker::RemoveContainerNow(const ContainerId& id, KeepLogs logs, TimePoint now) {
  ContainerEntry* entry = ledger_.FindContainer(id);
  if (entry == nullptr) {
    const ObservedContainer* observed = Observed(id);
    ENSURE(observed != nullptr, "a container that nobody has seen");
    entry = &ledger_.Container(observed->name, observed->attempt);
    entry->id = id;
    entry->sandbox = observed->sandbox;
  }
  ENSURE(!entry->remove.in_flight(), "this container is being removed already");
  PodLedger::Begin(entry->remove, now);
  const std::string name = entry->name;
  const uint32_t attempt = entry->attempt;
  if (logs == KeepLogs::kYes) {
    // The logs of a pod that ends go together, and nobody would know then what links led to them.
    if (state_.phase == Phase::kFinished) {
      host_.ports().resources.UnlinkLog(pod_id_, {name, attempt, id});
    }
    SendRemoval(id, name, attempt, now);
    return Ok();
  }
  const Result<OpToken> op = host_.BeginOp(*this, "remove a container's logs", OpGroup::kEnds);
  if (!op) {
    EndCall(entry->remove, op.error(), "remove", false, now);
    return Ok();
  }
  host_.ports().resources.RemoveContainerLogs(
      WorkContext(*op, now, kLogsLimit), pod_id_, {name, attempt, id},
      host_.Reply<Unit>(
          *op, [id, name, attempt](PodWorker& w, const Status& answer, TimePoint then) {
            if (!answer) w.NoteText(then, "logs of " + name + " stay: " + answer.error().message());
            w.SendRemoval(id, name, attempt, then);
          }));
  return Ok();
}

void PodWorker::SendRemoval(const ContainerId& id, const std::string& name, uint32_t attempt,
                            TimePoint now) {
  const Result<OpToken> op = host_.BeginOp(*this, "remove container", OpGroup::kEnds);
  if (!op)
    return EndCall(ledger_.Container(name, attempt).remove, op.error(), "remove", false, now);
  host_.ports().runtime.RemoveContainer(
      WorkContext(*op, now, Duration::max()), id,
      host_.Reply<Unit>(*op, [name, attempt](PodWorker& w, const Status& answer, TimePoint then) {
        w.EndCall(w.ledger_.Container(name, attempt).remove, GoneIsFine(answer), "remove", false,
                  then);
      }));
}

Status PodWorker::RemoveSandboxNow(const SandboxId& id, TimePoint now) {
  const std::optional<uint32_t> attempt = AttemptOf(id);
  ENSURE(attempt.has_value(), "a sandbox that nobody has seen");
  SandboxEntry& entry = ledger_.Sandbox(*attempt);
  ENSURE(!entry.remove.in_flight(), "this sandbox is being removed already");
  entry.id = id;
  PodLedger::Begin(entry.remove, now);
  const Result<OpToken> op = host_.BeginOp(*this, "remove sandbox", OpGroup::kEnds);
  if (!op) {
    EndCall(entry.remove, op.error(), "remove", false, now);
    return Ok();
  }
  host_.ports().runtime.RemoveSandbox(
      WorkContext(*op, now, Duration::max()), id,
      host_.Reply<Unit>(
          *op, [attempt = *attempt](PodWorker& w, const Status& answer, TimePoint then) {
            w.EndCall(w.ledger_.Sandbox(attempt).remove, GoneIsFine(answer), "remove", false, then);
          }));
  return Ok();
}

}  // namespace denselet::sync
