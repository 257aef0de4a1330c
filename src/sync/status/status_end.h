// The last status of a pod, and what no status may say.
#pragma once

#include "base/result.h"
#include "kube/api/fwd.h"
#include "sync/status/pod_status.h"

namespace denselet::sync {

// Nothing is left of the pod on this node: containers whose end nobody saw have failed, and a pod
// of the API server is in a terminal phase.
void EndStatus(const kube::core::Pod& pod, kube::core::PodStatus& out);

// kBug: a container that ended for good is shown as not ended.
Status CheckContainerTransitions(const StatusInput& input, const kube::core::PodStatus& old,
                                 const kube::core::PodStatus& out);

}  // namespace denselet::sync
