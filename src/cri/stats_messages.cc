#include "cri/stats_messages.h"

#include <string>

#include "cri/labels.h"
#include "cri/messages.h"
#include "cri/values.h"

namespace denselet::cri {

namespace {

template <class Message>
std::optional<uint64_t> IfSet(bool has, const Message& value) {
  return has ? std::optional<uint64_t>(value.value()) : std::nullopt;
}

sync::CpuStats ReadCpu(const pb::CpuUsage& cpu) {
  return {.at = TimeOf(cpu.timestamp()),
          .usage_core_ns = IfSet(cpu.has_usage_core_nano_seconds(), cpu.usage_core_nano_seconds()),
          .usage_nano_cores = IfSet(cpu.has_usage_nano_cores(), cpu.usage_nano_cores())};
}

sync::MemoryStats ReadMemory(const pb::MemoryUsage& memory) {
  return {
      .at = TimeOf(memory.timestamp()),
      .working_set_bytes = IfSet(memory.has_working_set_bytes(), memory.working_set_bytes()),
      .available_bytes = IfSet(memory.has_available_bytes(), memory.available_bytes()),
      .usage_bytes = IfSet(memory.has_usage_bytes(), memory.usage_bytes()),
      .rss_bytes = IfSet(memory.has_rss_bytes(), memory.rss_bytes()),
      .page_faults = IfSet(memory.has_page_faults(), memory.page_faults()),
      .major_page_faults = IfSet(memory.has_major_page_faults(), memory.major_page_faults()),
  };
}

sync::InterfaceStats ReadInterface(const pb::NetworkInterfaceUsage& usage) {
  return {.name = usage.name(),
          .rx_bytes = IfSet(usage.has_rx_bytes(), usage.rx_bytes()),
          .rx_errors = IfSet(usage.has_rx_errors(), usage.rx_errors()),
          .tx_bytes = IfSet(usage.has_tx_bytes(), usage.tx_bytes()),
          .tx_errors = IfSet(usage.has_tx_errors(), usage.tx_errors())};
}

sync::NetworkStats ReadNetwork(const pb::NetworkUsage& usage) {
  sync::NetworkStats network = {.at = TimeOf(usage.timestamp())};
  if (usage.has_default_interface()) network.primary = ReadInterface(usage.default_interface());
  for (const pb::NetworkInterfaceUsage& each : usage.interfaces()) {
    network.interfaces.push_back(ReadInterface(each));
  }
  return network;
}

template <class Metrics>
std::vector<sync::RuntimeMetric> ReadMetrics(const Metrics& metrics) {
  std::vector<sync::RuntimeMetric> all;
  for (const pb::Metric& metric : metrics) {
    all.push_back({.name = metric.name(),
                   .at = TimeOf(metric.timestamp()),
                   .kind = metric.metric_type() == pb::MetricType::GAUGE
                               ? sync::RuntimeMetric::Kind::kGauge
                               : sync::RuntimeMetric::Kind::kCounter,
                   .label_values = {metric.label_values().begin(), metric.label_values().end()},
                   .value = metric.value().value()});
  }
  return all;
}

}  // namespace

std::optional<sync::ContainerStats> ReadStats(const pb::ContainerStats& stats) {
  const pb::ContainerAttributes& attributes = stats.attributes();
  const std::string* uid = PodUidLabel(attributes.labels());
  if (uid == nullptr || attributes.id().empty()) return std::nullopt;
  sync::ContainerStats read = {.pod = PodUid(*uid),
                               .id = ContainerId(attributes.id()),
                               .name = attributes.metadata().name(),
                               .attempt = attributes.metadata().attempt()};
  if (stats.has_cpu()) read.cpu = ReadCpu(stats.cpu());
  if (stats.has_memory()) read.memory = ReadMemory(stats.memory());
  if (stats.has_swap()) {
    const pb::SwapUsage& swap = stats.swap();
    read.swap = {
        .at = TimeOf(swap.timestamp()),
        .available_bytes = IfSet(swap.has_swap_available_bytes(), swap.swap_available_bytes()),
        .usage_bytes = IfSet(swap.has_swap_usage_bytes(), swap.swap_usage_bytes())};
  }
  if (stats.has_writable_layer()) {
    const pb::FilesystemUsage& layer = stats.writable_layer();
    read.writable_layer = {.at = TimeOf(layer.timestamp()),
                           .mountpoint = layer.fs_id().mountpoint(),
                           .used_bytes = IfSet(layer.has_used_bytes(), layer.used_bytes()),
                           .inodes_used = IfSet(layer.has_inodes_used(), layer.inodes_used())};
  }
  return read;
}

std::optional<sync::PodStats> ReadPodStats(const pb::PodSandboxStats& stats) {
  const pb::PodSandboxAttributes& attributes = stats.attributes();
  const std::string* uid = PodUidLabel(attributes.labels());
  if (uid == nullptr || attributes.id().empty()) return std::nullopt;
  const pb::PodSandboxMetadata& metadata = attributes.metadata();
  sync::PodStats read = {
      .pod = {.ref = {.ns = metadata.namespace_(), .name = metadata.name()}, .uid = PodUid(*uid)},
      .id = SandboxId(attributes.id()),
      .attempt = metadata.attempt()};
  const pb::LinuxPodSandboxStats& linux = stats.linux();
  if (linux.has_cpu()) read.cpu = ReadCpu(linux.cpu());
  if (linux.has_memory()) read.memory = ReadMemory(linux.memory());
  if (linux.has_network()) read.network = ReadNetwork(linux.network());
  read.processes = IfSet(linux.process().has_process_count(), linux.process().process_count());
  for (const pb::ContainerStats& each : linux.containers()) {
    if (auto container = ReadStats(each)) read.containers.push_back(std::move(*container));
  }
  return read;
}

sync::MetricDescriptor ReadDescriptor(const pb::MetricDescriptor& descriptor) {
  return {.name = descriptor.name(),
          .help = descriptor.help(),
          .label_keys = {descriptor.label_keys().begin(), descriptor.label_keys().end()}};
}

sync::PodMetrics ReadPodMetrics(const pb::PodSandboxMetrics& metrics) {
  sync::PodMetrics read = {.sandbox = SandboxId(metrics.pod_sandbox_id()),
                           .metrics = ReadMetrics(metrics.metrics())};
  for (const pb::ContainerMetrics& each : metrics.container_metrics()) {
    read.containers.push_back({ContainerId(each.container_id()), ReadMetrics(each.metrics())});
  }
  return read;
}

}  // namespace denselet::cri
