// What a pod worker looks at: the whole pod, or single objects that it made.
#include <utility>

#include "sync/pod_worker/pod_worker.h"
#include "sync/pod_worker/worker_pauses.h"

namespace denselet::sync {

Status PodWorker::Begin(const Read& action, TimePoint now) {
  if (action.whole_pod) {
    host_.ports().reader.Mark(pod_id_.uid, PodReader::Urgency::kUrgent);
    ++timeline_.runtime_calls;
  }
  for (const SandboxId& id : action.sandboxes) {
    if (Status began = ReadSandboxNow(id, now); !began) return began;
  }
  for (const ContainerId& id : action.containers) {
    if (Status began = ReadContainerNow(id, now); !began) return began;
  }
  return Ok();
}

// What it waits for is under way or has its time (invariant 6).
Status PodWorker::HasAnEnd(const Wait& wait) const {
  const bool timed = wait.until != kNever;
  switch (wait.what) {
    case WaitFor::kRead:
      // While calls are under way the read follows them.
      ENSURE(!ops_.empty() || host_.ports().reader.IsMarked(pod_id_.uid) || faults_.passive_wait,
             "a wait for a read that nobody has asked for");
      return Ok();
    case WaitFor::kReadRetry:
    case WaitFor::kSandboxRetry:
    case WaitFor::kImageRetry:
    case WaitFor::kContainerRetry:
    case WaitFor::kBackOff:
    case WaitFor::kStopRetry:
    case WaitFor::kRemoveRetry:
    case WaitFor::kEndRecord:
      ENSURE(timed, "a wait for a time that is not known");
      return Ok();
    case WaitFor::kPrepare:
    case WaitFor::kVolumes:
    case WaitFor::kSandboxRun:
    case WaitFor::kSandboxStop:
    case WaitFor::kImage:
    case WaitFor::kCreate:
    case WaitFor::kStart:
    case WaitFor::kPostStart:
    case WaitFor::kPreStop:
    case WaitFor::kStop:
    case WaitFor::kRemove:
    case WaitFor::kRelease:
      ENSURE(timed || !ops_.empty(), "a wait for a call that is not under way");
      return Ok();
    case WaitFor::kChange:
    case WaitFor::kRuntime:
    case WaitFor::kNetwork:
    case WaitFor::kInitContainer:
    case WaitFor::kStartupProbe:
    case WaitFor::kStopTurn:
    case WaitFor::kRemovalAllowed:
      return Ok();  // somebody else tells
  }
  return Ok();
}

void PodWorker::ReadFailed(const Error& error, TimePoint now) {
  // What nobody wanted any more says nothing about the runtime.
  if (error.code() == ErrorCode::kCancelled) return;
  LedgerView& view = ledger_.view();
  view.read_retry_at = After(now, host_.ports().random.Jitter(Pause(read_failures_++), 0.2));
  view.read_failure = error.message();
}

Status PodWorker::ReadSandboxNow(const SandboxId& id, TimePoint now) {
  const Result<OpToken> op = host_.BeginOp(*this, "read sandbox", OpGroup::kStarts);
  if (!op) {
    ReadFailed(op.error(), now);
    return Ok();
  }
  ++object_reads_;
  ++timeline_.runtime_calls;
  const Epoch epoch = host_.ports().epochs.Next();  // before the request
  host_.ports().runtime.ReadSandbox(
      WorkContext(*op, now, Duration::max()), id,
      host_.Reply<ObservedSandbox>(
          *op, [id, epoch](PodWorker& w, Result<ObservedSandbox> answer, TimePoint then) {
            --w.object_reads_;
            SandboxEntry* entry = w.ledger_.FindSandbox(id);
            if (answer && entry != nullptr) {
              w.read_failures_ = 0;
              entry->seen = *std::move(answer);
              entry->seen_at = epoch;
            } else if (answer || answer.error().code() == ErrorCode::kNotFound) {
              w.host_.ports().reader.Mark(w.pod_id_.uid, PodReader::Urgency::kUrgent);
            } else {
              w.TellSandboxUnread(answer.error());
              w.ReadFailed(answer.error(), then);
            }
          }));
  return Ok();
}

Status PodWorker::ReadContainerNow(const ContainerId& id, TimePoint now) {
  const Result<OpToken> op = host_.BeginOp(*this, "read container", OpGroup::kEnds);
  if (!op) {
    ReadFailed(op.error(), now);
    return Ok();
  }
  ++object_reads_;
  ++timeline_.runtime_calls;
  const Epoch epoch = host_.ports().epochs.Next();  // before the request
  const ContainerEntry* const mine = ledger_.FindContainer(id);
  const ObservedContainer* const seen = Observed(id);
  const SandboxId sandbox = mine != nullptr && !mine->sandbox.empty() ? mine->sandbox
                            : seen != nullptr                         ? seen->sandbox
                                                                      : SandboxId();
  host_.ports().runtime.ReadContainer(
      WorkContext(*op, now, Duration::max()), id, sandbox,
      host_.Reply<ObservedContainer>(
          *op, [id, epoch](PodWorker& w, Result<ObservedContainer> answer, TimePoint then) {
            --w.object_reads_;
            ContainerEntry* entry = w.ledger_.FindContainer(id);
            if (answer && entry != nullptr) {
              w.read_failures_ = 0;
              w.memory_.NoteObserved(*answer, then);
              entry->seen = *std::move(answer);
              entry->seen_at = epoch;
            } else if (answer || answer.error().code() == ErrorCode::kNotFound) {
              w.host_.ports().reader.Mark(w.pod_id_.uid, PodReader::Urgency::kUrgent);
            } else {
              w.ReadFailed(answer.error(), then);
            }
          }));
  return Ok();
}

}  // namespace denselet::sync
