// Resources in a pod's status: what containers were given and what the pod as a whole was, so that
// a resize in place can be followed.
#pragma once

#include "kube/api/fwd.h"
#include "sync/ports/observed_pod.h"

namespace denselet::sync {

// What a container has: as the runtime applied it while it runs, else as allocated. What the
// runtime does not say and was told of the same instance before (`old`) stays.
kube::core::ResourceRequirements ContainerResourcesStatus(
    const kube::core::ResourceRequirements& allocated, const ObservedContainer& seen,
    const kube::core::ContainerStatus* old, const kube::core::ContainerStatus& status);

// Sums over the pod: status.allocatedResources (requests) and status.resources (both).
// The latter is what was allocated, also while the pod runs, when the kubelet reads it back from
// the pod's cgroup.
void SetPodResources(const kube::core::Pod& pod, kube::core::PodStatus& out);

}  // namespace denselet::sync
