// What people are told of a pod's life, in upstream's words.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/quoted.h"
#include "sync/pod_worker/pod_worker.h"

namespace denselet::sync {
namespace {

std::string FieldPath(ContainerKind kind, const std::string& name) {
  switch (kind) {
    case ContainerKind::kInit:
    case ContainerKind::kSidecar:
      return "spec.initContainers{" + name + "}";
    case ContainerKind::kRegular:
      return "spec.containers{" + name + "}";
    case ContainerKind::kEphemeral:
      return "spec.ephemeralContainers{" + name + "}";
  }
  return "";
}

constexpr const char* kAllVolumes = "*";  // no volume has that name

std::string InQuotes(const std::string& text) { return "\"" + text + "\""; }

bool Failed(const Call& call) {
  return call.state == CallState::kFailed || call.state == CallState::kUnknown;
}

std::string FailedTo(const std::string& action, const std::string& of, const Call& call) {
  return "failed to " + InQuotes(action) + " for " + InQuotes(of) + " with " + call.reason() +
         ": " + GoQuoted(call.message());
}

// As upstream joins errors.
std::string Joined(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return errors.front();
  std::string all;
  for (const std::string& error : errors) all += (all.empty() ? "" : ", ") + error;
  return "[" + all + "]";
}

// What is told of a container that is stopped though its pod goes on; empty: nothing special.
std::string WhyKilled(ContainerKind kind, const ContainerEntry& entry) {
  const bool is_init = kind == ContainerKind::kInit || kind == ContainerKind::kSidecar;
  const std::string who = is_init ? "Init container" : "Container";
  const std::string then = is_init || !entry.restart_at_once ? "" : ", will be restarted";
  switch (entry.kill_reason) {
    case KillReason::kLivenessProbe:
      return who + " " + entry.name + " failed liveness probe" + then;
    case KillReason::kStartupProbe:
      return who + " " + entry.name + " failed startup probe" + then;
    case KillReason::kChanged:
      return who + " " + entry.name + " definition changed" + then;
    case KillReason::kUnknownState:
      return who + " is in \"unknown\" state, try killing it before restart";
    case KillReason::kPostStartFailed:
      return "FailedPostStartHook";
    case KillReason::kRestartAll:
      return "killing";
    case KillReason::kNone:
    case KillReason::kDuplicate:
    case KillReason::kPodStops:
      break;
  }
  return "";
}

std::string SetUpFailed(const VolumeFault& fault) {
  return "MountVolume.SetUp failed for volume " + GoQuoted(fault.volume) + " : " +
         fault.why.message();
}

}  // namespace

EventObject PodWorker::EventObjectOf(const std::string& container) const {
  EventObject object{.kind = "Pod",
                     .ns = pod_id_.ref.ns,
                     .name = pod_id_.ref.name,
                     .uid = pod_id_.uid.value(),
                     .resource_version = pod_ ? std::string(pod_->hot().resource_version) : ""};
  const ContainerIndex index = plan_.Find(container);
  if (index != kNoContainer) {
    object.field_path = FieldPath(plan_.containers[index].kind, container);
  }
  return object;
}

// Of an orphan there is nobody who would look for it.
void PodWorker::Tell(const std::string& container, EventType type, std::string_view reason,
                     std::string message) {
  if (is_orphan()) return;
  host_.OnWorkerEvent({EventObjectOf(container), type, std::string(reason), std::move(message)});
}

void PodWorker::TellFailure(const std::string& container, const Status& answer) {
  if (answer || starts_given_up_) return;
  Tell(container, EventType::kWarning, "Failed",
       "Error: " + std::string(WithoutRpcCode(answer.error().message())));
}

void PodWorker::TellImage(const std::string& starting, const std::string& volume,
                          const std::string& image, const ImageOutcome& outcome) {
  const std::string container = volume.empty() ? starting : "";
  if (!outcome.image_ref.empty()) {
    return Tell(container, EventType::kNormal, "Pulled", outcome.message);
  }
  if (starts_given_up_) return;
  if (outcome.reason == "ImagePullBackOff") {
    Tell(container, EventType::kNormal, "BackOff", "Back-off pulling image " + InQuotes(image));
  } else if (outcome.reason == "InvalidImageName" || outcome.reason == "ImageInspectError") {
    Tell(container, EventType::kWarning, "InspectFailed", outcome.message);
  } else if (outcome.reason == "ErrImageNeverPull") {
    Tell(container, EventType::kWarning, "ErrImageNeverPull", outcome.message);
  } else {
    const std::string& why = outcome.pull_error.empty() ? outcome.message : outcome.pull_error;
    Tell(container, EventType::kWarning, "Failed",
         "Failed to pull image " + InQuotes(image) + ": " + why);
  }
  Tell(starting, EventType::kWarning, "Failed", "Error: " + outcome.reason);
}

void PodWorker::TellStop(const ContainerEntry& entry) {
  const ContainerIndex index = plan_.Find(entry.name);
  const bool known = index != kNoContainer;
  std::string message =
      WhyKilled(known ? plan_.containers[index].kind : ContainerKind::kRegular, entry);
  if (message.empty()) message = "Stopping container " + entry.name;
  Tell(entry.name, EventType::kNormal, "Killing", std::move(message));
}

void PodWorker::TellWait(const Wait& wait) {
  if (wait.what == WaitFor::kNetwork) {
    return Tell("", EventType::kWarning, "NetworkNotReady", "network is not ready: " + wait.detail);
  }
}

// Once for each container and each of its ends.
void PodWorker::TellBackOffs(const Wait& wait) {
  for (const ContainerIndex index : wait.in_back_off) {
    const std::string& name = plan_.containers[index].name;
    const ContainerMemory* const memory = memory_.Find(name);
    if (memory == nullptr) continue;
    if (std::exchange(told_back_offs_[name], memory->attempts) == memory->attempts) continue;
    Tell(name, EventType::kWarning, "BackOff",
         "Back-off restarting failed container " + name + " in pod " + pod_id_.ref.name + "_" +
             pod_id_.ref.ns + "(" + pod_id_.uid.value() + ")");
  }
}

// When all that was begun to stop the pod has ended, and something of it failed that was not told
// yet. What could not be stopped and has ended all the same does not count any more.
void PodWorker::TellFailedKill() {
  if (state_.phase != Phase::kTerminating) return;
  const LedgerView& view = ledger_.view();
  std::vector<std::string> failures;
  Epoch newest = 0;
  for (const ContainerEntry& entry : view.containers) {
    if (entry.stop.in_flight() || entry.pre_stop.in_flight()) return;
    const ObservedContainer* const seen = Observed(entry.id);
    if (!Failed(entry.stop) || (seen && seen->state == ContainerState::kExited)) continue;
    failures.push_back(FailedTo("KillContainer", entry.name, entry.stop));
    newest = std::max(newest, entry.stop.ended);
  }
  const Call* of_sandbox = nullptr;  // upstream has one word for all of them
  for (const SandboxEntry& entry : view.sandboxes) {
    if (entry.stop.in_flight()) return;
    if (!Failed(entry.stop)) continue;
    of_sandbox = &entry.stop;
    newest = std::max(newest, entry.stop.ended);
  }
  if (of_sandbox) {
    failures.push_back(FailedTo("KillPodSandbox", pod_id_.uid.value(), *of_sandbox));
  }
  if (newest <= std::exchange(told_kill_, std::max(told_kill_, newest))) return;
  Tell("", EventType::kWarning, "FailedKillPod", "error killing pod: " + Joined(failures));
}

void PodWorker::TellHook(const HookOutcome& outcome) {
  if (outcome.answered_without_tls.empty()) return;
  Tell("", EventType::kWarning, "LifecycleHTTPFallback",
       "request to HTTPS lifecycle hook " + outcome.answered_without_tls +
           " got HTTP response, retry with HTTP succeeded");
}

void PodWorker::TellUnmounted(const Result<MountedVolumes>& answer) {
  if (starts_given_up_) return;
  if (!answer) {
    return Tell("", EventType::kWarning, "FailedMount",
                "Unable to attach or mount volumes: " + answer.error().message());
  }
  for (const VolumeFault& fault : answer->missing) {
    Tell("", EventType::kWarning, "FailedMount", SetUpFailed(fault));
  }
}

// Upstream mounts such volumes again and again, and tells of that in the same words.
void PodWorker::VolumeNotRenewed(const VolumeFault& fault, TimePoint now) {
  if (state_.phase != Phase::kSyncing || starts_given_up_) return;
  Tell("", EventType::kWarning, "FailedMount", SetUpFailed(fault));
  host_.ports().waiting_log.Lacks(pod_id_, Lack::kRenewal, fault.volume, fault.why.message(), now);
}

void PodWorker::VolumeRenewed(const std::string& volume, TimePoint now) {
  host_.ports().waiting_log.Has(pod_id_, Lack::kRenewal, volume, now);
}

void PodWorker::LogUnmounted(const Result<MountedVolumes>& answer, TimePoint now) {
  if (starts_given_up_) return;
  WaitingLog& log = host_.ports().waiting_log;
  if (!answer) {
    return log.Lacks(pod_id_, Lack::kVolume, kAllVolumes, answer.error().message(), now);
  }
  std::set<std::string> missing;
  for (const VolumeFault& fault : answer->missing) missing.insert(fault.volume);
  log.HasAllBut(pod_id_, Lack::kVolume, missing, now);
  log.HasAllBut(pod_id_, Lack::kRenewal, {}, now);  // mounted anew
  for (const VolumeFault& fault : answer->missing) {
    log.Lacks(pod_id_, Lack::kVolume, fault.volume, fault.why.message(), now);
  }
}

void PodWorker::TellSandbox(const Error& error) {
  if (starts_given_up_) return;
  Tell("", EventType::kWarning, "FailedCreatePodSandBox",
       "Failed to create pod sandbox: " + error.message());
}

// Once for all failures in a row.
void PodWorker::TellSandboxUnread(const Error& error) {
  if (starts_given_up_ || read_failures_ > 0 || error.code() == ErrorCode::kCancelled) return;
  Tell("", EventType::kWarning, "FailedPodSandBoxStatus",
       "Unable to get pod sandbox status: " + error.message());
}

void PodWorker::TellUnread(const Error& error) {
  Tell("", EventType::kWarning, "FailedSync", "error determining status: " + error.message());
}

void PodWorker::TellOverdue() {
  Tell("", EventType::kWarning, "ExceededGracePeriod",
       "Container runtime did not kill the pod within specified grace period.");
}

void PodWorker::TellNotes(const std::vector<PodNote>& notes) {
  for (const PodNote& note : notes) {
    if (note.of == PodNote::Of::kPod) {
      Tell("", EventType::kWarning, note.reason, note.message);
    } else if (!is_orphan()) {
      host_.OnWorkerEvent({NodeEventObject(std::string(pod_->hot().node_name)), EventType::kWarning,
                           note.reason, note.message});
    }
  }
}

void PodWorker::TellEnd() {
  const Ending& ending = *state_.ending;
  if (end_adopted_) return;
  if (ending.reason == EndReason::kDeadline) {
    Tell("", EventType::kNormal, ending.status_reason, ending.status_message);
  } else if (ending.reason == EndReason::kKilled && !rejected_) {
    Tell("", EventType::kWarning, ending.status_reason, ending.status_message);
  }
}

}  // namespace denselet::sync
