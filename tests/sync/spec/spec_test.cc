// Specifications for the runtime, by the rules of docs/compat/state.md sections 6, 8 and 9.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "sync/spec/container_spec.h"
#include "sync/spec/resource_spec.h"
#include "sync/spec/sandbox_spec.h"

namespace denselet::sync {
namespace {

kube::core::Pod Pod(const std::string& spec, const std::string& metadata = "") {
  const std::string json = R"({"metadata":{"name":"p","namespace":"n","uid":"u")" + metadata +
                           R"(},"spec":)" + spec + "}";
  kube::core::Pod pod;
  EXPECT_TRUE(kube::DecodeJson(json, pod).ok()) << json;
  return pod;
}

SpecNode Node() {
  return {.seccomp_root = "/var/lib/kubelet/seccomp",
          .cluster_domain = "cluster.local",
          .memory_capacity_bytes = int64_t{16} << 30,
          .hugepage_sizes = {"2MB", "1GB"}};
}

ContainerSpec Container(const kube::core::Pod& pod, const SpecContainer& facts = {},
                        const SpecNode& node = Node(), const SpecPod& pod_facts = {}) {
  auto spec = MakeContainerSpec(pod, pod.spec().containers(0), node, pod_facts, facts);
  EXPECT_TRUE(spec) << (spec ? "" : spec.error().message());
  return spec ? *spec : ContainerSpec{};
}

std::string ContainerError(const kube::core::Pod& pod, const SpecContainer& facts = {}) {
  auto spec = MakeContainerSpec(pod, pod.spec().containers(0), Node(), {}, facts);
  return spec ? "" : spec.error().message();
}

SandboxSpec Sandbox(const kube::core::Pod& pod, const SpecPod& facts = {}) {
  auto spec = MakeSandboxSpec(pod, 3, Node(), facts);
  EXPECT_TRUE(spec) << (spec ? "" : spec.error().message());
  return spec ? *spec : SandboxSpec{};
}

std::string Value(const KeyValues& list, std::string_view key) {
  const auto found = std::ranges::find(list, key, [](const auto& e) { return e.first; });
  return found == list.end() ? "(none)" : found->second;
}

TEST(CpuShares, AreWithinTheKernelsBounds) {
  EXPECT_EQ(CpuShares(0), 2);
  EXPECT_EQ(CpuShares(1), 2);
  EXPECT_EQ(CpuShares(100), 102);
  EXPECT_EQ(CpuShares(1000), 1024);
  EXPECT_EQ(CpuShares(256'000), 262'144);
  EXPECT_EQ(CpuShares(1'000'000), 262'144);
}

TEST(CpuQuota, IsAMillisecondAtLeast) {
  EXPECT_EQ(CpuQuota(0, 100'000), 0);
  EXPECT_EQ(CpuQuota(1, 100'000), 1000);
  EXPECT_EQ(CpuQuota(250, 100'000), 25'000);
  EXPECT_EQ(CpuQuota(2000, 10'000), 20'000);
}

struct QosRow {
  const char* spec;
  QosClass qos;
};

TEST(Qos, IsTheApiServers) {
  for (
      const QosRow& row : std::vector<QosRow>{
          {R"({"containers":[{"name":"c"}]})", QosClass::kBestEffort},
          {R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"0"}}}]})",
           QosClass::kBestEffort},
          {R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]})",
           QosClass::kBurstable},
          {R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}}}]})",
           QosClass::kGuaranteed},
          {R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}}},{"name":"d"}]})",
           QosClass::kBurstable},
          {R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"2","memory":"1Gi"}}}]})",
           QosClass::kBurstable},
          {R"({"containers":[{"name":"c"}],"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}}})",
           QosClass::kGuaranteed},
          {R"({"containers":[{"name":"c"}],"resources":{"requests":{"cpu":"1"}}})",
           QosClass::kBurstable},
      }) {
    EXPECT_EQ(QosOf(Pod(row.spec)), row.qos) << row.spec;
  }
}

TEST(ContainerSpec, HasNamesLabelsAndAnnotations) {
  const auto pod = Pod(
      R"j({"terminationGracePeriodSeconds":30,"containers":[{"name":"c","image":"img:1",
        "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",
        "ports":[{"containerPort":80,"protocol":"TCP"}],
        "lifecycle":{"preStop":{"exec":{"command":["true"]}}},
        "command":["$(A)","$$(A)","$(B)","$"],"args":["x$(A)y"],"workingDir":"/w","tty":true}]})j",
      R"(,"labels":{"app":"x"},"deletionGracePeriodSeconds":4)");
  const ContainerSpec spec =
      Container(pod, {.attempt = 2,
                      .image_ref = "sha256:1",
                      .env = {{"A", "1"}},
                      .device_annotations = {{"dev", "1"}, {"io.kubernetes.container.hash", "x"}}});
  EXPECT_EQ(spec.name, "c");
  EXPECT_EQ(spec.attempt, 2u);
  EXPECT_EQ(spec.image, "sha256:1");
  EXPECT_EQ(spec.image_user_specified, "img:1");
  EXPECT_EQ(spec.log_path, "c/2.log");
  EXPECT_EQ(spec.working_dir, "/w");
  EXPECT_TRUE(spec.tty);
  EXPECT_EQ(spec.command, (std::vector<std::string>{"1", "$(A)", "$(B)", "$"}));
  EXPECT_EQ(spec.args, (std::vector<std::string>{"x1y"}));
  EXPECT_EQ(spec.labels, (KeyValues{{"io.kubernetes.container.name", "c"},
                                    {"io.kubernetes.pod.name", "p"},
                                    {"io.kubernetes.pod.namespace", "n"},
                                    {"io.kubernetes.pod.uid", "u"}}));
  EXPECT_EQ(Value(spec.annotations, "dev"), "1");
  EXPECT_NE(Value(spec.annotations, "io.kubernetes.container.hash"), "x");
  EXPECT_EQ(Value(spec.annotations, "io.kubernetes.container.restartCount"), "2");
  EXPECT_EQ(Value(spec.annotations, "io.kubernetes.pod.terminationGracePeriod"), "30");
  EXPECT_EQ(Value(spec.annotations, "io.kubernetes.pod.deletionGracePeriod"), "4");
  EXPECT_EQ(Value(spec.annotations, "io.kubernetes.container.preStopHandler"),
            R"({"exec":{"command":["true"]}})");
  EXPECT_EQ(Value(spec.annotations, "io.kubernetes.container.ports"),
            R"([{"containerPort":80,"protocol":"TCP"}])");
  EXPECT_TRUE(std::ranges::is_sorted(spec.annotations));
}

TEST(ContainerSpec, HasResources) {
  const auto pod = Pod(R"({"containers":[{"name":"c","resources":{
      "requests":{"cpu":"500m","memory":"1Gi"},"limits":{"cpu":"1","memory":"2Gi","hugepages-2Mi":"4Mi"}}}]})");
  const LinuxResources resources = Container(pod).resources;
  EXPECT_EQ(resources.cpu_shares, 512);
  EXPECT_EQ(resources.cpu_quota_us, 100'000);
  EXPECT_EQ(resources.cpu_period_us, 100'000);
  EXPECT_EQ(resources.memory_limit_bytes, int64_t{2} << 30);
  EXPECT_EQ(resources.oom_score_adj, 1000 - 1000 / 16);
  EXPECT_EQ(resources.hugepages, (std::vector<HugepageLimit>{{"2MB", 4 << 20}, {"1GB", 0}}));
  EXPECT_EQ(resources.unified, (KeyValues{{"memory.oom.group", "1"}}));
}

TEST(ContainerSpec, WithExclusiveCpusHasNoQuota) {
  const auto pod = Pod(R"({"containers":[{"name":"c","resources":{"limits":{"cpu":"1"}}}]})");
  EXPECT_EQ(Container(pod, {.exclusive_cpus = true, .cpuset_cpus = "3"}).resources.cpu_quota_us,
            -1);
  EXPECT_EQ(Container(pod, {.exclusive_cpus = true, .cpuset_cpus = "3"}).resources.cpuset_cpus,
            "3");
  SpecNode node = Node();
  node.cpu_cfs_quota = false;
  EXPECT_EQ(Container(pod, {}, node).resources.cpu_quota_us, std::nullopt);
}

TEST(ContainerSpec, TakesThePodsLimitsWhereItHasNone) {
  const auto pod =
      Pod(R"({"containers":[{"name":"c"}],"resources":{"limits":{"cpu":"2","memory":"1Gi"}}})");
  const LinuxResources resources = Container(pod).resources;
  EXPECT_EQ(resources.cpu_quota_us, 200'000);
  EXPECT_EQ(resources.cpu_shares, 2048);
  EXPECT_EQ(resources.memory_limit_bytes, 1 << 30);
}

TEST(ContainerSpec, SaysWhoDiesFirst) {
  const auto score = [](const std::string& spec, const std::string& metadata = "") {
    const auto pod = Pod(spec, metadata);
    return OomScoreAdj(pod, pod.spec().containers(0), int64_t{16} << 30);
  };
  EXPECT_EQ(score(R"({"containers":[{"name":"c"}]})"), 1000);
  EXPECT_EQ(score(R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]})"), 999);
  EXPECT_EQ(score(R"({"containers":[{"name":"c","resources":{"requests":{"memory":"16Gi"}}}]})"),
            3);
  EXPECT_EQ(score(R"({"containers":[{"name":"c","resources":{"requests":{"memory":"4Gi"}}}]})"),
            750);
  EXPECT_EQ(
      score(
          R"({"priority":2000001000,"priorityClassName":"system-node-critical","containers":[{"name":"c"}]})"),
      -997);
  EXPECT_EQ(score(R"({"containers":[{"name":"c"}],"resources":{"requests":{"memory":"8Gi"}}})"),
            500);
}

TEST(ContainerSpec, HasItsSecurityContext) {
  const auto pod =
      Pod(R"({"securityContext":{"runAsUser":1,"runAsGroup":2,"fsGroup":3,"supplementalGroups":[4],
        "supplementalGroupsPolicy":"Strict","seLinuxOptions":{"level":"s0"}},
      "containers":[{"name":"c","securityContext":{"runAsUser":7,"privileged":true,"readOnlyRootFilesystem":true,
        "allowPrivilegeEscalation":false,"capabilities":{"add":["A"],"drop":["B"]},
        "seccompProfile":{"type":"Localhost","localhostProfile":"x.json"},
        "appArmorProfile":{"type":"Localhost","localhostProfile":"y"}}}]})");
  const ContainerSpec spec = Container(pod, {.image_uid = 9}, Node(), {.extra_groups = {5}});
  EXPECT_EQ(spec.run_as_user, 7);
  EXPECT_EQ(spec.run_as_group, 2);
  EXPECT_EQ(spec.supplemental_groups, (std::vector<int64_t>{3, 4, 5}));
  EXPECT_EQ(spec.supplemental_groups_policy, SupplementalGroupsPolicy::kStrict);
  EXPECT_EQ(spec.selinux.level, "s0");
  EXPECT_TRUE(spec.privileged && spec.read_only_root && spec.no_new_privileges);
  EXPECT_EQ(spec.capabilities_add, (std::vector<std::string>{"A"}));
  EXPECT_EQ(spec.seccomp,
            (ProfileSpec{ProfileKind::kLocalhost, "/var/lib/kubelet/seccomp/x.json"}));
  EXPECT_EQ(spec.apparmor, (ProfileSpec{ProfileKind::kLocalhost, "y"}));
  EXPECT_EQ(spec.masked_paths.size(), 12u);
  EXPECT_EQ(spec.read_only_paths.size(), 5u);
}

TEST(ContainerSpec, HasTheImagesUserIfThePodNamesNone) {
  const auto pod = Pod(R"({"containers":[{"name":"c"}]})");
  EXPECT_EQ(Container(pod, {.image_uid = 0}).run_as_user, 0);
  EXPECT_EQ(Container(pod, {.image_username = "web"}).run_as_username, "web");
  EXPECT_EQ(Container(pod).seccomp.kind, ProfileKind::kUnconfined);
  EXPECT_EQ(Container(pod).apparmor, std::nullopt);
}

TEST(ContainerSpec, RefusesRootWhereThePodForbidsIt) {
  const auto pod = Pod(R"({"securityContext":{"runAsNonRoot":true},"containers":[{"name":"c"}]})");
  EXPECT_EQ(
      ContainerError(pod, {.image_uid = 0}),
      "container has runAsNonRoot and image will run as root (pod: \"p_n(u)\", container: c)");
  EXPECT_EQ(ContainerError(pod, {.image_uid = 5}), "");
  EXPECT_EQ(
      ContainerError(pod, {.image_username = "web"}),
      "container has runAsNonRoot and image has non-numeric user (web), cannot verify user is "
      "non-root (pod: \"p_n(u)\", container: c)");
  EXPECT_EQ(
      ContainerError(Pod(
          R"({"securityContext":{"runAsNonRoot":true,"runAsUser":0},"containers":[{"name":"c"}]})")),
      "container's runAsUser breaks non-root policy (pod: \"p_n(u)\", container: c)");
}

TEST(ContainerSpec, HasItsNamespaces) {
  EXPECT_EQ(Container(Pod(R"({"containers":[{"name":"c"}]})")).namespaces, NamespaceSpec{});
  EXPECT_EQ(
      Container(
          Pod(R"({"hostPID":true,"hostIPC":true,"hostNetwork":true,"containers":[{"name":"c"}]})"))
          .namespaces,
      (NamespaceSpec{.network = NamespaceMode::kNode,
                     .pid = NamespaceMode::kNode,
                     .ipc = NamespaceMode::kNode}));
  const ContainerSpec target =
      Container(Pod(R"({"containers":[{"name":"c"}]})"), {.pid_target = ContainerId("t")});
  EXPECT_EQ(target.namespaces.pid, NamespaceMode::kTarget);
  EXPECT_EQ(target.namespaces.pid_target, ContainerId("t"));
  const ContainerSpec shared =
      Container(Pod(R"({"shareProcessNamespace":true,"containers":[{"name":"c"}]})"),
                {.pid_target = ContainerId("t")});
  EXPECT_EQ(shared.namespaces.pid, NamespaceMode::kPod);
}

TEST(SandboxSpec, HasNamesLabelsAndPorts) {
  const SandboxSpec spec = Sandbox(
      Pod(R"({"containers":[{"name":"c","ports":[{"containerPort":80},{"containerPort":53,"hostPort":53,"protocol":"UDP","hostIP":"1.2.3.4"}]}],
             "securityContext":{"sysctls":[{"name":"net/ipv4/x","value":"1"}]}})",
          R"(,"labels":{"z":"1","a":"2"},"annotations":{"k":"v"})"),
      {.dns = {.servers = {"10.96.0.10"}},
       .cgroup_parent = "/kubepods/podu",
       .runtime_handler = "kata"});
  EXPECT_EQ(spec.attempt, 3u);
  EXPECT_EQ(spec.hostname, "p");
  EXPECT_EQ(spec.log_directory, "/var/log/pods/n_p_u");
  EXPECT_EQ(spec.cgroup_parent, "/kubepods/podu");
  EXPECT_EQ(spec.runtime_handler, "kata");
  EXPECT_EQ(spec.labels, (KeyValues{{"a", "2"},
                                    {"io.kubernetes.pod.name", "p"},
                                    {"io.kubernetes.pod.namespace", "n"},
                                    {"io.kubernetes.pod.uid", "u"},
                                    {"z", "1"}}));
  EXPECT_EQ(spec.annotations, (KeyValues{{"k", "v"}}));
  ASSERT_EQ(spec.ports.size(), 2u);
  EXPECT_EQ(spec.ports[0], (PortMapping{Protocol::kTcp, 80, 0, ""}));
  EXPECT_EQ(spec.ports[1], (PortMapping{Protocol::kUdp, 53, 53, "1.2.3.4"}));
  EXPECT_EQ(spec.sysctls, (KeyValues{{"net.ipv4.x", "1"}}));
  EXPECT_EQ(spec.seccomp.kind, ProfileKind::kRuntimeDefault);
}

TEST(SandboxSpec, SumsResourcesWithoutOverhead) {
  const SandboxSpec spec = Sandbox(Pod(R"({"overhead":{"cpu":"100m","memory":"64Mi"},
      "initContainers":[{"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"100m"}}},
                        {"name":"i","resources":{"requests":{"cpu":"900m"},"limits":{"memory":"3Gi"}}}],
      "containers":[{"name":"a","resources":{"requests":{"cpu":"200m"},"limits":{"cpu":"1","memory":"1Gi"}}},
                    {"name":"b","resources":{"requests":{"cpu":"300m"},"limits":{"cpu":"1","memory":"1Gi"}}}]})"));
  EXPECT_EQ(spec.resources->cpu_shares, 1024);
  EXPECT_EQ(spec.resources->cpu_quota_us, 200'000);
  EXPECT_EQ(spec.resources->memory_limit_bytes, int64_t{3} << 30);
  EXPECT_EQ(spec.overhead->cpu_shares, 102);
  EXPECT_EQ(spec.overhead->memory_limit_bytes, 64 << 20);
}

TEST(Hostname, IsShortenedAndMayBeFullyQualified) {
  EXPECT_EQ(Sandbox(Pod(R"({"hostname":"h","subdomain":"s","containers":[]})")).hostname, "h");
  EXPECT_EQ(
      Sandbox(Pod(R"({"hostname":"h","subdomain":"s","setHostnameAsFQDN":true,"containers":[]})"))
          .hostname,
      "h.s.n.svc.cluster.local");
  EXPECT_EQ(Sandbox(Pod(R"({"hostNetwork":true,"containers":[]})")).hostname, "");
  EXPECT_EQ(
      Sandbox(Pod(R"({"hostnameOverride":"o.example","hostname":"h","containers":[]})")).hostname,
      "o.example");
  const std::string dashes = std::string(60, 'a') + "----b";
  EXPECT_EQ(Sandbox(Pod(R"({"hostname":")" + dashes + R"(","containers":[]})")).hostname,
            std::string(60, 'a'));
  const auto too_long =
      MakeSandboxSpec(Pod(R"({"hostname":")" + std::string(50, 'a') +
                          R"(","subdomain":"s","setHostnameAsFQDN":true,"containers":[]})"),
                      0, Node(), {});
  EXPECT_FALSE(too_long);
}

}  // namespace
}  // namespace denselet::sync
