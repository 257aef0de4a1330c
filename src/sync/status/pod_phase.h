// Pending, Running, Succeeded or Failed: what the containers of a pod make of it together.
#pragma once

#include <string_view>

#include "kube/api/fwd.h"
#include "sync/status/pod_status.h"

namespace denselet::sync {

// From the container statuses of `status` alone, as the kubelet's getPhase.
std::string_view PhaseOfContainers(const StatusInput& input, const kube::core::PodStatus& status);

// Sets phase, reason and message: what containers say, what was said before (a pod that has ended
// has ended), and why somebody ended it. `old` is what was told before.
void SetPhase(const StatusInput& input, const kube::core::PodStatus& old,
              kube::core::PodStatus& out);

}  // namespace denselet::sync
