#include "tests/sim/core/admission_checks.h"

#include <algorithm>

#include "kube/api/types.h"
#include "sync/admission/admission_desk.h"
#include "sync/admission/preemption.h"
#include "sync/pod_worker/worker_pauses.h"

namespace denselet::sim {

using fakes::RuntimeRequest;

void AdmissionChecks::OnServerChange(const ServerChange& change) {
  ++server_changes_;
  const kube::core::Pod& pod = change.after != nullptr ? *change.after : *change.before;
  const PodUid uid(pod.metadata().uid());
  if (change.before == nullptr) came_[uid] = server_changes_;
  if (change.after == nullptr) went_[uid] = server_changes_;
}

void AdmissionChecks::OnPodRejected(const PodUid& pod, const sync::Rejection& rejection) {
  if (core_.pods()[pod].is_static) return;
  CheckRejection(core_.pods()[pod], rejection);
  if (!rejected_.insert(pod).second) core_.Problem(pod.value() + ": rejected once more");
  if (begun_.count(pod) != 0) core_.Problem(pod.value() + ": rejected after it had begun");
}

// Whether the API server ever had both. Of files nothing is known: what their pods do is heard of
// by another way.
bool AdmissionChecks::WasThereWith(const SimPod& pod, const SimPod& other) const {
  if (other.is_static) return true;
  const auto came = came_.find(pod.uid);
  const auto went = went_.find(other.uid);
  if (came == came_.end() || !came_.contains(other.uid)) return false;
  return went == went_.end() || came->second < went->second;
}

// Whoever binds pods to this node counts those that the API server has, and the agent hears of them
// in the same order: one that had gone before another came does not cost that one its life, though
// it may still run.
void AdmissionChecks::CheckRejection(const SimPod& pod, const sync::Rejection& rejection) {
  int64_t milli_cpus = pod.milli_cpus;
  bool port_was_taken = false;
  for (const auto& [uid, other] : core_.pods()) {
    if (uid == pod.uid || !other.contested || !WasThereWith(pod, other)) continue;
    milli_cpus += other.milli_cpus;
    port_was_taken |= other.host_port == pod.host_port;
  }
  if ((rejection.reason == "OutOfcpu" && milli_cpus <= kSimMilliCpus) ||
      (rejection.reason == "NodePorts" && !port_was_taken)) {
    core_.Problem(pod.uid.value() +
                  ": rejected for pods that had gone before it came: " + rejection.message);
  }
}

void AdmissionChecks::OnPodGone(const PodUid& pod) {
  ends_since_.erase(pod);
  if (core_.pods()[pod].dropped) through_.insert(pod);
}

// Of which nothing lives, that is judged anew; the rest is adopted and goes on, in the room that it
// has, though its source had dropped it while no agent could tell.
void AdmissionChecks::OnAgentStarts() {
  ends_since_.clear();
  for (const auto& [uid, pod] : core_.pods()) {
    if (pod.dropped && !Lives(uid)) through_.insert(uid);
  }
}

void AdmissionChecks::OnPodChanged(const sync::PodWorker& worker) {
  if (worker.state().phase == sync::Phase::kSyncing) return;
  ends_since_.emplace(worker.pod().uid, core_.Now());
  if (worker.state().ending && worker.state().ending->status_reason == sync::kPreempting) {
    NotePreemption(worker.pod().uid);
  }
}

// When it is decided, for it is waited for from then on. Its worker may not tell of it: one that
// ends for another reason already goes on with that, and one that is held back has none.
void AdmissionChecks::CheckTurn() {
  if (core_.agent() == nullptr) return;
  for (const auto& [critical, pods] : core_.agent()->core().admission().bookings().rooms()) {
    for (const PodUid& uid : pods) {
      if (!preempted_at_.contains(uid)) NotePreemption(uid);
    }
  }
}

// Only who has what another needs makes room, and never a critical one.
void AdmissionChecks::NotePreemption(const PodUid& uid) {
  preempted_at_.emplace(uid, core_.Now());
  core_.Touch(uid);
  const auto found = core_.pods().find(uid);
  if (found == core_.pods().end()) return;
  const SimPod& pod = found->second;
  if (pod.is_static) core_.Problem(uid.value() + ": preempted, and critical");
  if (!pod.contested || pod.milli_cpus == 0) {
    core_.Problem(uid.value() + ": preempted for nothing");
  }
}

// A critical pod goes ahead when who makes room for it has not gone in time.
bool AdmissionChecks::WasWaitedFor(const SimPod& victim) const {
  const auto found = preempted_at_.find(victim.uid);
  if (found == preempted_at_.end()) return false;
  const Duration wait = std::max<Duration>(sync::AdmissionOptions{}.preemption_wait_min,
                                           Milliseconds(victim.grace_seconds * 1500));
  return core_.Now() >= found->second + wait;
}

void AdmissionChecks::OnRequest(const fakes::SentRequest& request) {
  const bool stops = request.request == RuntimeRequest::kStopContainer ||
                     request.request == RuntimeRequest::kStopSandbox;
  if (!stops && request.request != RuntimeRequest::kRunSandbox &&
      request.request != RuntimeRequest::kStartContainer) {
    return;
  }
  const auto found = core_.pods().find(request.pod);
  if (found == core_.pods().end()) return;
  const std::string what = std::string(fakes::RuntimeRequestName(request.request)) + " " +
                           request.pod.value() + " " + request.name;
  if (stops) return CheckStop(found->second, what);
  CheckDecision(found->second, what);
  const bool runs_sandbox = request.request == RuntimeRequest::kRunSandbox;
  NoteNewLife(found->second, runs_sandbox && core_.model().Read(request.pod).empty());
  if (!runs_sandbox) CheckRoom(found->second, what);
}

void AdmissionChecks::NoteNewLife(SimPod& pod, bool has_nothing) {
  if (!pod.wished) return;
  if (through_.erase(pod.uid) != 0 || has_nothing) pod.dropped = false;
}

void AdmissionChecks::CheckDecision(const SimPod& pod, const std::string& what) {
  if (pod.is_static) return;
  begun_.insert(pod.uid);
  if (rejected_.count(pod.uid) != 0) core_.Problem(what + ": of a pod that was rejected");
  if (ended_.count(pod.uid) != 0) core_.Problem(what + ": of a pod that was ended for good");
  if (pod.wished && pod.succeeded) {
    core_.Problem(what + ": of a pod that has ended, as the API server knows");
  }
}

// Nothing of a pod that ends for good is stopped before the journal has it, unless that takes too
// long.
void AdmissionChecks::CheckStop(const SimPod& pod, const std::string& what) {
  const sync::PodWorker* const worker = core_.Worker(pod.uid);
  if (worker == nullptr || worker->state().phase == sync::Phase::kSyncing) return;
  if (!worker->state().ending || !IsForGood(*worker->state().ending) || worker->rejected()) return;
  if (core_.agent()->core().admission().ends().IsDurable(pod.uid)) {
    ended_.insert(pod.uid);
  } else if (core_.Now() < ends_since_[pod.uid] + sync::kEndRecordLimit) {
    core_.Problem(what + ": before the journal has it that the pod ends");
  }
}

bool AdmissionChecks::Runs(const PodUid& pod) {
  return std::ranges::any_of(core_.model().Read(pod).containers, [](const auto& container) {
    return container.state == sync::ContainerState::kRunning;
  });
}

bool AdmissionChecks::Lives(const PodUid& pod) {
  const sync::ObservedPod there = core_.model().Read(pod);
  return std::ranges::any_of(
             there.sandboxes,
             [](const auto& sandbox) { return sandbox.state == sync::SandboxState::kReady; }) ||
         std::ranges::any_of(there.containers, [](const auto& container) {
           return container.state != sync::ContainerState::kExited;
         });
}

// What runs beside it leaves room for it. The processors of one that its source had dropped are
// free while it still stops, for whoever binds pods counts it no more; its ports and its name are
// not. Of one that makes room for a critical pod they are free when it was waited for long enough.
void AdmissionChecks::CheckRoom(const SimPod& pod, const std::string& what) {
  int64_t milli_cpus = pod.contested ? pod.milli_cpus : 0;
  for (const auto& [uid, other] : core_.pods()) {
    if (uid == pod.uid) continue;
    const bool same_name = pod.is_static && other.is_static && other.name == pod.name;
    if (!same_name && !(pod.contested && other.contested)) continue;
    if (!Runs(uid)) continue;
    if (same_name) core_.Problem(what + ": while " + uid.value() + " of the same name runs");
    if (pod.contested && other.contested) {
      if (!other.dropped && !WasWaitedFor(other)) milli_cpus += other.milli_cpus;
      if (pod.host_port != 0 && pod.host_port == other.host_port) {
        core_.Problem(what + ": its port is that of " + uid.value());
      }
    }
  }
  if (!pod.dropped && milli_cpus > kSimMilliCpus) {
    core_.Problem(what + ": " + std::to_string(milli_cpus) + " thousandths of processors are used");
  }
}

}  // namespace denselet::sim
