#include "cri/stats_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cri/messages.h"

namespace denselet::cri {
namespace {

using testing::ElementsAre;

TEST(StatsMessages, StatisticsTellWhatIsNotThere) {
  pb::ContainerStats stats;
  EXPECT_EQ(ReadStats(stats), std::nullopt);
  stats.mutable_attributes()->set_id("c1");
  EXPECT_EQ(ReadStats(stats), std::nullopt);  // nobody's
  (*stats.mutable_attributes()->mutable_labels())["io.kubernetes.pod.uid"] = "uid-1";
  stats.mutable_attributes()->mutable_metadata()->set_name("app");
  stats.mutable_cpu()->mutable_usage_core_nano_seconds()->set_value(0);
  stats.mutable_writable_layer()->mutable_fs_id()->set_mountpoint("/var/lib");
  stats.mutable_writable_layer()->mutable_used_bytes()->set_value(4096);
  const auto read = ReadStats(stats);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->cpu->usage_core_ns, 0u);
  EXPECT_EQ(read->cpu->usage_nano_cores, std::nullopt);
  EXPECT_EQ(read->memory, std::nullopt);
  EXPECT_EQ(read->writable_layer->used_bytes, 4096u);
  EXPECT_EQ(read->writable_layer->inodes_used, std::nullopt);
}

TEST(StatsMessages, StatisticsOfAPodHaveItsNetworkProcessesAndContainers) {
  pb::PodSandboxStats stats;
  stats.mutable_attributes()->set_id("s1");
  EXPECT_EQ(ReadPodStats(stats), std::nullopt);  // nobody's
  (*stats.mutable_attributes()->mutable_labels())["io.kubernetes.pod.uid"] = "uid-1";
  stats.mutable_attributes()->mutable_metadata()->set_name("web");
  stats.mutable_attributes()->mutable_metadata()->set_namespace_("default");
  stats.mutable_attributes()->mutable_metadata()->set_attempt(2);
  const auto bare = ReadPodStats(stats);
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->pod,
            (sync::PodIdentity{.ref = {.ns = "default", .name = "web"}, .uid = PodUid("uid-1")}));
  EXPECT_EQ(bare->attempt, 2u);
  EXPECT_EQ(bare->cpu, std::nullopt);
  EXPECT_EQ(bare->network, std::nullopt);
  EXPECT_EQ(bare->processes, std::nullopt);

  pb::LinuxPodSandboxStats& linux = *stats.mutable_linux();
  linux.mutable_cpu()->mutable_usage_nano_cores()->set_value(7);
  linux.mutable_memory()->mutable_working_set_bytes()->set_value(8);
  linux.mutable_process()->mutable_process_count()->set_value(3);
  linux.mutable_network()->mutable_default_interface()->set_name("eth0");
  linux.mutable_network()->mutable_default_interface()->mutable_rx_bytes()->set_value(0);
  linux.mutable_network()->add_interfaces()->set_name("eth1");
  pb::ContainerStats& container = *linux.add_containers();
  container.mutable_attributes()->set_id("c1");
  (*container.mutable_attributes()->mutable_labels())["io.kubernetes.pod.uid"] = "uid-1";
  linux.add_containers();  // of nobody
  const auto read = ReadPodStats(stats);
  EXPECT_EQ(read->cpu->usage_nano_cores, 7u);
  EXPECT_EQ(read->memory->working_set_bytes, 8u);
  EXPECT_EQ(read->processes, 3u);
  EXPECT_EQ(read->network->primary->name, "eth0");
  EXPECT_EQ(read->network->primary->rx_bytes, 0u);
  EXPECT_EQ(read->network->primary->tx_errors, std::nullopt);
  ASSERT_EQ(read->network->interfaces.size(), 1u);
  ASSERT_EQ(read->containers.size(), 1u);
  EXPECT_EQ(read->containers[0].id, ContainerId("c1"));
}

TEST(StatsMessages, MetricsKeepTheRuntimesNamesAndLabels) {
  pb::MetricDescriptor descriptor;
  descriptor.set_name("container_cpu");
  descriptor.set_help("CPU.");
  descriptor.add_label_keys("container");
  EXPECT_TRUE(ReadDescriptor(descriptor) ==
              (sync::MetricDescriptor{
                  .name = "container_cpu", .help = "CPU.", .label_keys = {"container"}}));

  pb::PodSandboxMetrics metrics;
  metrics.set_pod_sandbox_id("s1");
  metrics.add_metrics()->set_name("pod_total");
  pb::ContainerMetrics& container = *metrics.add_container_metrics();
  container.set_container_id("c1");
  pb::Metric& gauge = *container.add_metrics();
  gauge.set_name("memory");
  gauge.set_metric_type(pb::MetricType::GAUGE);
  gauge.set_timestamp(5);
  gauge.add_label_values("app");
  gauge.mutable_value()->set_value(9);
  const sync::PodMetrics read = ReadPodMetrics(metrics);
  EXPECT_EQ(read.sandbox, SandboxId("s1"));
  ASSERT_EQ(read.metrics.size(), 1u);
  EXPECT_EQ(read.metrics[0].kind, sync::RuntimeMetric::Kind::kCounter);
  ASSERT_EQ(read.containers.size(), 1u);
  ASSERT_EQ(read.containers[0].metrics.size(), 1u);
  const sync::RuntimeMetric& memory = read.containers[0].metrics[0];
  EXPECT_EQ(memory.kind, sync::RuntimeMetric::Kind::kGauge);
  EXPECT_EQ(memory.at, WallTime(Duration(5)));
  EXPECT_THAT(memory.label_values, ElementsAre("app"));
  EXPECT_EQ(memory.value, 9u);
}

}  // namespace
}  // namespace denselet::cri
