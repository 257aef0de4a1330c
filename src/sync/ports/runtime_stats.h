// What containers use, as the runtime counts it.
//
// One instance a shard; answers and codes as in sync/ports/runtime.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "reactor/api/file_system.h"
#include "sync/ports/observed_pod.h"

namespace denselet::sync {

// Nothing: the runtime does not say.
struct CpuStats {
  WallTime at = {};
  std::optional<uint64_t> usage_core_ns = {};
  std::optional<uint64_t> usage_nano_cores = {};
  friend bool operator==(const CpuStats&, const CpuStats&) = default;
};

struct MemoryStats {
  WallTime at = {};
  std::optional<uint64_t> working_set_bytes = {};
  std::optional<uint64_t> available_bytes = {};
  std::optional<uint64_t> usage_bytes = {};
  std::optional<uint64_t> rss_bytes = {};
  std::optional<uint64_t> page_faults = {};
  std::optional<uint64_t> major_page_faults = {};
  friend bool operator==(const MemoryStats&, const MemoryStats&) = default;
};

struct SwapStats {
  WallTime at = {};
  std::optional<uint64_t> available_bytes = {};
  std::optional<uint64_t> usage_bytes = {};
  friend bool operator==(const SwapStats&, const SwapStats&) = default;
};

struct WritableLayerStats {
  WallTime at = {};
  std::string mountpoint = {};
  std::optional<uint64_t> used_bytes = {};
  std::optional<uint64_t> inodes_used = {};
  friend bool operator==(const WritableLayerStats&, const WritableLayerStats&) = default;
};

struct ContainerStats {
  PodUid pod = {};
  ContainerId id = {};
  std::string name = {};
  uint32_t attempt = 0;
  std::optional<CpuStats> cpu = {};
  std::optional<MemoryStats> memory = {};
  std::optional<SwapStats> swap = {};
  std::optional<WritableLayerStats> writable_layer = {};
  friend bool operator==(const ContainerStats&, const ContainerStats&) = default;
};

struct InterfaceStats {
  std::string name = {};
  std::optional<uint64_t> rx_bytes = {};
  std::optional<uint64_t> rx_errors = {};
  std::optional<uint64_t> tx_bytes = {};
  std::optional<uint64_t> tx_errors = {};
  friend bool operator==(const InterfaceStats&, const InterfaceStats&) = default;
};

struct NetworkStats {
  WallTime at = {};
  std::optional<InterfaceStats> primary = {};
  std::vector<InterfaceStats> interfaces = {};
  friend bool operator==(const NetworkStats&, const NetworkStats&) = default;
};

struct PodStats {
  PodIdentity pod = {};
  SandboxId id = {};
  uint32_t attempt = 0;
  std::optional<CpuStats> cpu = {};
  std::optional<MemoryStats> memory = {};
  std::optional<NetworkStats> network = {};
  std::optional<uint64_t> processes = {};
  std::vector<ContainerStats> containers = {};  // by name and descending attempt
  friend bool operator==(const PodStats&, const PodStats&) = default;
};

// What a runtime counts by names of its own, in place of cAdvisor.
struct MetricDescriptor {
  std::string name = {};
  std::string help = {};
  std::vector<std::string> label_keys = {};
  friend bool operator==(const MetricDescriptor&, const MetricDescriptor&) = default;
};

struct RuntimeMetric {
  enum class Kind : uint8_t { kCounter, kGauge };
  std::string name = {};
  WallTime at = {};
  Kind kind = Kind::kCounter;
  std::vector<std::string> label_values = {};  // as its descriptor names them
  uint64_t value = 0;
  friend bool operator==(const RuntimeMetric&, const RuntimeMetric&) = default;
};

struct ContainerMetrics {
  ContainerId id = {};
  std::vector<RuntimeMetric> metrics = {};
  friend bool operator==(const ContainerMetrics&, const ContainerMetrics&) = default;
};

struct PodMetrics {
  SandboxId sandbox = {};
  std::vector<RuntimeMetric> metrics = {};
  std::vector<ContainerMetrics> containers = {};
  friend bool operator==(const PodMetrics&, const PodMetrics&) = default;
};

class RuntimeStats {
 public:
  virtual ~RuntimeStats() = default;

  // Of all containers of pods, or of those in one sandbox. Sorted by pod, name and descending
  // attempt.
  virtual void ListStats(const Context&, const std::optional<SandboxId>& only,
                         reactor::Done<std::vector<ContainerStats>>) = 0;

  // Those of whole pods, and the runtime's own metrics; of runtimes that have them (kUnsupported:
  // not this one). Of all pods, or of one sandbox. Sorted by uid and descending attempt.
  virtual void ListPodStats(const Context&, const std::optional<SandboxId>& only,
                            reactor::Done<std::vector<PodStats>>) = 0;
  virtual void ListMetricDescriptors(const Context&,
                                     reactor::Done<std::vector<MetricDescriptor>>) = 0;
  // Sorted by sandbox. Sandboxes of others are among them: a metric has no labels of a pod's.
  virtual void ListPodMetrics(const Context&, reactor::Done<std::vector<PodMetrics>>) = 0;
};

}  // namespace denselet::sync
