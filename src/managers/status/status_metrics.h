// What is counted of statuses on their way. Lives on the API shard.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/metrics.h"

namespace denselet::managers {

enum class StatusMetric : uint8_t { kSyncDuration };

inline constexpr std::array<double, 11> kStatusSyncBuckets = {.01, .05, .1, .5, 1, 5,
                                                              10,  20,  30, 45, 60};

inline constexpr MetricDef kStatusMetrics[] = {
    {StatusMetric::kSyncDuration,
     "kubelet_pod_status_sync_duration_seconds",
     MetricKind::kHistogram,
     "[ALPHA] Duration in seconds to sync a pod status update. Measures time from detection of a "
     "change to pod status until the API is successfully updated for that pod, even if multiple "
     "intevening changes to pod status occur.",
     {},
     kStatusSyncBuckets},
};
constexpr std::span<const MetricDef> MetricsOf(StatusMetric) { return kStatusMetrics; }

}  // namespace denselet::managers
