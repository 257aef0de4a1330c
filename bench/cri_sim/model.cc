#include "bench/cri_sim/model.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace denselet::cri_sim {
namespace {

std::string Quote(std::string_view text) { return '"' + std::string(text) + '"'; }

std::string SandboxName(const SandboxSpec& spec) {
  return spec.name + "_" + spec.pod_namespace + "_" + spec.uid + "_" + std::to_string(spec.attempt);
}

std::string ContainerName(const ContainerSpec& spec, const SandboxSpec& pod) {
  return spec.name + "_" + pod.name + "_" + pod.pod_namespace + "_" + pod.uid + "_" +
         std::to_string(spec.attempt);
}

std::string UidLabel(const SandboxSpec& spec) {
  return std::string(spec.labels.Get("io.kubernetes.pod.uid").value_or(spec.uid));
}

}  // namespace

std::string_view StateName(ContainerState state) {
  switch (state) {
    case ContainerState::kCreated:
      return "CONTAINER_CREATED";
    case ContainerState::kRunning:
      return "CONTAINER_RUNNING";
    case ContainerState::kExited:
      return "CONTAINER_EXITED";
    case ContainerState::kUnknown:
      return "CONTAINER_UNKNOWN";
  }
  CHECK(false);
}

Status Model::Refuse(WallTime now, std::string_view rule, ErrorCode code, std::string message) {
  violations_.Add(now, rule, message);
  return Error(code, std::move(message));
}

std::string Model::NewId() {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string id(64, '0');
  uint64_t bits = 0;
  for (size_t i = 0; i < id.size(); ++i) {
    if (i % 16 == 0) bits = random_.Next();
    id[i] = kHex[bits >> (4 * (i % 16)) & 15];
  }
  return id;
}

// Allowed, but no kubelet that works does it.
void Model::FlagUnusualSandbox(const SandboxSpec& spec, WallTime now) {
  const std::string uid = UidLabel(spec);
  if (uid != spec.uid) {
    violations_.Add(now, "sandbox-uid-label",
                    "pod " + spec.pod_namespace + "/" + spec.name + ": label uid " + Quote(uid) +
                        " is not metadata's " + Quote(spec.uid));
  }
  for (const Sandbox* other : SandboxesOfPod(uid)) {
    if (other->state != SandboxState::kReady) continue;
    violations_.Add(now, "second-ready-sandbox",
                    "RunPodSandbox " + SandboxName(spec) + " while " + other->id + " is ready");
  }
}

Result<Sandbox*> Model::RunSandbox(SandboxSpec spec, WallTime now) {
  if (spec.name.empty() || spec.pod_namespace.empty() || spec.uid.empty()) {
    return Refuse(now, "sandbox-metadata", ErrorCode::kInvalid,
                  "sandbox config must include metadata with name, namespace and uid")
        .error();
  }
  const std::string name = SandboxName(spec);
  if (const auto reserved = names_.find(name); reserved != names_.end()) {
    return Refuse(now, "name-reserved", ErrorCode::kAlreadyExists,
                  "failed to reserve sandbox name " + Quote(name) + ": name " + Quote(name) +
                      " is reserved for " + Quote(reserved->second))
        .error();
  }
  FlagUnusualSandbox(spec, now);
  Ipv4 ip;
  if (!spec.host_network) {
    const std::optional<Ipv4> taken = addresses_.Take();
    if (!taken) {
      return Error(ErrorCode::kConflict,
                   "failed to setup network for sandbox " + Quote(name) + ": no address is free");
    }
    ip = *taken;
  }

  auto made = std::make_unique<Sandbox>();
  Sandbox& sandbox = *made;
  sandbox.id = NewId();
  sandbox.spec = std::move(spec);
  sandbox.created_at = now;
  sandbox.ip = ip;
  names_.emplace(name, sandbox.id);
  by_uid_[UidLabel(sandbox.spec)].push_back(&sandbox);
  if (ip.any()) by_address_[ip.bits] = &sandbox;
  sandboxes_.emplace(sandbox.id, std::move(made));
  observer_.OnEvent(EventKind::kCreated, sandbox, sandbox.id);
  observer_.OnEvent(EventKind::kStarted, sandbox, sandbox.id);
  return &sandbox;
}

void Model::StopSandbox(Sandbox& sandbox, WallTime now) {
  for (Container* container : sandbox.containers) {
    if (container->state == ContainerState::kRunning) Exit(*container, 137, "Error", now);
  }
  if (sandbox.state == SandboxState::kNotReady) return;
  sandbox.state = SandboxState::kNotReady;
  observer_.OnEvent(EventKind::kStopped, sandbox, sandbox.id);
  observer_.OnSandboxStopped(sandbox);
  if (sandbox.ip.any()) {
    by_address_.erase(sandbox.ip.bits);
    addresses_.GiveBack(sandbox.ip);
    sandbox.ip = {};
  }
}

void Model::RemoveSandbox(Sandbox& sandbox, WallTime now) {
  if (sandbox.state == SandboxState::kReady) {
    violations_.Add(now, "remove-ready-sandbox",
                    "RemovePodSandbox " + sandbox.id + " was not preceded by StopPodSandbox");
  }
  StopSandbox(sandbox, now);
  while (!sandbox.containers.empty()) RemoveContainer(*sandbox.containers.back(), now);
  observer_.OnEvent(EventKind::kDeleted, sandbox, sandbox.id);
  names_.erase(SandboxName(sandbox.spec));
  const auto of_pod = by_uid_.find(UidLabel(sandbox.spec));
  std::erase(of_pod->second, &sandbox);
  if (of_pod->second.empty()) by_uid_.erase(of_pod);
  sandboxes_.erase(sandbox.id);
}

Result<Container*> Model::CreateContainer(const std::string& sandbox_id, ContainerSpec spec,
                                          WallTime now) {
  Sandbox* const sandbox = FindSandbox(sandbox_id);
  if (sandbox == nullptr) {
    return Refuse(now, "create-in-unknown-sandbox", ErrorCode::kNotFound,
                  "failed to find sandbox id " + Quote(sandbox_id) + ": not found")
        .error();
  }
  if (spec.name.empty()) {
    return Refuse(now, "container-metadata", ErrorCode::kInvalid,
                  "container config must include metadata with a name")
        .error();
  }
  if (sandbox->state != SandboxState::kReady) {
    // A sandbox may die at any moment: the client cannot know, so that is no violation.
    return Error(ErrorCode::kNotFound,
                 "failed to get sandbox container task: no running task found: task " +
                     sandbox->id + " not found: not found");
  }
  const std::string name = ContainerName(spec, sandbox->spec);
  if (const auto reserved = names_.find(name); reserved != names_.end()) {
    return Refuse(now, "name-reserved", ErrorCode::kAlreadyExists,
                  "failed to reserve container name " + Quote(name) + ": name " + Quote(name) +
                      " is reserved for " + Quote(reserved->second))
        .error();
  }
  for (const Container* other : sandbox->containers) {
    if (other->spec.name != spec.name || other->state != ContainerState::kRunning) continue;
    violations_.Add(now, "second-running-container",
                    "CreateContainer " + name + " while " + other->id + " runs");
  }
  auto made = std::make_unique<Container>();
  Container& container = *made;
  container.id = NewId();
  container.sandbox = sandbox;
  container.spec = std::move(spec);
  container.created_at = now;
  names_.emplace(name, container.id);
  sandbox->containers.push_back(&container);
  containers_.emplace(container.id, std::move(made));
  observer_.OnEvent(EventKind::kCreated, *sandbox, container.id);
  return &container;
}

Status Model::StartContainer(Container& container, WallTime now) {
  if (container.state != ContainerState::kCreated) {
    return Refuse(now, "start-twice", ErrorCode::kConflict,
                  "failed to set starting state for container " + Quote(container.id) +
                      ": container is in " + std::string(StateName(container.state)) + " state");
  }
  if (container.sandbox->state != SandboxState::kReady) {
    return Error(ErrorCode::kConflict,
                 "sandbox container " + Quote(container.sandbox->id) + " is not running");
  }
  container.state = ContainerState::kRunning;
  container.started_at = now;
  observer_.OnEvent(EventKind::kStarted, *container.sandbox, container.id);
  return Ok();
}

void Model::Exit(Container& container, int32_t code, std::string_view reason, WallTime now) {
  CHECK(container.state == ContainerState::kRunning);
  container.state = ContainerState::kExited;
  container.finished_at = now;
  container.exit_code = code;
  container.reason = reason;
  observer_.OnContainerStopped(container);
  observer_.OnEvent(EventKind::kStopped, *container.sandbox, container.id);
}

void Model::RemoveContainer(Container& container, WallTime now) {
  if (container.state == ContainerState::kRunning) Exit(container, 137, "Error", now);
  Sandbox& sandbox = *container.sandbox;
  const std::string id = container.id;
  Forget(container);
  observer_.OnEvent(EventKind::kDeleted, sandbox, id);
}

void Model::Forget(Container& container) {
  names_.erase(ContainerName(container.spec, container.sandbox->spec));
  std::erase(container.sandbox->containers, &container);
  const std::string id = container.id;
  containers_.erase(id);
}

Sandbox* Model::FindSandbox(const std::string& id) {
  const auto found = sandboxes_.find(id);
  return found == sandboxes_.end() ? nullptr : found->second.get();
}

Container* Model::FindContainer(const std::string& id) {
  const auto found = containers_.find(id);
  return found == containers_.end() ? nullptr : found->second.get();
}

Sandbox* Model::FindByAddress(Ipv4 ip) {
  const auto found = by_address_.find(ip.bits);
  return found == by_address_.end() ? nullptr : found->second;
}

std::vector<Sandbox*> Model::SandboxesOfPod(std::string_view uid) {
  const auto found = by_uid_.find(std::string(uid));
  return found == by_uid_.end() ? std::vector<Sandbox*>() : found->second;
}

void Model::Clear() {
  for (const auto& [id, container] : containers_) {
    if (container->state == ContainerState::kRunning) observer_.OnContainerStopped(*container);
  }
  for (const auto& [id, sandbox] : sandboxes_) {
    if (sandbox->state == SandboxState::kReady) observer_.OnSandboxStopped(*sandbox);
  }
  names_.clear();
  by_uid_.clear();
  by_address_.clear();
  containers_.clear();
  sandboxes_.clear();
  addresses_ = {};
}

}  // namespace denselet::cri_sim
