#include "app/agent/agent_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/agent/pod_options.h"
#include "kube/api/types.h"
#include "tests/app/config/fake_config_files.h"

namespace denselet::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class AgentOptionsTest : public testing::Test {
 protected:
  Result<AgentOptions> Make(std::vector<const char*> args, const std::string& yaml = "") {
    FakeConfigFiles files;
    if (!yaml.empty()) {
      args.push_back("--config=/config");
      files.Put("/config",
                "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
                "authentication: {webhook: {enabled: false}}\n"
                "authorization: {mode: AlwaysAllow}\n" +
                    yaml);
    }
    const FlagResult flags = ParseFlags(args);
    EXPECT_THAT(flags.errors, ElementsAre());
    const EffectiveConfig effective =
        LoadEffectiveConfig(flags.flags, ApiAccessOf(flags.flags), files);
    for (const ConfigFault& fault : effective.faults) ADD_FAILURE() << ToString(fault);
    return MakeAgentOptions(flags.flags, effective, {reactor::Backend::kEpoll}, around_, warnings_);
  }

  AgentSurroundings around_{.hostname = " Host.Example\n", .working_folder = "/here"};
  std::vector<std::string> warnings_;
};

TEST_F(AgentOptionsTest, TheNodeIsCalledAsTheHostInLowerCase) {
  EXPECT_EQ(Make({})->node.node.flags.node_name, "host.example");
  const auto named = Make({"--hostname-override=N1"});
  EXPECT_EQ(named->node.node.flags.node_name, "n1");
  EXPECT_EQ(named->node.node.flags.hostname, "n1");
  around_.hostname = " ";
  EXPECT_THAT(Make({}).error().message(), HasSubstr("empty hostname is invalid"));
}

TEST_F(AgentOptionsTest, EventsAreTheSettingsToSay) {
  EXPECT_TRUE(Make({})->pods.core.pleg.use_events);
  EXPECT_FALSE(Make({"--denselet-pleg-use-events=false"})->pods.core.pleg.use_events);
}

TEST_F(AgentOptionsTest, WhatIsKeptOfDeadContainersIsTheFlagsToSay) {
  const auto plain = Make({});
  EXPECT_EQ(plain->pods.core.node.keep.per_container_max, 1);
  EXPECT_EQ(plain->pods.core.node.keep.age_min, Duration::zero());
  EXPECT_LT(plain->pods.core.dead_containers_max, 0);
  const auto told = Make({"--maximum-dead-containers-per-container=3",
                          "--maximum-dead-containers=7", "--minimum-container-ttl-duration=1m"});
  EXPECT_EQ(told->pods.core.node.keep.per_container_max, 3);
  EXPECT_EQ(told->pods.core.node.keep.age_min, Minutes(1));
  EXPECT_EQ(told->pods.core.dead_containers_max, 7);
  EXPECT_THAT(Make({"--minimum-container-ttl-duration=-1s"}).error().message(),
              HasSubstr("invalid minimum garbage collection age"));
}

TEST_F(AgentOptionsTest, WithoutAKubeconfigTheNodeStandsAlone) {
  const auto alone = Make({}, "staticPodPath: /m\nfileCheckFrequency: 7s\n");
  ASSERT_TRUE(alone);
  EXPECT_FALSE(alone->server);
  EXPECT_FALSE(alone->node.has_api_server);
  EXPECT_EQ(alone->node.pod_files->path, "/m");
  EXPECT_EQ(alone->node.pod_files->check_period, Seconds(7));
  EXPECT_FALSE(alone->node.pod_url);
}

TEST_F(AgentOptionsTest, RelativePathsAreSeenFromWhereTheAgentWasStarted) {
  const auto made = Make({"--kubeconfig=k/c", "--bootstrap-kubeconfig=/b", "--cert-dir=pki"});
  ASSERT_TRUE(made);
  ASSERT_TRUE(made->server);
  EXPECT_EQ(made->server->bootstrap.kubeconfig_path, "/here/k/c");
  EXPECT_EQ(made->server->bootstrap.bootstrap_kubeconfig_path, "/b");
  EXPECT_EQ(made->server->certificate_folder, "/here/pki");
}

TEST_F(AgentOptionsTest, RatesAreThoseOfTheConfigurationAndZeroIsClientGosDefault) {
  const auto usual = Make({"--kubeconfig=/k"});
  EXPECT_EQ(usual->server->client.requests_per_second, 50);
  EXPECT_EQ(usual->server->client.requests_burst, 100);
  const auto zero = Make({"--kubeconfig=/k"}, "kubeAPIQPS: 0\neventRecordQPS: 0\neventBurst: 3\n");
  EXPECT_EQ(zero->server->client.requests_per_second, 5);
  EXPECT_EQ(zero->server->client.events_per_second, 5);
  EXPECT_EQ(zero->server->client.events_burst, 3u);
}

TEST_F(AgentOptionsTest, TheRuntimeIsTheConfigurations) {
  const auto usual = Make({});
  EXPECT_EQ(usual->runtime.runtime_endpoint, "unix:///run/containerd/containerd.sock");
  EXPECT_EQ(usual->runtime.image_endpoint, "");
  EXPECT_EQ(usual->runtime.request_timeout, Minutes(2));
  const auto other = Make({"--image-service-endpoint=unix:///i.sock"},
                          "containerRuntimeEndpoint: unix:///r.sock\nruntimeRequestTimeout: 7s\n");
  ASSERT_TRUE(other) << other.error().message();
  EXPECT_EQ(other->runtime.runtime_endpoint, "unix:///r.sock");
  EXPECT_EQ(other->runtime.image_endpoint, "unix:///i.sock");
  EXPECT_EQ(other->runtime.request_timeout, Seconds(7));
}

TEST_F(AgentOptionsTest, WhatIsNoNodeIpIsIgnoredAndTold) {
  EXPECT_EQ(Make({"--node-ip=10.0.0.1, fd00::1"})->node.node.flags.node_ips.size(), 2u);
  EXPECT_EQ(Make({"--node-ip=10.0.0.1,nonsense"})->node.node.flags.node_ips.size(), 1u);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("nonsense")));
}

TEST_F(AgentOptionsTest, LogAndCpusComeFromTheConfiguration) {
  const auto made = Make({"-v=4"}, "logging: {format: json}\nreservedSystemCPUs: 1-2,5\n");
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->log.style, LogStyle::kJson);
  EXPECT_EQ(made->log.levels.verbosity, 4);
  EXPECT_THAT(made->cpus, ElementsAre(1, 2, 5));
}

TEST_F(AgentOptionsTest, TheNodeClaimsOnlyWhatIsThere) {
  const auto made = Make({"--port=10250"});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->node.node.port, 0) << "nobody listens";
  for (const std::string& feature : made->node.node.flags.declared_features) {
    EXPECT_TRUE(IsImplemented(feature)) << feature;
  }
}

TEST_F(AgentOptionsTest, TheLockFileIsSeenFromWhereTheAgentWasStarted) {
  EXPECT_EQ(Make({})->lock_file, "");
  const auto made = Make({"--lock-file=a.lock", "--exit-on-lock-contention"});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->lock_file, "/here/a.lock");
  EXPECT_TRUE(made->exit_on_lock_contention);
}

TEST_F(AgentOptionsTest, EvictionThresholdsMayBeLeftOutOfWhatPodsCanHave) {
  EXPECT_TRUE(Make({}, "maxPods: 5\n")->node.node.memory_eviction);
  const auto made = Make({"--experimental-allocatable-ignore-eviction"}, "maxPods: 5\n");
  EXPECT_FALSE(made->node.node.memory_eviction);
  EXPECT_FALSE(made->node.node.storage_eviction);
  EXPECT_FALSE(made->node.node.pressure_thresholds.empty());
}

TEST_F(AgentOptionsTest, TheManifestUrlHasItsHeaders) {
  const auto made = Make({}, "staticPodURL: http://h/p\nstaticPodURLHeader: {B: [x], A: [w, z]}\n");
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->node.pod_url->url, "http://h/p");
  EXPECT_EQ(made->node.pod_url->check_period, Seconds(20));
  ASSERT_NE(made->node.pod_url->headers.Find("b"), nullptr);
  EXPECT_EQ(*made->node.pod_url->headers.Find("b"), "x");
}

// Whoever adds a field to it adds a line here: what nobody fills in does nothing, silently.
TEST_F(AgentOptionsTest, EveryFactThatSpecificationsNeedIsFilledIn) {
  auto made = Make({"--root-dir=/root", "--seccomp-default", "--fail-swap-on=false"},
                   "podLogsDir: /logs\ncgroupsPerQOS: false\ncgroupRoot: /pods\n"
                   "enforceNodeAllocatable: [none]\n"
                   "clusterDomain: d\nclusterDNS: [10.0.0.1]\nresolvConf: /r\n"
                   "cpuCFSQuota: false\ncpuCFSQuotaPeriod: 10ms\nsingleProcessOOMKill: true\n"
                   "memorySwap: {swapBehavior: LimitedSwap}\n"
                   "featureGates: {EnvFiles: false, CustomCPUCFSQuotaPeriod: true}\n");
  ASSERT_TRUE(made) << made.error().message();
  node::MachineFacts machine;
  machine.memory_bytes = 1000;
  machine.swap_bytes = 100;
  machine.huge_pages = {{.page_kib = 2048, .pages = 1}};
  machine.kernel_version = "6.1.0";
  machine.swap_controller = true;
  machine.thermal_throttle_paths = {"/sys/devices/system/cpu/cpu0/thermal_throttle"};
  ASSERT_TRUE(AddMachine(machine, made->pods));

  const sync::SpecNode nothing;
  const auto& [pod_logs_dir, cgroup_root, seccomp_root, cluster_domain, cluster_dns, resolv_conf,
               pods_dir, env_files, selinux, seccomp_default, memory, swap, cfs_quota, cfs_period,
               cgroup_v2, single_process_oom_kill, swap_controller, limited_swap, hugepages,
               thermal_throttle] = made->pods.spec;
  EXPECT_NE(pod_logs_dir, nothing.pod_logs_dir);
  EXPECT_NE(cgroup_root, nothing.cgroup_root);
  EXPECT_NE(seccomp_root, nothing.seccomp_root);
  EXPECT_NE(cluster_domain, nothing.cluster_domain);
  EXPECT_NE(cluster_dns, nothing.cluster_dns);
  EXPECT_NE(resolv_conf, nothing.resolv_conf_path);
  EXPECT_NE(pods_dir, nothing.pods_dir);
  EXPECT_NE(env_files, nothing.env_files);
  EXPECT_NE(seccomp_default, nothing.seccomp_default);
  EXPECT_NE(memory, nothing.memory_capacity_bytes);
  EXPECT_NE(swap, nothing.swap_capacity_bytes);
  EXPECT_NE(cfs_quota, nothing.cpu_cfs_quota);
  EXPECT_NE(cfs_period, nothing.cpu_cfs_period_us);
  EXPECT_NE(single_process_oom_kill, nothing.single_process_oom_kill);
  EXPECT_NE(swap_controller, nothing.swap_controller);
  EXPECT_NE(limited_swap, nothing.limited_swap);
  EXPECT_NE(hugepages, nothing.hugepage_sizes);
  EXPECT_NE(thermal_throttle, nothing.thermal_throttle_paths);
  // Of the machine that the configuration was read on, which tests cannot change.
  EXPECT_TRUE(cgroup_v2);
  (void)selinux;
}

}  // namespace
}  // namespace denselet::app
