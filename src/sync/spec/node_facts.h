// What specifications depend on besides the pod: the node, its configuration, and what other parts
// of the agent found out. Plain data, given by the core.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kube/api/pod/pod_fields.h"
#include "sync/ports/runtime_spec.h"

namespace denselet::sync {

// The same for all pods.
struct SpecNode {
  std::string pod_logs_dir = "/var/log/pods";
  // Of pods that have no cgroup of their own (cgroupsPerQOS: false), as a path below cgroupfs;
  // empty: the runtime's choice.
  std::string cgroup_root = {};
  std::string seccomp_root = {};  // <root>/seccomp
  std::string cluster_domain = {};
  std::vector<std::string> cluster_dns = {};  // canonical addresses
  // resolvConf; empty: pods with the node's settings ask the node itself.
  std::string resolv_conf_path = {};
  std::string pods_dir = "/var/lib/kubelet/pods";
  bool env_files = true;  // gate EnvFiles
  bool selinux = false;   // the node enforces or permits: files of ours are relabelled
  bool seccomp_default = false;
  int64_t memory_capacity_bytes = 0;
  int64_t swap_capacity_bytes = 0;
  bool cpu_cfs_quota = true;
  int64_t cpu_cfs_period_us = 100'000;
  bool cgroup_v2 = true;
  bool single_process_oom_kill = false;  // false: a container dies as a whole
  bool swap_controller = false;
  bool limited_swap = false;
  std::vector<std::string> hugepage_sizes = {};  // "2MB"
  // /sys/devices/system/cpu/cpu*/thermal_throttle, those that exist.
  std::vector<std::string> thermal_throttle_paths = {};
};

// The same for all pods, and changes while they run.
struct SpecNodeNow {
  std::vector<std::string> host_ips = {};  // the node's; empty: not known
  bool prefers_ipv6 = false;
  kube::NodeAllocatable allocatable = {};
  // The runtime can make what is mounted below a mount read-only, too.
  bool recursive_read_only = false;
  friend bool operator==(const SpecNodeNow&, const SpecNodeNow&) = default;
};

// Of one pod.
struct SpecPod {
  DnsSpec dns = {};
  std::string cgroup_parent = {};  // as a path below cgroupfs
  std::string runtime_handler = {};
  std::vector<int64_t> extra_groups = {};  // from annotations of persistent volumes
  bool exclusive_cpus = false;             // of any of its containers
  // Of a pod with a user namespace of its own.
  bool own_user_namespace = false;
  std::vector<IdMapping> uids = {};
  std::vector<IdMapping> gids = {};
};

// Of one container.
struct SpecContainer {
  uint32_t attempt = 0;
  std::string image_ref = {};
  std::optional<int64_t> image_uid = {};  // the user that the image names, by number
  std::string image_username = {};        // ... or by name
  ContainerId pid_target = {};            // of an ephemeral container
  bool exclusive_cpus = false;
  std::string cpuset_cpus = {};
  std::string cpuset_mems = {};
  // From configMaps, secrets, services and volumes; $(NAME) in commands is resolved by them.
  KeyValues env = {};
  std::vector<MountSpec> mounts = {};
  std::vector<DeviceSpec> devices = {};
  std::vector<std::string> cdi_devices = {};
  KeyValues device_annotations = {};
};

}  // namespace denselet::sync
