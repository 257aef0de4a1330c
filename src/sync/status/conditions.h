// The conditions of a pod that are ours to say: with the kubelet's reasons, messages and order.
#pragma once

#include "kube/api/fwd.h"
#include "sync/status/pod_status.h"

namespace denselet::sync {

// When phase and container statuses are set. Conditions of others are taken over from the API
// server's status; times of transitions are set.
void SetConditions(const StatusInput& input, const kube::core::PodStatus& old,
                   kube::core::PodStatus& out);

}  // namespace denselet::sync
