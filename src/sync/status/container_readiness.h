// Whether containers have started and are ready: what their probes say, and what was said of them
// before these have spoken.
#pragma once

#include "kube/api/fwd.h"
#include "sync/status/pod_status.h"

namespace denselet::sync {

// Sets `started` and `ready` of each when their states are known. An instance
// whose probes have not spoken yet since the agent began keeps what was said of it.
void SetReadiness(const StatusInput& input, const kube::core::PodStatus& old,
                  kube::core::PodStatus& out);

}  // namespace denselet::sync
