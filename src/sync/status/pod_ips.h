// The addresses of a pod and of its node.
#pragma once

#include "kube/api/fwd.h"
#include "sync/status/pod_status.h"

namespace denselet::sync {

// Sets hostIP(s) and podIP(s). A pod whose sandbox has gone keeps the addresses that were told; one
// in the node's network has the node's, which do not change once told.
void SetAddresses(const StatusInput& input, const kube::core::PodStatus& old,
                  kube::core::PodStatus& out);

}  // namespace denselet::sync
