// What the container runtime has, in small structs of ours: CRI's messages stop at cri/. A thousand
// pods of two containers fit in a few megabytes.
//
// What is ours is what has the uid of a pod among its labels; all else the runtime has is never
// shown. An attempt or a time that makes no sense is 0.
//
// Times are the runtime's own wall clock: for people and for the API, never for an order or a
// decision about freshness (invariants 2 and 4). What orders containers of one name is their
// attempt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace denselet::sync {

enum class SandboxState : uint8_t { kReady, kNotReady };

// kUnknown is what the runtime says, not what we failed to learn.
enum class ContainerState : uint8_t { kCreated, kRunning, kExited, kUnknown };

enum class NetworkMode : uint8_t { kPod, kNode };

// Whose pod it is, as the labels of the runtime's objects have it.
struct PodIdentity {
  ObjectRef ref = {};
  PodUid uid = {};

  friend auto operator<=>(const PodIdentity&, const PodIdentity&) = default;
};

struct ObservedSandbox {
  SandboxId id = {};
  uint32_t attempt = 0;
  SandboxState state = SandboxState::kNotReady;
  WallTime created = {};
  std::string runtime_handler = {};

  // From a read of this sandbox; a list does not tell them.
  NetworkMode network = NetworkMode::kPod;
  std::vector<std::string> ips = {};  // the primary one first

  friend bool operator==(const ObservedSandbox&, const ObservedSandbox&) = default;
};

// Resources as the runtime applied them; nothing: it does not say.
struct ObservedResources {
  std::optional<int64_t> cpu_shares = {};
  std::optional<int64_t> cpu_quota_us = {};
  std::optional<int64_t> cpu_period_us = {};
  std::optional<int64_t> memory_limit_bytes = {};

  friend bool operator==(const ObservedResources&, const ObservedResources&) = default;
};

struct ObservedUser {
  int64_t uid = 0;
  int64_t gid = 0;
  std::vector<int64_t> supplemental_groups = {};

  friend bool operator==(const ObservedUser&, const ObservedUser&) = default;
};

struct ObservedMount {
  std::string container_path = {};
  std::string host_path = {};
  bool read_only = false;
  bool recursive_read_only = false;
  std::string image_ref = {};  // of an image volume, where the runtime says

  friend bool operator==(const ObservedMount&, const ObservedMount&) = default;
};

struct ObservedContainer {
  ContainerId id = {};
  SandboxId sandbox = {};
  std::string name = {};
  uint32_t attempt = 0;
  ContainerState state = ContainerState::kUnknown;
  WallTime created = {};
  std::string image = {};      // as the pod named it, where the runtime remembers
  std::string image_ref = {};  // what runs
  std::string image_id = {};   // empty: an old runtime

  // From annotations that we (or the kubelet before us) gave it; nothing: not there or not
  // readable.
  std::optional<uint64_t> hash = {};
  std::optional<uint32_t> restart_count = {};
  std::optional<int64_t> pod_termination_grace_seconds = {};
  std::optional<int64_t> pod_deletion_grace_seconds = {};
  std::string termination_message_path = {};
  std::string termination_message_policy = {};
  std::string pre_stop_json = {};
  std::string ports_json = {};

  // From a read of this container; a list does not tell them.
  std::optional<WallTime> started = {};
  std::optional<WallTime> finished = {};
  int32_t exit_code = 0;
  std::string reason = {};
  std::string message = {};
  std::string log_path = {};
  std::string stop_signal = {};  // "SIGTERM"; empty: the runtime does not say
  std::optional<ObservedResources> resources = {};
  std::optional<ObservedUser> user = {};
  std::vector<ObservedMount> mounts = {};

  friend bool operator==(const ObservedContainer&, const ObservedContainer&) = default;
};

// One pod as one read showed it. Sandboxes are in descending order of attempt, containers by name
// and descending attempt, whatever the runtime's order was: it never matters.
struct ObservedPod {
  PodIdentity pod = {};
  std::vector<ObservedSandbox> sandboxes = {};
  std::vector<ObservedContainer> containers = {};

  bool empty() const { return sandboxes.empty() && containers.empty(); }
  friend bool operator==(const ObservedPod&, const ObservedPod&) = default;
};

// What we take of one object in a list: enough to see whether its pod changed, and to bring them
// into order.
struct ListedSandbox {
  SandboxId id = {};
  uint32_t attempt = 0;
  SandboxState state = SandboxState::kNotReady;

  friend bool operator==(const ListedSandbox&, const ListedSandbox&) = default;
};

struct ListedContainer {
  ContainerId id = {};
  std::string name = {};
  uint32_t attempt = 0;
  ContainerState state = ContainerState::kUnknown;

  friend bool operator==(const ListedContainer&, const ListedContainer&) = default;
};

// One pod in a list of all. Ordered as ObservedPod is.
struct ListedPod {
  PodIdentity pod = {};
  std::vector<ListedSandbox> sandboxes = {};
  std::vector<ListedContainer> containers = {};

  friend bool operator==(const ListedPod&, const ListedPod&) = default;
};

}  // namespace denselet::sync
