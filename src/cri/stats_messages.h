// What the runtime counts, as structs of ours.
//
// Pure functions, on any thread.
#pragma once

#include <optional>

#include "cri/fwd.h"
#include "sync/ports/runtime_stats.h"

namespace denselet::cri {

// Nothing: it is not a pod's of ours.
std::optional<sync::ContainerStats> ReadStats(const pb::ContainerStats& stats);
std::optional<sync::PodStats> ReadPodStats(const pb::PodSandboxStats& stats);

sync::MetricDescriptor ReadDescriptor(const pb::MetricDescriptor& descriptor);
sync::PodMetrics ReadPodMetrics(const pb::PodSandboxMetrics& metrics);

}  // namespace denselet::cri
