// What is counted of calls in general: how they wait, how many there are, and whether the other
// side is there. What a method's own latency and errors are called is the user's (CallMetrics).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/metrics.h"

namespace denselet::rpc {

enum class RpcMetric : uint8_t { kLimit, kRunning, kStuck, kWaiting, kWaited, kRefused, kBreaker };

inline constexpr auto kWaitBuckets = ExponentialBuckets<10>(.0001, 5);

inline constexpr MetricDef kRpcMetrics[] = {
    {RpcMetric::kLimit,
     "denselet_rpc_limit",
     MetricKind::kGauge,
     "Calls of a class that may be under way at once, as adapted to the other side's latency.",
     {"endpoint", "class"}},
    {RpcMetric::kRunning,
     "denselet_rpc_running",
     MetricKind::kGauge,
     "Calls under way.",
     {"endpoint", "class"}},
    {RpcMetric::kStuck,
     "denselet_rpc_stuck",
     MetricKind::kGauge,
     "Calls under way for so long that they no longer hold up others.",
     {"endpoint", "class"}},
    {RpcMetric::kWaiting,
     "denselet_rpc_waiting",
     MetricKind::kGauge,
     "Calls that wait for their turn.",
     {"endpoint", "class"}},
    {RpcMetric::kWaited,
     "denselet_rpc_wait_seconds",
     MetricKind::kHistogram,
     "Time between a call being asked for and being sent.",
     {"endpoint", "class"},
     kWaitBuckets},
    {RpcMetric::kRefused,
     "denselet_rpc_not_sent_total",
     MetricKind::kCounter,
     "Calls that ended without having been sent, by reason.",
     {"endpoint", "class", "reason"}},
    {RpcMetric::kBreaker,
     "denselet_rpc_breaker_state",
     MetricKind::kGauge,
     "Whether the other side is there: 0 closed (yes), 1 open (no), 2 half-open (being probed).",
     {"endpoint"},
     {},
     kMetricSeriesMax,
     GaugeMerge::kMax},
};
constexpr std::span<const MetricDef> MetricsOf(RpcMetric) { return kRpcMetrics; }

}  // namespace denselet::rpc
