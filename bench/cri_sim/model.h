// What the simulated runtime has: sandboxes, containers and their states, with the rules of
// containerd 1.7 (whose words its errors use). Pure: no gRPC, no threads, no clock; time is passed
// in, and what happens by itself (a process ends) is told to it.
//
// Owned by the Simulator, on its shard. Error codes: kInvalid, kNotFound, and kConflict for what
// containerd answers without a code of its own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "bench/cri_sim/addresses.h"
#include "bench/cri_sim/pairs.h"
#include "bench/cri_sim/violations.h"

namespace denselet::cri_sim {

enum class SandboxState : uint8_t { kReady, kNotReady };  // as CRI numbers them
enum class ContainerState : uint8_t { kCreated, kRunning, kExited, kUnknown };  // likewise
enum class EventKind : uint8_t { kCreated, kStarted, kStopped, kDeleted };      // likewise
std::string_view StateName(ContainerState state);

struct Container;

struct SandboxSpec {
  std::string name, pod_namespace, uid;
  uint32_t attempt = 0;
  Pairs labels, annotations;
  std::string log_directory;
  std::string runtime_handler;
  std::string linux_status;  // LinuxPodSandboxStatus on the wire
  std::vector<uint16_t> ports;
  bool host_network = false;
};

struct Sandbox {
  std::string id;
  SandboxSpec spec;
  SandboxState state = SandboxState::kReady;
  WallTime created_at;
  Ipv4 ip;                             // none on the host's network and after the stop
  std::vector<Container*> containers;  // in the order of their creation
  bool healthy = true;                 // what probes see
};

struct ContainerSpec {
  std::string name;
  uint32_t attempt = 0;
  std::string image, user_image;  // as asked for: by kubelets the id; what the pod says
  std::string image_tag, image_ref, image_id;  // what it is: the name; the digest; the id
  Pairs labels, annotations;
  std::string log_path;          // absolute; empty: none
  std::string termination_path;  // on the host; empty: none
  std::string status_extra;      // mounts, user, stop signal: fields of ContainerStatus on the wire
  std::string resources;         // ContainerResources on the wire
  std::string script;            // what it does (script.h); empty: it runs for ever
};

struct Container {
  std::string id;
  Sandbox* sandbox = nullptr;
  ContainerSpec spec;
  ContainerState state = ContainerState::kCreated;
  WallTime created_at, started_at, finished_at;
  int32_t exit_code = 0;
  std::string reason, message;
};

// Calls come from inside the model's functions, when the change has been made.
class ModelObserver {
 public:
  virtual void OnEvent(EventKind kind, const Sandbox& sandbox, const std::string& id) = 0;
  // It ended or goes: timers and waiters of its process are of no use any more.
  virtual void OnContainerStopped(Container& container) = 0;
  // The address is free again.
  virtual void OnSandboxStopped(Sandbox& sandbox) = 0;

 protected:
  ~ModelObserver() = default;
};

class Model {
 public:
  Model(Random& random, Violations& violations, ModelObserver& observer)
      : random_(random), violations_(violations), observer_(observer) {}

  Result<Sandbox*> RunSandbox(SandboxSpec spec, WallTime now);
  // Kills what runs in it; a second time does nothing.
  void StopSandbox(Sandbox& sandbox, WallTime now);
  // Stops it when it is ready; its containers go too.
  void RemoveSandbox(Sandbox& sandbox, WallTime now);

  Result<Container*> CreateContainer(const std::string& sandbox_id, ContainerSpec spec,
                                     WallTime now);
  Status StartContainer(Container& container, WallTime now);
  // The process has ended.
  void Exit(Container& container, int32_t code, std::string_view reason, WallTime now);
  // Kills it when it runs.
  void RemoveContainer(Container& container, WallTime now);

  Sandbox* FindSandbox(const std::string& id);
  Container* FindContainer(const std::string& id);
  Sandbox* FindByAddress(Ipv4 ip);
  // By the label io.kubernetes.pod.uid, as kubelets ask for one pod.
  std::vector<Sandbox*> SandboxesOfPod(std::string_view uid);

  const std::map<std::string, std::unique_ptr<Sandbox>>& sandboxes() const { return sandboxes_; }
  const std::map<std::string, std::unique_ptr<Container>>& containers() const {
    return containers_;
  }

  // As a runtime that lost its disk.
  void Clear();

 private:
  std::string NewId();
  void FlagUnusualSandbox(const SandboxSpec& spec, WallTime now);
  void Forget(Container& container);
  Status Refuse(WallTime now, std::string_view rule, ErrorCode code, std::string message);

  Random& random_;
  Violations& violations_;
  ModelObserver& observer_;
  Addresses addresses_;
  std::map<std::string, std::unique_ptr<Sandbox>> sandboxes_;
  std::map<std::string, std::unique_ptr<Container>> containers_;
  std::unordered_map<std::string, std::string> names_;  // reserved name to id
  std::unordered_map<std::string, std::vector<Sandbox*>> by_uid_;
  std::unordered_map<uint32_t, Sandbox*> by_address_;
};

}  // namespace denselet::cri_sim
