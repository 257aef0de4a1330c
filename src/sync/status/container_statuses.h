// What is told of each container: its state and the one before, how often it was started, what it
// runs.
#pragma once

#include "kube/api/fwd.h"
#include "sync/status/pod_status.h"

namespace denselet::sync {

// Sets the three lists of container statuses: init containers in the order of the specification,
// the others by name. Of readiness nothing is said yet. `old` is what was told before.
void SetContainerStatuses(const StatusInput& input, const kube::core::PodStatus& old,
                          kube::core::PodStatus& out);

// Whether an exit restarts, or is about to restart, all containers of the pod.
bool AllContainersRestart(const StatusInput& input, const kube::core::PodStatus& old);

}  // namespace denselet::sync
