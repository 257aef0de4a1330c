// What a careful agent would not have sent, or brought about.
#include <algorithm>
#include <utility>

#include "tests/fakes/runtime_model.h"

namespace denselet::fakes {

void RuntimeModel::Sent(const SentRequest& request) {
  if (on_request_) on_request_(request);
  if (request.request == RuntimeRequest::kRunSandbox ||
      request.request == RuntimeRequest::kCreateContainer) {
    JudgeCreate(request);
    asked_at_[{request.pod, request.name, request.attempt}] = next_;
  }
  if (request.request == RuntimeRequest::kStartContainer) JudgeStart(request);
  if (request.request == RuntimeRequest::kStopContainer) JudgeStop(request);
  if (request.request == RuntimeRequest::kRemoveContainer) JudgeRemove(request);
  if (request.request == RuntimeRequest::kStopSandbox) {
    for (auto& [id, sandbox] : sandboxes_) {
      if (sandbox.pod.uid == request.pod && sandbox.observed.attempt == request.attempt) {
        sandbox.stop_sent = true;
      }
    }
  }
}

void RuntimeModel::JudgeCreate(const SentRequest& request) {
  const std::string what = std::string(RuntimeRequestName(request.request)) + " " +
                           request.pod.value() + " " + request.name + " attempt " +
                           std::to_string(request.attempt);
  if (unknown_.count({request.pod, request.name, request.attempt}) != 0) {
    Violation(what + ": repeated although nobody looked what became of the one before");
  }
  // Looks for any other of the name: an attempt must not begin while another may be alive.
  for (const Key& key : unknown_) {
    const auto& [pod, name, attempt] = key;
    if (pod == request.pod && name == request.name && attempt != request.attempt) {
      Violation(what + ": attempt " + std::to_string(attempt) + " is not resolved yet");
    }
  }
  for (const auto& [key, reserved] : reserved_) {
    const auto& [pod, name, attempt] = key;
    if (reserved.agent != agent_) continue;  // nobody told the present one
    if (!name.empty() && !CanStillBeMade(reserved)) continue;
    if (pod == request.pod && name == request.name && attempt != request.attempt) {
      Violation(what + ": attempt " + std::to_string(attempt) + " is still being made");
    }
  }
  // What has the same attempt cannot come to be twice: the runtime refuses the name.
  if (request.name.empty()) {
    for (const auto& [id, sandbox] : sandboxes_) {
      if (sandbox.pod.uid != request.pod || sandbox.observed.attempt == request.attempt) continue;
      if (sandbox.observed.state == sync::SandboxState::kReady && !sandbox.stop_sent) {
        Violation(what + ": sandbox attempt " + std::to_string(sandbox.observed.attempt) +
                  " is ready");
      }
    }
    return;
  }
  for (const auto& [id, container] : containers_) {
    if (container.pod != request.pod || container.observed.name != request.name) continue;
    if (container.observed.attempt == request.attempt) continue;
    const auto sandbox = sandboxes_.find(container.observed.sandbox);
    // One that the runtime refused to start stays as it is; one whose start is unknown may yet run.
    const bool can_start = container.observed.state == sync::ContainerState::kCreated &&
                           start_unknown_.count(id) != 0 && sandbox != sandboxes_.end() &&
                           !sandbox->second.stop_sent &&
                           sandbox->second.observed.state == sync::SandboxState::kReady;
    if (container.observed.state == sync::ContainerState::kRunning ||
        container.observed.state == sync::ContainerState::kUnknown || can_start) {
      Violation(what + ": attempt " + std::to_string(container.observed.attempt) + " is " +
                std::string(ContainerStateName(container.observed.state)));
    }
  }
  const bool stopped = std::ranges::any_of(sandboxes_, [&request](const auto& entry) {
    return entry.second.pod.uid == request.pod && entry.second.stop_sent;
  });
  const bool ready = std::ranges::any_of(sandboxes_, [&request](const auto& entry) {
    return entry.second.pod.uid == request.pod && !entry.second.stop_sent;
  });
  if (stopped && !ready) Violation(what + ": in a sandbox that the agent itself has stopped");
}

// Nothing is to begin where all has been told to end.
void RuntimeModel::JudgeStart(const SentRequest& request) {
  const Container* const container = FindContainer(request);
  if (container == nullptr) return;
  const auto sandbox = sandboxes_.find(container->observed.sandbox);
  if (sandbox == sandboxes_.end() || !sandbox->second.stop_sent) return;
  Violation("StartContainer " + request.pod.value() + " " + request.name +
            ": in a sandbox that the agent itself has stopped");
}

// The end that the first grace promised may come sooner, never later; two seconds are granted
// because that is the least that is ever sent.
void RuntimeModel::JudgeStop(const SentRequest& request) {
  const Key key{request.pod, request.name, request.attempt};
  const TimePoint kill_at = After(clock_.Now(), request.grace);
  const auto [entry, first] = kill_at_sent_.try_emplace(key, kill_at);
  if (first) return;
  if (kill_at > entry->second + Seconds(1) && request.grace > Seconds(2)) {
    Violation("StopContainer " + request.pod.value() + " " + request.name + ": grace grew by " +
              FormatDuration(kill_at - entry->second));
  }
  entry->second = std::min(entry->second, kill_at);
}

RuntimeModel::Container* RuntimeModel::FindContainer(const SentRequest& request) {
  for (auto& [id, container] : containers_) {
    if (container.pod == request.pod && container.observed.name == request.name &&
        container.observed.attempt == request.attempt) {
      return &container;
    }
  }
  return nullptr;
}

// Real runtimes remove also what runs, by force. What an agent before asked for may begin to run
// between the look at it and the removal, which nobody can know; but each removal needs its look.
void RuntimeModel::JudgeRemove(const SentRequest& request) {
  Container* const container = FindContainer(request);
  if (container == nullptr) return;
  const bool blind = std::exchange(container->removal_tried, true);
  if (container->observed.state != sync::ContainerState::kRunning) return;
  if (!container->start_known && !blind) return;
  Violation("RemoveContainer of a running one: " + request.pod.value() + " " + request.name);
}

// Nothing comes to be in a sandbox that is gone, or that the agent has stopped.
bool RuntimeModel::CanStillBeMade(const Reserved& reserved) const {
  const auto sandbox = sandboxes_.find(reserved.sandbox);
  return sandbox != sandboxes_.end() && !sandbox->second.stop_sent &&
         sandbox->second.observed.state == sync::SandboxState::kReady;
}

// One that an agent before asked for may turn up late, when all that there was of the pod is gone
// and the present agent has begun it anew: nothing could tell it. Or when that has asked for the
// new one, which is not there yet.
void RuntimeModel::JudgeReady(const Sandbox& made) {
  const auto asked = asked_at_.find({made.pod.uid, "", made.observed.attempt});
  for (const auto& [id, other] : sandboxes_) {
    if (&other == &made || other.pod.uid != made.pod.uid) continue;
    if (other.observed.state != sync::SandboxState::kReady || (made.late && other.alone)) continue;
    if (other.late && asked != asked_at_.end() && other.number >= asked->second) continue;
    Violation("two ready sandboxes of " + made.pod.uid.value());
  }
}

}  // namespace denselet::fakes
