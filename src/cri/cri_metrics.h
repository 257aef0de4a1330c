// What is counted of the runtime's calls and events, with upstream's names.
#pragma once

#include <cstdint>
#include <span>

#include "base/metrics.h"
#include "rpc/method.h"

namespace denselet::cri {

enum class CriMetric : uint8_t {
  kOperations,
  kDuration,
  kErrors,
  kLosingSupport,
  kStreamErrors,
  kStreamSuccesses,
  kEventLatency,
  kEvents,
  kHintsLost,
  kUnreadable,
};

inline constexpr auto kOperationBuckets = ExponentialBuckets<14>(.005, 2.5);

inline constexpr MetricDef kCriMetrics[] = {
    {CriMetric::kOperations,
     "kubelet_runtime_operations_total",
     MetricKind::kCounter,
     "[ALPHA] Cumulative number of runtime operations by operation type.",
     {"operation_type"}},
    {CriMetric::kDuration,
     "kubelet_runtime_operations_duration_seconds",
     MetricKind::kHistogram,
     "[ALPHA] Duration in seconds of runtime operations. Broken down by operation type.",
     {"operation_type"},
     kOperationBuckets},
    {CriMetric::kErrors,
     "kubelet_runtime_operations_errors_total",
     MetricKind::kCounter,
     "[ALPHA] Cumulative number of runtime operation errors by operation type.",
     {"operation_type"}},
    {CriMetric::kLosingSupport,
     "kubelet_cri_losing_support",
     MetricKind::kGauge,
     "[ALPHA] the Kubernetes version that the currently running CRI implementation will lose "
     "support on if not upgraded.",
     {"version"},
     {},
     kMetricSeriesMax,
     GaugeMerge::kMax},
    {CriMetric::kStreamErrors, "kubelet_evented_pleg_connection_error_count", MetricKind::kCounter,
     "[ALPHA] The number of errors encountered during the establishment of streaming connection "
     "with the CRI runtime."},
    {CriMetric::kStreamSuccesses, "kubelet_evented_pleg_connection_success_count",
     MetricKind::kCounter,
     "[ALPHA] The number of times a streaming client was obtained to receive CRI Events."},
    {CriMetric::kEventLatency,
     "kubelet_evented_pleg_connection_latency_seconds",
     MetricKind::kHistogram,
     "[ALPHA] The latency of streaming connection with the CRI runtime, measured in seconds.",
     {},
     kDefaultBuckets},
    {CriMetric::kEvents, "denselet_cri_events_total", MetricKind::kCounter,
     "Events of containers that the runtime sent."},
    {CriMetric::kHintsLost, "denselet_cri_hints_lost_total", MetricKind::kCounter,
     "Times that events could not be kept apart or read, so that all pods were looked at."},
    {CriMetric::kUnreadable, "denselet_cri_unreadable_objects_total", MetricKind::kCounter,
     "Sandboxes and containers in lists that had no id, name or metadata."},
};
constexpr std::span<const MetricDef> MetricsOf(CriMetric) { return kCriMetrics; }

// Lives on one shard, with its metrics.
class CriCallMetrics final : public rpc::CallMetrics {
 public:
  explicit CriCallMetrics(MetricSet<CriMetric>& metrics) : metrics_(metrics) {}

  rpc::MethodCells CellsOf(const rpc::Method& method) override {
    return {.calls = &metrics_.Counter(CriMetric::kOperations, method.name),
            .errors = &metrics_.Counter(CriMetric::kErrors, method.name),
            .latency = &metrics_.Histogram(CriMetric::kDuration, method.name)};
  }

 private:
  MetricSet<CriMetric>& metrics_;
};

}  // namespace denselet::cri
