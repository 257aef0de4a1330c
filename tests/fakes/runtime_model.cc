#include "tests/fakes/runtime_model.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace denselet::fakes {
namespace {

constexpr size_t kViolationsMax = 100;

const std::string* FindIn(const sync::KeyValues& pairs, std::string_view key) {
  for (const auto& [name, value] : pairs) {
    if (name == key) return &value;
  }
  return nullptr;
}

template <class T>
std::optional<T> NumberIn(const sync::KeyValues& pairs, std::string_view key, int base) {
  const std::string* text = FindIn(pairs, key);
  if (text == nullptr) return std::nullopt;
  T value{};
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value, base);
  if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return value;
}

std::string TextIn(const sync::KeyValues& pairs, std::string_view key) {
  const std::string* text = FindIn(pairs, key);
  return text == nullptr ? std::string() : *text;
}

Error NotFound() { return Error(ErrorCode::kNotFound, "the runtime has no such thing"); }

}  // namespace

std::string_view ContainerStateName(sync::ContainerState state) {
  switch (state) {
    case sync::ContainerState::kCreated:
      return "created";
    case sync::ContainerState::kRunning:
      return "running";
    case sync::ContainerState::kExited:
      return "exited";
    case sync::ContainerState::kUnknown:
      return "unknown";
  }
  return "";
}

std::string_view RuntimeRequestName(RuntimeRequest request) {
  switch (request) {
    case RuntimeRequest::kRunSandbox:
      return "RunSandbox";
    case RuntimeRequest::kStopSandbox:
      return "StopSandbox";
    case RuntimeRequest::kRemoveSandbox:
      return "RemoveSandbox";
    case RuntimeRequest::kCreateContainer:
      return "CreateContainer";
    case RuntimeRequest::kStartContainer:
      return "StartContainer";
    case RuntimeRequest::kStopContainer:
      return "StopContainer";
    case RuntimeRequest::kRemoveContainer:
      return "RemoveContainer";
  }
  return "";
}

RuntimeModel::RuntimeModel(const Clock& clock, Later later)
    : clock_(clock), later_(std::move(later)) {}

uint64_t RuntimeModel::Subscribe(std::function<void(const sync::PodHint&)> changed) {
  subscribers_.emplace(next_, std::move(changed));
  return next_++;
}

void RuntimeModel::Violation(std::string what) {
  if (violations_.size() < kViolationsMax) violations_.push_back(std::move(what));
}

void RuntimeModel::Changed(const sync::PodHint& hint) {
  for (const auto& [number, changed] : subscribers_) changed(hint);
}

void RuntimeModel::ReadSent(const PodUid& pod) {
  std::erase_if(unknown_, [&pod](const Key& key) { return std::get<0>(key) == pod; });
  for (auto& [id, container] : containers_) {
    if (container.pod == pod) container.removal_tried = false;
  }
}

void RuntimeModel::WasRead(const sync::ObservedContainer& container) {
  const auto found = containers_.find(container.id);
  if (found == containers_.end() || container.state != sync::ContainerState::kRunning) return;
  found->second.start_known = true;
}

void RuntimeModel::ListSent() { unknown_.clear(); }

void RuntimeModel::StartUnknown(const ContainerId& id) { start_unknown_.insert(id); }

void RuntimeModel::OutcomeUnknown(const SentRequest& request) {
  unknown_.emplace(request.pod, request.name, request.attempt);
}

void RuntimeModel::AgentStarted() {
  ++agent_;
  unknown_.clear();
  start_unknown_.clear();
  kill_at_sent_.clear();
  for (auto& [id, sandbox] : sandboxes_) sandbox.stop_sent = false;
  for (auto& [id, container] : containers_) {
    container.start_known = true;
    container.removal_tried = false;
  }
}

bool RuntimeModel::Reserve(const SentRequest& create) {
  const auto& [pod, name, attempt] = std::tie(create.pod, create.name, create.attempt);
  for (const auto& [id, sandbox] : sandboxes_) {
    if (name.empty() && sandbox.pod.uid == pod && sandbox.observed.attempt == attempt) return false;
  }
  for (const auto& [id, container] : containers_) {
    if (container.pod == pod && container.observed.name == name &&
        container.observed.attempt == attempt) {
      return false;
    }
  }
  return reserved_.emplace(Key{pod, name, attempt}, Reserved{create.agent, create.sandbox}).second;
}

void RuntimeModel::Release(const SentRequest& create) {
  reserved_.erase({create.pod, create.name, create.attempt});
}

Result<SandboxId> RuntimeModel::RunSandbox(const sync::SandboxSpec& spec) {
  const uint64_t number = next_++;
  const SandboxId id("s" + std::to_string(number));
  Sandbox& sandbox = sandboxes_[id];
  sandbox.pod = spec.pod;
  sandbox.number = number;
  const auto asked = reserved_.find({spec.pod.uid, "", spec.attempt});
  sandbox.late = asked != reserved_.end() && asked->second.agent != agent_;
  sandbox.observed.id = id;
  sandbox.observed.attempt = spec.attempt;
  sandbox.observed.state = sync::SandboxState::kReady;
  sandbox.observed.created = clock_.WallNow();
  sandbox.observed.runtime_handler = spec.runtime_handler;
  const bool on_node = spec.namespaces.network == sync::NamespaceMode::kNode;
  sandbox.observed.network = on_node ? sync::NetworkMode::kNode : sync::NetworkMode::kPod;
  if (!on_node) sandbox.observed.ips = {"10.0.0." + std::to_string(next_ % 250 + 1)};
  Did(spec.pod.uid, "sandbox " + std::to_string(spec.attempt));
  sandbox.alone = std::ranges::none_of(sandboxes_, [&sandbox](const auto& entry) {
    return &entry.second != &sandbox && entry.second.pod.uid == sandbox.pod.uid;
  });
  JudgeReady(sandbox);
  Changed({spec.pod.uid, id.value()});
  return id;
}

Status RuntimeModel::StopSandbox(const SandboxId& id) {
  const auto found = sandboxes_.find(id);
  if (found == sandboxes_.end()) return Ok();
  if (found->second.observed.state == sync::SandboxState::kReady) {
    Did(found->second.pod.uid, "stop sandbox " + std::to_string(found->second.observed.attempt));
  }
  KillSandbox(id);
  return Ok();
}

bool RuntimeModel::KillSandbox(const SandboxId& id, Containers containers) {
  const auto found = sandboxes_.find(id);
  if (found == sandboxes_.end()) return false;
  const bool was_ready = found->second.observed.state == sync::SandboxState::kReady;
  found->second.observed.state = sync::SandboxState::kNotReady;
  found->second.observed.ips.clear();
  bool changed = was_ready;
  for (auto& [container_id, container] : containers_) {
    if (container.observed.sandbox != id || containers == Containers::kLiveOn) continue;
    if (container.observed.state == sync::ContainerState::kRunning ||
        container.observed.state == sync::ContainerState::kUnknown) {
      End(container, 137, "Error");
      changed = true;
    }
  }
  if (changed) Changed(found->second.pod.uid);
  return was_ready;
}

bool RuntimeModel::LoseAddress(const SandboxId& id) {
  const auto found = sandboxes_.find(id);
  if (found == sandboxes_.end() || found->second.observed.ips.empty()) return false;
  found->second.observed.ips.clear();
  Changed(found->second.pod.uid);
  return true;
}

Status RuntimeModel::RemoveSandbox(const SandboxId& id) {
  const auto found = sandboxes_.find(id);
  if (found == sandboxes_.end()) return Ok();
  KillSandbox(id);
  const PodUid pod = found->second.pod.uid;
  std::erase_if(containers_,
                [&id](const auto& entry) { return entry.second.observed.sandbox == id; });
  sandboxes_.erase(id);
  Changed(pod);
  return Ok();
}

Result<ContainerId> RuntimeModel::CreateContainer(const SandboxId& sandbox,
                                                  const sync::ContainerSpec& spec) {
  const auto found = sandboxes_.find(sandbox);
  if (found == sandboxes_.end()) return NotFound();
  if (found->second.observed.state != sync::SandboxState::kReady) {
    return Error(ErrorCode::kInvalid, "the sandbox is not ready");
  }
  if (images_.count(spec.image) == 0) return NotFound();
  const ContainerId id("c" + std::to_string(next_++));
  Container& container = containers_[id];
  container.pod = spec.pod;
  sync::ObservedContainer& observed = container.observed;
  observed.id = id;
  observed.sandbox = sandbox;
  observed.name = spec.name;
  observed.attempt = spec.attempt;
  observed.state = sync::ContainerState::kCreated;
  observed.created = clock_.WallNow();
  observed.image = spec.image_user_specified;
  observed.image_ref = spec.image;
  observed.image_id = spec.image;
  observed.hash = NumberIn<uint64_t>(spec.annotations, "io.kubernetes.container.hash", 16);
  observed.restart_count =
      NumberIn<uint32_t>(spec.annotations, "io.kubernetes.container.restartCount", 10);
  observed.pod_termination_grace_seconds =
      NumberIn<int64_t>(spec.annotations, "io.kubernetes.pod.terminationGracePeriod", 10);
  observed.pod_deletion_grace_seconds =
      NumberIn<int64_t>(spec.annotations, "io.kubernetes.pod.deletionGracePeriod", 10);
  observed.termination_message_path =
      TextIn(spec.annotations, "io.kubernetes.container.terminationMessagePath");
  observed.termination_message_policy =
      TextIn(spec.annotations, "io.kubernetes.container.terminationMessagePolicy");
  observed.pre_stop_json = TextIn(spec.annotations, "io.kubernetes.container.preStopHandler");
  observed.log_path = spec.log_path;
  kill_at_sent_.erase({spec.pod, spec.name, spec.attempt});  // of another life of the pod
  Did(spec.pod, "create " + spec.name + " " + std::to_string(spec.attempt));
  Changed({spec.pod, id.value()});
  return id;
}

Status RuntimeModel::StartContainer(const ContainerId& id, std::optional<uint64_t> agent) {
  const auto found = containers_.find(id);
  if (found == containers_.end()) return NotFound();
  Container& container = found->second;
  if (container.observed.state != sync::ContainerState::kCreated) {
    return Error(ErrorCode::kInvalid, "the container is not in the state created");
  }
  const auto sandbox = sandboxes_.find(container.observed.sandbox);
  if (sandbox == sandboxes_.end() || sandbox->second.observed.state != sync::SandboxState::kReady) {
    return Error(ErrorCode::kInvalid, "the sandbox is not ready");
  }
  container.observed.state = sync::ContainerState::kRunning;
  container.observed.started = clock_.WallNow();
  container.start_known = agent.value_or(agent_) == agent_;
  Did(container.pod,
      "start " + container.observed.name + " " + std::to_string(container.observed.attempt));
  CheckRunning(container.pod, container.observed.name);
  const ContainerBehaviour behaviour =
      behave_ ? behave_(container.pod, container.observed.name, container.observed.attempt)
              : ContainerBehaviour{};
  if (behaviour.runs_for) {
    PlanEnd(id, *behaviour.runs_for, behaviour.exit_code,
            behaviour.exit_code == 0 ? "Completed" : "Error");
  }
  Changed({container.pod, id.value()});
  return Ok();
}

void RuntimeModel::CheckRunning(const PodUid& pod, const std::string& name) {
  int running = 0;
  for (const auto& [id, container] : containers_) {
    if (container.pod == pod && container.observed.name == name &&
        container.observed.state == sync::ContainerState::kRunning) {
      ++running;
    }
  }
  if (running > 1) Violation("two running containers " + pod.value() + " " + name);
}

void RuntimeModel::PlanEnd(const ContainerId& id, Duration after, int32_t exit_code,
                           std::string reason) {
  const uint32_t life = containers_.at(id).life;
  later_(after, [this, id, life, exit_code, reason = std::move(reason)] {
    const auto found = containers_.find(id);
    if (found == containers_.end() || found->second.life != life) return;
    if (found->second.observed.state != sync::ContainerState::kRunning) return;
    End(found->second, exit_code, reason);
    Changed(found->second.pod);
  });
}

void RuntimeModel::End(Container& container, int32_t exit_code, std::string reason) {
  ++container.life;
  container.observed.state = sync::ContainerState::kExited;
  container.observed.finished = clock_.WallNow();
  container.observed.exit_code = exit_code;
  container.observed.reason = std::move(reason);
  auto waiting = std::move(container.waiting);
  container.waiting.clear();
  for (auto& done : waiting) done(Ok());
}

void RuntimeModel::StopContainer(const ContainerId& id, Duration grace,
                                 UniqueFunction<void(Status)> done) {
  const auto found = containers_.find(id);
  if (found == containers_.end()) return done(NotFound());
  Container& container = found->second;
  if (container.observed.state != sync::ContainerState::kRunning) {
    if (container.observed.state == sync::ContainerState::kCreated ||
        container.observed.state == sync::ContainerState::kUnknown) {
      // What was never started ends without having run, as containerd does it; of what it lost
      // track of it makes an end.
      End(container, 137, "Error");
      Changed(container.pod);
    }
    return done(Ok());
  }
  if (!container.stopping) {
    container.stopping = true;
    Did(container.pod,
        "stop " + container.observed.name + " " + std::to_string(container.observed.attempt));
  }
  container.waiting.push_back(std::move(done));
  const TimePoint kill_at = After(clock_.Now(), grace);
  if (container.kill_at && *container.kill_at <= kill_at) return;
  container.kill_at = kill_at;
  const ContainerBehaviour behaviour =
      behave_ ? behave_(container.pod, container.observed.name, container.observed.attempt)
              : ContainerBehaviour{};
  if (behaviour.stops_within < grace) {
    PlanEnd(id, behaviour.stops_within, 0, "Completed");
  } else {
    PlanEnd(id, grace, 137, "Error");
  }
}

Status RuntimeModel::RemoveContainer(const ContainerId& id) {
  const auto found = containers_.find(id);
  if (found == containers_.end()) return Ok();
  if (found->second.observed.state == sync::ContainerState::kRunning) {
    End(found->second, 137, "Error");
  }
  const PodUid pod = found->second.pod;
  containers_.erase(found);
  Changed(pod);
  return Ok();
}

bool RuntimeModel::IsRunning(const ContainerId& id) const {
  const auto found = containers_.find(id);
  return found != containers_.end() &&
         found->second.observed.state == sync::ContainerState::kRunning;
}

RuntimeModel::Listed RuntimeModel::ListSandboxes() const {
  Listed pods;
  for (const auto& [id, sandbox] : sandboxes_) {
    sync::ListedPod& pod = pods[sandbox.pod.uid];
    pod.pod = sandbox.pod;
    pod.sandboxes.push_back(
        {.id = id, .attempt = sandbox.observed.attempt, .state = sandbox.observed.state});
  }
  return pods;
}

void RuntimeModel::ListContainers(Listed& pods) const {
  for (const auto& [id, container] : containers_) {
    sync::ListedPod& pod = pods[container.pod];
    pod.pod.uid = container.pod;
    pod.containers.push_back({.id = id,
                              .name = container.observed.name,
                              .attempt = container.observed.attempt,
                              .state = container.observed.state});
  }
}

sync::ObservedPod RuntimeModel::Read(const PodUid& uid) const {
  sync::ObservedPod pod;
  pod.pod.uid = uid;
  for (const auto& [id, sandbox] : sandboxes_) {
    if (sandbox.pod.uid != uid) continue;
    pod.pod = sandbox.pod;
    pod.sandboxes.push_back(sandbox.observed);
  }
  for (const auto& [id, container] : containers_) {
    if (container.pod == uid) pod.containers.push_back(container.observed);
  }
  std::ranges::sort(pod.sandboxes, std::ranges::greater{}, &sync::ObservedSandbox::attempt);
  std::ranges::sort(pod.containers, [](const auto& a, const auto& b) {
    return std::tie(a.name, b.attempt) < std::tie(b.name, a.attempt);
  });
  return pod;
}

Result<sync::ObservedSandbox> RuntimeModel::ReadSandbox(const SandboxId& id) const {
  const auto found = sandboxes_.find(id);
  if (found == sandboxes_.end()) return NotFound();
  return found->second.observed;
}

Result<sync::ObservedContainer> RuntimeModel::ReadContainer(const ContainerId& id) const {
  const auto found = containers_.find(id);
  if (found == containers_.end()) return NotFound();
  return found->second.observed;
}

void RuntimeModel::KillEverything() {
  for (auto& [id, sandbox] : sandboxes_) KillSandbox(id);
}

bool RuntimeModel::Exit(const ContainerId& id, int32_t exit_code) {
  const auto found = containers_.find(id);
  if (found == containers_.end()) return false;
  if (found->second.observed.state != sync::ContainerState::kRunning) return false;
  End(found->second, exit_code, exit_code == 0 ? "Completed" : "Error");
  Changed(found->second.pod);
  return true;
}

bool RuntimeModel::LoseState(const ContainerId& id) {
  const auto found = containers_.find(id);
  if (found == containers_.end()) return false;
  if (found->second.observed.state != sync::ContainerState::kRunning) return false;
  ++found->second.life;
  found->second.observed.state = sync::ContainerState::kUnknown;
  Changed(found->second.pod);
  return true;
}

std::optional<std::pair<PodUid, uint32_t>> RuntimeModel::SandboxOwner(const SandboxId& id) const {
  const auto found = sandboxes_.find(id);
  if (found == sandboxes_.end()) return std::nullopt;
  return std::pair(found->second.pod.uid, found->second.observed.attempt);
}

std::optional<RuntimeModel::ContainerOwner> RuntimeModel::OwnerOf(const ContainerId& id) const {
  const auto found = containers_.find(id);
  if (found == containers_.end()) return std::nullopt;
  return ContainerOwner{found->second.pod, found->second.observed.name,
                        found->second.observed.attempt};
}

std::string RuntimeModel::Describe(const PodUid& uid) const {
  const sync::ObservedPod pod = Read(uid);
  std::string text;
  for (const auto& sandbox : pod.sandboxes) {
    text += " sandbox " + std::to_string(sandbox.attempt) +
            (sandbox.state == sync::SandboxState::kReady ? " ready" : " not ready");
  }
  for (const auto& container : pod.containers) {
    text += " " + container.name + " " + std::to_string(container.attempt) + " " +
            std::string(ContainerStateName(container.state));
  }
  return text;
}

std::string RuntimeModel::Describe() const {
  std::set<PodUid> pods;
  for (const auto& [id, sandbox] : sandboxes_) pods.insert(sandbox.pod.uid);
  for (const auto& [id, container] : containers_) pods.insert(container.pod);
  std::string text;
  for (const PodUid& pod : pods) text += pod.value() + ":" + Describe(pod) + "\n";
  return text;
}

}  // namespace denselet::fakes
