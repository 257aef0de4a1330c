// What a pod worker does to start a pod. Here and in worker_images.cc, worker_reads.cc and
// worker_ends.cc: each
// action begins its calls, writes them into the ledger before they are sent, and writes the answers
// there when they come.
#include <algorithm>
#include <utility>

#include "kube/api/types.h"
#include "sync/pod_worker/pod_worker.h"
#include "sync/pod_worker/worker_pauses.h"

namespace denselet::sync {
namespace {

constexpr std::string_view kConfigError = "CreateContainerConfigError";

// All of them in one, for who looks at the worker.
Error Unmounted(const std::vector<VolumeFault>& missing) {
  std::string names;
  std::string causes;
  for (const VolumeFault& fault : missing) {
    names += (names.empty() ? "" : " ") + fault.volume;
    causes += (causes.empty() ? "" : "; ") + fault.why.message();
  }
  return {missing.front().why.code(), "unmounted volumes=[" + names + "]: " + causes};
}

}  // namespace

Context PodWorker::WorkContext(OpToken op, TimePoint now, Duration limit) {
  Context context = host_.ContextOf(op);
  const bool urgent = work_class() == WorkClass::kCritical || state_.phase != Phase::kSyncing;
  context.priority = urgent ? Priority::kCritical : Priority::kNormal;
  context.pod = context_pod_;
  return limit == Duration::max() ? context : context.WithTimeout(now, limit);
}

void PodWorker::EndCall(Call& call, const Status& answer, std::string_view reason, bool is_create,
                        TimePoint now) {
  const WorkerPorts& ports = host_.ports();
  ledger_.End(call, answer, ports.epochs.Next(), reason, is_create, now, 0.2 * ports.random.Unit());
  if (!answer) NoteText(now, std::string(reason) + ": " + answer.error().message());
}

void PodWorker::EndWork(Work& work, const Status& answer, uint32_t& failures, TimePoint now) {
  if (answer) {
    failures = 0;
    work = {.state = WorkState::kDone};
    return;
  }
  const Duration pause = Pause(failures++);
  work = {.state = WorkState::kFailed,
          .retry_at = After(now, host_.ports().random.Jitter(pause, 0.2)),
          .message = answer.error().message()};
  NoteText(now, "failed: " + work.message);
}

std::optional<uint32_t> PodWorker::AttemptOf(const SandboxId& id) const {
  for (const SandboxEntry& entry : ledger_.view().sandboxes) {
    if (entry.id == id) return entry.attempt;
  }
  if (const ObservedPod* pod = Observe().pod) {
    for (const ObservedSandbox& sandbox : pod->sandboxes) {
      if (sandbox.id == id) return sandbox.attempt;
    }
  }
  return std::nullopt;
}

const ObservedContainer* PodWorker::Observed(const ContainerId& id) const {
  const ObservedPod* pod = Observe().pod;
  if (pod == nullptr) return nullptr;
  const auto found = std::ranges::find(pod->containers, id, &ObservedContainer::id);
  return found == pod->containers.end() ? nullptr : &*found;
}

std::vector<std::string> PodWorker::PodIps() const {
  for (const SandboxEntry& entry : ledger_.view().sandboxes) {
    if (entry.seen && entry.seen->state == SandboxState::kReady) return entry.seen->ips;
  }
  if (const ObservedPod* pod = Observe().pod) {
    for (const ObservedSandbox& sandbox : pod->sandboxes) {
      if (sandbox.state == SandboxState::kReady) return sandbox.ips;
    }
  }
  return {};
}

Status PodWorker::Begin(const PreparePod&, TimePoint now) {
  facts_.prepare = {.state = WorkState::kInProgress};
  const Result<OpToken> op = host_.BeginOp(*this, "prepare", OpGroup::kStarts);
  if (!op) {
    EndWork(facts_.prepare, op.error(), prepare_failures_, now);
    return Ok();
  }
  host_.ports().resources.Prepare(
      WorkContext(*op, now, kWorkLimit), pod_,
      host_.Reply<PreparedPod>(*op, [](PodWorker& w, Result<PreparedPod> answer, TimePoint then) {
        w.EndWork(w.facts_.prepare, ToStatus(answer), w.prepare_failures_, then);
        if (!answer) {
          if (w.starts_given_up_) return;
          return w.Tell("", EventType::kWarning, "Failed",
                        "error making pod data directories: " + answer.error().message());
        }
        w.timeline_.prepared = then;
        for (const auto& [name, attempts] : answer->logged_attempts) {
          const ContainerIndex index = w.plan_.Find(name);
          if (index != kNoContainer) w.facts_.containers[index].logged_attempts = attempts;
        }
      }));
  return Ok();
}

Status PodWorker::Begin(const MountVolumes&, TimePoint now) {
  facts_.volumes = {.state = WorkState::kInProgress};
  const Result<OpToken> op = host_.BeginOp(*this, "mount volumes", OpGroup::kStarts);
  if (!op) {
    EndWork(facts_.volumes, op.error(), mount_failures_, now);
    return Ok();
  }
  host_.ports().resources.Mount(
      WorkContext(*op, now, kWorkLimit), pod_,
      host_.Reply<MountedVolumes>(*op, [](PodWorker& w, const Result<MountedVolumes>& answer,
                                          TimePoint then) { w.EndMount(answer, then); }));
  return Ok();
}

void PodWorker::EndMount(const Result<MountedVolumes>& answer, TimePoint now) {
  Status mounted = ToStatus(answer);
  if (answer && !answer->missing.empty()) mounted = Unmounted(answer->missing);
  EndWork(facts_.volumes, mounted, mount_failures_, now);
  LogUnmounted(answer, now);
  if (mounted) {
    timeline_.mounted = now;
    return;
  }
  if (std::exchange(objects_changed_, false)) facts_.volumes.retry_at = now;
  TellUnmounted(answer);
}

Status PodWorker::Begin(const RunSandbox& action, TimePoint now) {
  ENSURE(facts_.prepare.state == WorkState::kDone, "a sandbox before the pod is prepared");
  if (Status began = ledger_.BeginRunSandbox(action.attempt, now); !began) return began;
  const auto fail = [this, &action, now](const Error& error) {
    Call& run = ledger_.Sandbox(action.attempt).run;
    EndCall(run, error, "CreatePodSandboxError", false, now);
    run.no_effect = true;
    TellSandbox(error);
    return Ok();
  };
  const Result<SandboxSpec> spec = host_.ports().specs.Sandbox(pod_, action.attempt);
  if (!spec && spec.error().code() == ErrorCode::kBug) return spec.error();
  if (!spec) return fail(spec.error());
  const Result<OpToken> op = host_.BeginOp(*this, "run sandbox", OpGroup::kStarts);
  if (!op) return fail(op.error());
  ++timeline_.runtime_calls;
  TellNotes(host_.ports().specs.Notes(pod_));
  if (action.attempt > state_.first_sandbox_attempt) {
    Tell("", EventType::kNormal, "SandboxChanged",
         "Pod sandbox changed, it will be killed and re-created.");
  }
  host_.ports().runtime.RunSandbox(
      WorkContext(*op, now, Duration::max()), *spec,
      host_.Reply<SandboxId>(
          *op, [attempt = action.attempt](PodWorker& w, Result<SandboxId> answer, TimePoint then) {
            SandboxEntry& entry = w.ledger_.Sandbox(attempt);
            if (answer) w.may_come_.erase(attempt);
            if (!answer && answer.error().code() == ErrorCode::kUnknownOutcome) {
              w.may_come_.insert(attempt);
            }
            w.EndCall(entry.run, ToStatus(answer), "CreatePodSandboxError", true, then);
            if (!answer) return w.TellSandbox(answer.error());
            entry.id = *std::move(answer);
            w.timeline_.sandbox = then;
          }));
  return Ok();
}

// First its specification is gathered, then it is made; for the ledger both are the creation.
Status PodWorker::Begin(const CreateContainer& action, TimePoint now) {
  ENSURE(action.container < plan_.containers.size(), "a container that the plan does not have");
  ENSURE(facts_.volumes.state == WorkState::kDone, "a container before its volumes");
  const ContainerPlan& plan = plan_.containers[action.container];
  if (Status began = ledger_.BeginCreate(plan.name, action.attempt, action.sandbox, plan.hash, now);
      !began) {
    return began;
  }
  memory_.NoteWaited(plan.name, action.back_off);
  const WorkerPorts& ports = host_.ports();
  Result<SandboxSpec> sandbox = ports.specs.Sandbox(pod_, action.sandbox_attempt);
  if (!sandbox) {
    return NotCreated(plan.name, action.attempt, sandbox.error(), kConfigError, now);
  }
  const Result<OpToken> op = host_.BeginOp(*this, "container's specification", OpGroup::kStarts);
  if (!op) return NotCreated(plan.name, action.attempt, op.error(), "CreateContainerError", now);
  const ImageFact& image = facts_.containers[action.container].image;
  ports.specs.Container(
      WorkContext(*op, now, kWorkLimit), pod_,
      {.name = plan.name,
       .attempt = action.attempt,
       .image_ref = image.image_ref,
       .image_uid = image.image_uid,
       .image_username = image.image_username,
       .pod_ips = action.pod_ips,
       .pid_target = action.pid_target,
       .image_volumes = image.volumes},
      host_.Reply<ContainerSpec>(
          *op, [name = plan.name, action, sandbox = *std::move(sandbox)](
                   PodWorker& w, const Result<ContainerSpec>& spec, TimePoint then) {
            const Status made =
                spec ? w.Create(name, action, *spec, sandbox, then)
                     : w.NotCreated(name, action.attempt, spec.error(), kConfigError, then);
            if (!made) w.Fail(made.error(), then);
          }));
  return Ok();
}

// Nothing was sent: whatever the error, there is no outcome to look for.
Status PodWorker::NotCreated(const std::string& name, uint32_t attempt, const Error& error,
                             std::string_view reason, TimePoint now) {
  if (error.code() == ErrorCode::kBug) return error;
  Call& create = ledger_.Container(name, attempt).create;
  const bool unknown = error.code() == ErrorCode::kUnknownOutcome;
  EndCall(create, unknown ? Error(ErrorCode::kUnavailable, error.message()) : error, reason, false,
          now);
  create.no_effect = true;
  if (reason == kConfigError && std::exchange(objects_changed_, false)) create.retry_at = now;
  TellFailure(name, error);
  if (reason == kConfigError && !starts_given_up_ && error.code() != ErrorCode::kCancelled) {
    host_.ports().waiting_log.Lacks(pod_id_, Lack::kReference, name, error.message(), now);
  }
  return Ok();
}

// Volumes and specifications fail for want of what the pod refers to: with the pauses of failures
// alone, a configMap that comes late would start its pod up to half a minute later.
bool PodWorker::ObjectsChanged(TimePoint now) {
  bool any = false;
  objects_changed_ = facts_.volumes.state == WorkState::kInProgress;
  if (facts_.volumes.state == WorkState::kFailed && facts_.volumes.retry_at > now) {
    facts_.volumes.retry_at = now;
    any = true;
  }
  for (ContainerEntry& entry : ledger_.view().containers) {
    objects_changed_ = objects_changed_ || entry.create.in_flight();
    const bool waits = entry.create.state == CallState::kFailed && entry.create.no_effect &&
                       entry.create.reason() == kConfigError && entry.create.retry_at > now;
    if (!waits) continue;
    entry.create.retry_at = now;
    any = true;
  }
  return any;
}

Status PodWorker::Create(const std::string& name, const CreateContainer& action,
                         const ContainerSpec& spec, const SandboxSpec& sandbox, TimePoint now) {
  // The pod's end came between.
  if (Ends() && !faults_.start_after_end) {
    return NotCreated(name, action.attempt, Error(ErrorCode::kCancelled, "the pod ends"),
                      kConfigError, now);
  }
  host_.ports().waiting_log.Has(pod_id_, Lack::kReference, name, now);
  const Result<OpToken> op = host_.BeginOp(*this, "create container", OpGroup::kStarts);
  if (!op) return NotCreated(name, action.attempt, op.error(), "CreateContainerError", now);
  memory_.NoteCreate(name, action.attempt, action.back_off);
  ++timeline_.runtime_calls;
  host_.ports().runtime.CreateContainer(
      WorkContext(*op, now, Duration::max()), action.sandbox, spec, sandbox,
      host_.Reply<ContainerId>(*op, [name, attempt = action.attempt](
                                        PodWorker& w, Result<ContainerId> answer, TimePoint then) {
        ContainerEntry& entry = w.ledger_.Container(name, attempt);
        w.EndCall(entry.create, ToStatus(answer), "CreateContainerError", true, then);
        if (!answer) return w.TellFailure(name, ToStatus(answer));
        entry.id = *std::move(answer);
        w.Tell(name, EventType::kNormal, "Created", "Container created");
      }));
  return Ok();
}

Status PodWorker::Begin(const StartContainer& action, TimePoint now) {
  ENSURE(action.container < plan_.containers.size(), "a container that the plan does not have");
  ENSURE(facts_.volumes.state == WorkState::kDone, "a container before its volumes");
  const std::string name = plan_.containers[action.container].name;
  ContainerEntry& entry = ledger_.Container(name, action.attempt);
  ENSURE(!entry.start.in_flight(), "this container is being started already");
  entry.id = action.id;
  entry.sandbox = action.sandbox;
  PodLedger::Begin(entry.start, now);
  const Result<OpToken> op = host_.BeginOp(*this, "start container", OpGroup::kStarts);
  if (!op) {
    EndCall(entry.start, op.error(), "RunContainerError", false, now);
    return Ok();
  }
  ++timeline_.runtime_calls;
  host_.ports().runtime.StartContainer(
      WorkContext(*op, now, Duration::max()), action.id,
      host_.Reply<Unit>(*op, [name, attempt = action.attempt, id = action.id](
                                 PodWorker& w, Status answer, TimePoint then) {
        // A start that was given up may still take effect, whatever became of the next one.
        const bool unknown = !answer && answer.error().code() == ErrorCode::kUnknownOutcome;
        if (unknown) w.may_run_[id] = w.host_.ports().epochs.Next();
        if (answer) w.may_run_.erase(id);
        if (!answer && w.may_run_.count(id) != 0) {
          answer = Error(ErrorCode::kUnknownOutcome, answer.error().message());
        }
        w.EndCall(w.ledger_.Container(name, attempt).start, answer, "RunContainerError", false,
                  then);
        if (!answer) return w.TellFailure(name, answer);
        w.timeline_.started = then;
        w.host_.ports().resources.LinkLog(w.pod_id_, {name, attempt, id});
        w.Tell(name, EventType::kNormal, "Started", "Container started");
      }));
  return Ok();
}

Status PodWorker::Begin(const RunPostStart& action, TimePoint now) {
  ENSURE(action.container < plan_.containers.size(), "a container that the plan does not have");
  const std::string name = plan_.containers[action.container].name;
  ContainerEntry& entry = ledger_.Container(name, action.attempt);
  entry.id = action.id;
  PodLedger::Begin(entry.post_start, now);
  const Result<OpToken> op = host_.BeginOp(*this, "postStart", OpGroup::kStarts);
  if (!op) {
    EndCall(entry.post_start, op.error(), "PostStartHookError", false, now);
    return Ok();
  }
  host_.ports().hooks.Run(
      WorkContext(*op, now, Duration::max()), HookKind::kPostStart, pod_, name, action.id, PodIps(),
      host_.Reply<HookOutcome>(
          *op, [name, attempt = action.attempt](PodWorker& w, const Result<HookOutcome>& answer,
                                                TimePoint then) {
            w.EndCall(w.ledger_.Container(name, attempt).post_start, ToStatus(answer),
                      "PostStartHookError", false, then);
            if (answer) return w.TellHook(*answer);
            if (w.starts_given_up_) return;
            w.Tell(name, EventType::kWarning, "FailedPostStartHook", "PostStartHook failed");
          }));
  return Ok();
}

}  // namespace denselet::sync
