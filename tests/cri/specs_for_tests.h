// Specifications with every field set, so that a test sees each arrive.
#pragma once

#include "sync/ports/image_service.h"
#include "sync/ports/runtime_spec.h"

namespace denselet::cri {

inline sync::LinuxResources FullResources() {
  return {.cpu_period_us = 100'000,
          .cpu_quota_us = 50'000,
          .cpu_shares = 512,
          .memory_limit_bytes = 1 << 20,
          .memory_swap_limit_bytes = 2 << 20,
          .oom_score_adj = -997,
          .cpuset_cpus = "0-3",
          .cpuset_mems = "0",
          .hugepages = {{.page_size = "2MB", .bytes = 4 << 20}},
          .unified = {{"memory.high", "1000000"}}};
}

inline sync::NamespaceSpec FullNamespaces() {
  return {.network = sync::NamespaceMode::kNode,
          .pid = sync::NamespaceMode::kTarget,
          .ipc = sync::NamespaceMode::kNode,
          .pid_target = ContainerId("target"),
          .user = sync::NamespaceMode::kNode,
          .uids = {{.host_id = 65536, .container_id = 1, .length = 65536}},
          .gids = {{.host_id = 131072, .container_id = 1, .length = 65536}}};
}

inline sync::SandboxSpec FullSandbox() {
  return {.pod = {.ref = {.ns = "default", .name = "web"}, .uid = PodUid("uid-1")},
          .attempt = 3,
          .hostname = "web",
          .log_directory = "/var/log/pods/default_web_uid-1",
          .dns = {.servers = {"10.0.0.10"}, .searches = {"svc"}, .options = {"ndots:5"}},
          .ports = {{.protocol = sync::Protocol::kSctp,
                     .container_port = 80,
                     .host_port = 8080,
                     .host_ip = "127.0.0.1"}},
          .labels = {{"io.kubernetes.pod.uid", "uid-1"}},
          .annotations = {{"kubernetes.io/config.source", "api"}},
          .runtime_handler = "kata",
          .cgroup_parent = "/kubepods/poduid-1",
          .sysctls = {{"net.core.somaxconn", "1024"}},
          .overhead = FullResources(),
          .resources = FullResources(),
          .namespaces = FullNamespaces(),
          .selinux = {.user = "u", .role = "r", .type = "t", .level = "s0"},
          .run_as_user = 1000,
          .run_as_group = 2000,
          .supplemental_groups = {3000, 4000},
          .supplemental_groups_policy = sync::SupplementalGroupsPolicy::kStrict,
          .read_only_root = true,
          .privileged = true,
          .seccomp = {.kind = sync::ProfileKind::kLocalhost, .localhost_ref = "/seccomp/a"}};
}

inline sync::ContainerSpec FullContainer() {
  return {.pod = PodUid("uid-1"),
          .name = "app",
          .attempt = 2,
          .image = "sha256:abc",
          .image_user_specified = "app:v1",
          .image_runtime_handler = "kata",
          .command = {"/bin/app"},
          .args = {"-v"},
          .working_dir = "/srv",
          .env = {{"PATH", "/bin"}, {"BYTES", std::string("\xff\x00z", 3)}},
          .mounts = {{.container_path = "/data",
                      .host_path = "/var/lib/data",
                      .read_only = true,
                      .recursive_read_only = true,
                      .selinux_relabel = true,
                      .propagation = sync::MountPropagation::kBidirectional,
                      .uids = {{.host_id = 65536, .container_id = 1, .length = 65536}},
                      .gids = {{.host_id = 65536, .container_id = 1, .length = 65536}},
                      .image = "sha256:def",
                      .image_user_specified = "volume:v1",
                      .image_sub_path = "sub",
                      .image_annotations = {{"a", "b"}}}},
          .devices = {{.container_path = "/dev/a", .host_path = "/dev/b", .permissions = "rwm"}},
          .cdi_devices = {"vendor.com/gpu=0"},
          .labels = {{"io.kubernetes.container.name", "app"}},
          .annotations = {{"io.kubernetes.container.hash", "8e45cbd0"}},
          .log_path = "app/2.log",
          .stdin_open = true,
          .stdin_once = true,
          .tty = true,
          .stop_signal = "SIGRTMIN+3",
          .resources = FullResources(),
          .capabilities_add = {"NET_ADMIN"},
          .capabilities_drop = {"ALL"},
          .privileged = true,
          .namespaces = FullNamespaces(),
          .selinux = {.user = "u", .role = "r", .type = "t", .level = "s0"},
          .run_as_user = 1000,
          .run_as_group = 2000,
          .run_as_username = "nobody",
          .read_only_root = true,
          .supplemental_groups = {3000},
          .supplemental_groups_policy = sync::SupplementalGroupsPolicy::kStrict,
          .no_new_privileges = true,
          .masked_paths = {"/proc/kcore"},
          .read_only_paths = {"/proc/sys"},
          .seccomp = {.kind = sync::ProfileKind::kLocalhost, .localhost_ref = "/seccomp/a"},
          .apparmor =
              sync::ProfileSpec{.kind = sync::ProfileKind::kLocalhost, .localhost_ref = "profile"}};
}

}  // namespace denselet::cri
