// What PLEG counts: upstream's names where upstream has the thing, ours elsewhere. What becomes of
// the stream of events itself is counted where it is opened (cri/cri_metrics.h).
#pragma once

#include <cstdint>
#include <span>

#include "base/metrics.h"

namespace denselet::sync {

enum class PlegMetric : uint8_t {
  kRelistDuration,
  kDiscardEvents,
  kRelistInterval,
  kLastSeen,
  kPodRelistDuration,
  kMissedEvents,
  kEvented,
  kModeChanges,
  kCrossCheckPeriod,
  kUnhealthyPods,
};

inline constexpr MetricDef kPlegMetrics[] = {
    {PlegMetric::kRelistDuration,
     "kubelet_pleg_relist_duration_seconds",
     MetricKind::kHistogram,
     "[ALPHA] Duration in seconds for relisting pods in PLEG.",
     {},
     kDefaultBuckets},
    {PlegMetric::kDiscardEvents, "kubelet_pleg_discard_events", MetricKind::kCounter,
     "[ALPHA] The number of discard events in PLEG."},
    {PlegMetric::kRelistInterval,
     "kubelet_pleg_relist_interval_seconds",
     MetricKind::kHistogram,
     "[ALPHA] Interval in seconds between relisting in PLEG.",
     {},
     kDefaultBuckets},
    {PlegMetric::kLastSeen,
     "kubelet_pleg_last_seen_seconds",
     MetricKind::kGauge,
     "[ALPHA] Timestamp in seconds when PLEG was last seen active.",
     {},
     {},
     kMetricSeriesMax,
     GaugeMerge::kMax},
    {PlegMetric::kPodRelistDuration,
     "kubelet_pleg_pod_relist_duration_seconds",
     MetricKind::kHistogram,
     "[ALPHA] Duration in seconds for relisting a single pod in PLEG.",
     {},
     kDefaultBuckets},
    {PlegMetric::kMissedEvents, "denselet_pleg_missed_events_total", MetricKind::kCounter,
     "Changes of pods that a cross-check found and no event had announced."},
    {PlegMetric::kEvented,
     "denselet_pleg_evented",
     MetricKind::kGauge,
     "1 while events are trusted and lists are cross-checks, 0 while lists lead.",
     {},
     {},
     kMetricSeriesMax,
     GaugeMerge::kMax},
    {PlegMetric::kModeChanges,
     "denselet_pleg_mode_changes_total",
     MetricKind::kCounter,
     "Changes between events and lists, by the mode that began.",
     {"mode"}},
    {PlegMetric::kCrossCheckPeriod,
     "denselet_pleg_cross_check_period_seconds",
     MetricKind::kGauge,
     "Time between two cross-checks while events are trusted.",
     {},
     {},
     kMetricSeriesMax,
     GaugeMerge::kMax},
    {PlegMetric::kUnhealthyPods, "denselet_pleg_unhealthy_pods", MetricKind::kGauge,
     "Pods whose last read from the runtime failed."},
};
constexpr std::span<const MetricDef> MetricsOf(PlegMetric) { return kPlegMetrics; }

}  // namespace denselet::sync
