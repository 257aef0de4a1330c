// What people are told of a pod's life, in upstream's words.
#include <string>
#include <utility>

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

std::string InQuotes(const std::string& text) { return "\"" + text + "\""; }

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
  if (answer || answer.error().code() == ErrorCode::kCancelled) return;
  Tell(container, EventType::kWarning, "Failed", "Error: " + answer.error().message());
}

void PodWorker::TellImage(const std::string& container, const std::string& image,
                          const ImageOutcome& outcome) {
  if (!outcome.image_ref.empty()) {
    return Tell(container, EventType::kNormal, "Pulled", outcome.message);
  }
  const bool pauses = outcome.reason == "ImagePullBackOff";
  const bool is_pull = pauses || outcome.reason == "ErrImagePull";
  if (pauses) {
    Tell(container, EventType::kNormal, "BackOff", "Back-off pulling image " + InQuotes(image));
  } else if (outcome.reason == "InvalidImageName" || outcome.reason == "ImageInspectError") {
    Tell(container, EventType::kWarning, "InspectFailed", outcome.message);
  } else if (outcome.reason == "ErrImageNeverPull") {
    Tell(container, EventType::kWarning, "ErrImageNeverPull", outcome.message);
  } else {
    Tell(container, EventType::kWarning, "Failed", outcome.message);
  }
  Tell(container, EventType::kWarning, "Failed",
       "Error: " + outcome.reason + (is_pull ? "" : ": " + outcome.message));
}

void PodWorker::TellStop(const ContainerEntry& entry) {
  std::string message = "Stopping container " + entry.name;
  if (entry.kill_reason == KillReason::kLivenessProbe) {
    message = "Container " + entry.name + " failed liveness probe, will be restarted";
  } else if (entry.kill_reason == KillReason::kStartupProbe) {
    message = "Container " + entry.name + " failed startup probe, will be restarted";
  } else if (entry.kill_reason == KillReason::kChanged) {
    message = "Container " + entry.name + " definition changed, will be restarted";
  }
  Tell(entry.name, EventType::kNormal, "Killing", std::move(message));
}

void PodWorker::TellWait(const Wait& wait) {
  if (wait.what == WaitFor::kNetwork) {
    return Tell("", EventType::kWarning, "NetworkNotReady", "network is not ready: " + wait.detail);
  }
  if (wait.what != WaitFor::kBackOff || wait.container >= plan_.containers.size()) return;
  const std::string& name = plan_.containers[wait.container].name;
  Tell(name, EventType::kWarning, "BackOff",
       "Back-off restarting failed container " + name + " in pod " + pod_id_.ref.name + "_" +
           pod_id_.ref.ns + "(" + pod_id_.uid.value() + ")");
}

void PodWorker::TellSandbox(const Error& error) {
  if (error.code() == ErrorCode::kCancelled) return;
  Tell("", EventType::kWarning, "FailedCreatePodSandBox",
       "Failed to create pod sandbox: " + error.message());
}

void PodWorker::TellEnd() {
  const Ending& ending = *state_.ending;
  if (ending.reason == EndReason::kDeadline) {
    Tell("", EventType::kNormal, ending.status_reason, ending.status_message);
  } else if (ending.reason == EndReason::kKilled && !rejected_) {
    Tell("", EventType::kWarning, ending.status_reason, ending.status_message);
  }
}

}  // namespace denselet::sync
