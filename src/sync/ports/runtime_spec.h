// What we ask the container runtime to make: plain data, built by pure functions in sync and turned
// into CRI's messages in cri/. Names and meaning follow CRI; docs/compat/state.md section 6 says
// what goes where.
//
// Lists that were maps are sorted by key by who builds them: a specification is compared and
// logged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "sync/ports/observed_pod.h"

namespace denselet::sync {

using KeyValues = std::vector<std::pair<std::string, std::string>>;

enum class NamespaceMode : uint8_t { kPod, kContainer, kNode, kTarget };

struct IdMapping {
  uint32_t host_id = 0;
  uint32_t container_id = 0;
  uint32_t length = 0;
  friend bool operator==(const IdMapping&, const IdMapping&) = default;
};

struct NamespaceSpec {
  NamespaceMode network = NamespaceMode::kPod;
  NamespaceMode pid = NamespaceMode::kContainer;
  NamespaceMode ipc = NamespaceMode::kPod;
  ContainerId pid_target = {};  // of kTarget
  NamespaceMode user = NamespaceMode::kNode;
  std::vector<IdMapping> uids = {};  // of a user namespace of the pod's own
  std::vector<IdMapping> gids = {};
  friend bool operator==(const NamespaceSpec&, const NamespaceSpec&) = default;
};

struct SelinuxSpec {
  std::string user = {};
  std::string role = {};
  std::string type = {};
  std::string level = {};
  friend bool operator==(const SelinuxSpec&, const SelinuxSpec&) = default;
};

enum class ProfileKind : uint8_t { kRuntimeDefault, kUnconfined, kLocalhost };

struct ProfileSpec {
  ProfileKind kind = ProfileKind::kRuntimeDefault;
  std::string localhost_ref = {};
  friend bool operator==(const ProfileSpec&, const ProfileSpec&) = default;
};

struct HugepageLimit {
  std::string page_size = {};  // "2MB"
  uint64_t bytes = 0;
  friend bool operator==(const HugepageLimit&, const HugepageLimit&) = default;
};

// Nothing: not set, the runtime's own choice.
struct LinuxResources {
  std::optional<int64_t> cpu_period_us = {};
  std::optional<int64_t> cpu_quota_us = {};
  std::optional<int64_t> cpu_shares = {};
  std::optional<int64_t> memory_limit_bytes = {};
  std::optional<int64_t> memory_swap_limit_bytes = {};
  std::optional<int64_t> oom_score_adj = {};
  std::string cpuset_cpus = {};
  std::string cpuset_mems = {};
  std::vector<HugepageLimit> hugepages = {};
  KeyValues unified = {};  // cgroup v2 file to value
  friend bool operator==(const LinuxResources&, const LinuxResources&) = default;
};

enum class Protocol : uint8_t { kTcp, kUdp, kSctp };

struct PortMapping {
  Protocol protocol = Protocol::kTcp;
  int32_t container_port = 0;
  int32_t host_port = 0;
  std::string host_ip = {};
  friend bool operator==(const PortMapping&, const PortMapping&) = default;
};

struct DnsSpec {
  std::vector<std::string> servers = {};
  std::vector<std::string> searches = {};
  std::vector<std::string> options = {};
  friend bool operator==(const DnsSpec&, const DnsSpec&) = default;
};

enum class SupplementalGroupsPolicy : uint8_t { kMerge, kStrict };

struct SandboxSpec {
  PodIdentity pod = {};
  uint32_t attempt = 0;
  std::string hostname = {};
  std::string log_directory = {};
  DnsSpec dns = {};
  std::vector<PortMapping> ports = {};
  KeyValues labels = {};
  KeyValues annotations = {};
  std::string runtime_handler = {};

  std::string cgroup_parent = {};
  KeyValues sysctls = {};
  std::optional<LinuxResources> overhead = {};
  std::optional<LinuxResources> resources = {};

  NamespaceSpec namespaces = {};
  SelinuxSpec selinux = {};
  std::optional<int64_t> run_as_user = {};
  std::optional<int64_t> run_as_group = {};
  std::vector<int64_t> supplemental_groups = {};
  SupplementalGroupsPolicy supplemental_groups_policy = SupplementalGroupsPolicy::kMerge;
  bool read_only_root = false;
  bool privileged = false;
  ProfileSpec seccomp = {};

  friend bool operator==(const SandboxSpec&, const SandboxSpec&) = default;
};

enum class MountPropagation : uint8_t { kPrivate, kHostToContainer, kBidirectional };

struct MountSpec {
  std::string container_path = {};
  std::string host_path = {};
  bool read_only = false;
  bool recursive_read_only = false;
  bool selinux_relabel = false;
  MountPropagation propagation = MountPropagation::kPrivate;
  std::vector<IdMapping> uids = {};
  std::vector<IdMapping> gids = {};
  // Of an image volume: what is mounted instead of host_path.
  std::string image = {};
  std::string image_user_specified = {};
  std::string image_sub_path = {};
  KeyValues image_annotations = {};  // the pod's
  friend bool operator==(const MountSpec&, const MountSpec&) = default;
};

struct DeviceSpec {
  std::string container_path = {};
  std::string host_path = {};
  std::string permissions = {};  // "rwm"
  friend bool operator==(const DeviceSpec&, const DeviceSpec&) = default;
};

struct ContainerSpec {
  PodUid pod = {};
  std::string name = {};
  uint32_t attempt = 0;
  std::string image = {};                 // what to run: the reference that a pull or look-up gave
  std::string image_user_specified = {};  // as the pod names it
  std::string image_runtime_handler = {};
  std::vector<std::string> command = {};
  std::vector<std::string> args = {};
  std::string working_dir = {};
  KeyValues env = {};
  std::vector<MountSpec> mounts = {};
  std::vector<DeviceSpec> devices = {};
  std::vector<std::string> cdi_devices = {};
  KeyValues labels = {};
  KeyValues annotations = {};
  std::string log_path = {};  // relative to the sandbox's log directory
  bool stdin_open = false;
  bool stdin_once = false;
  bool tty = false;
  std::string stop_signal = {};

  LinuxResources resources = {};
  std::vector<std::string> capabilities_add = {};
  std::vector<std::string> capabilities_drop = {};
  bool privileged = false;
  NamespaceSpec namespaces = {};
  SelinuxSpec selinux = {};
  std::optional<int64_t> run_as_user = {};
  std::optional<int64_t> run_as_group = {};
  std::string run_as_username = {};
  bool read_only_root = false;
  std::vector<int64_t> supplemental_groups = {};
  SupplementalGroupsPolicy supplemental_groups_policy = SupplementalGroupsPolicy::kMerge;
  bool no_new_privileges = false;
  std::vector<std::string> masked_paths = {};
  std::vector<std::string> read_only_paths = {};
  ProfileSpec seccomp = {};
  std::optional<ProfileSpec> apparmor = {};

  friend bool operator==(const ContainerSpec&, const ContainerSpec&) = default;
};

}  // namespace denselet::sync
