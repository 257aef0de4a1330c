// What is counted of the node: its name, and how long it took from the machine's start until it was
// ready. The latter only of a node that was registered for the first time.
//
// Lives on the API shard.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/metrics.h"
#include "base/time.h"

namespace denselet::node {

enum class NodeMetric : uint8_t {
  kName,
  kBeforeAgent,
  kBeforeRegistration,
  kRegistration,
  kAfterRegistration,
  kStartup,
};

inline constexpr MetricDef kNodeMetrics[] = {
    {NodeMetric::kName,
     "kubelet_node_name",
     MetricKind::kGauge,
     "[ALPHA] The node's name. The count is always 1.",
     {"node"}},
    {NodeMetric::kBeforeAgent, "kubelet_node_startup_pre_kubelet_duration_seconds",
     MetricKind::kGauge, "[ALPHA] Duration in seconds of node startup before kubelet starts."},
    {NodeMetric::kBeforeRegistration, "kubelet_node_startup_pre_registration_duration_seconds",
     MetricKind::kGauge, "[ALPHA] Duration in seconds of node startup before registration."},
    {NodeMetric::kRegistration, "kubelet_node_startup_registration_duration_seconds",
     MetricKind::kGauge, "[ALPHA] Duration in seconds of node startup during registration."},
    {NodeMetric::kAfterRegistration, "kubelet_node_startup_post_registration_duration_seconds",
     MetricKind::kGauge, "[ALPHA] Duration in seconds of node startup after registration."},
    {NodeMetric::kStartup, "kubelet_node_startup_duration_seconds", MetricKind::kGauge,
     "[ALPHA] Duration in seconds of node startup in total."},
};
constexpr std::span<const MetricDef> MetricsOf(NodeMetric) { return kNodeMetrics; }

// Each of the steps counts the first time only.
class StartupTracker {
 public:
  StartupTracker(MetricSet<NodeMetric>& metrics, WallTime agent_started_at)
      : metrics_(metrics), started_at_(agent_started_at) {}

  void OnBooted(WallTime at) { booted_at_ = at; }
  void OnRegistrationTried(WallTime now);
  void OnRegisteredAsNew(WallTime now);
  void OnReady(WallTime now);

 private:
  MetricSet<NodeMetric>& metrics_;
  const WallTime started_at_;
  std::optional<WallTime> booted_at_, tried_at_, registered_at_, ready_at_;
};

}  // namespace denselet::node
