// The status of a pod that may not run on this node: it has failed, and says why.
#pragma once

#include "base/time.h"
#include "kube/api/fwd.h"
#include "sync/ports/admission.h"

namespace denselet::sync {

// `old`: what was said before.
kube::core::PodStatus RejectedStatus(const kube::core::Pod& pod, const kube::core::PodStatus& old,
                                     const Rejection& rejection, WallTime now);

}  // namespace denselet::sync
