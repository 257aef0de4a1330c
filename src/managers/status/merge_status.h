// Our status of a pod over what the API server has: what others own stays theirs, and that a pod
// has ended is not told before its containers have.
//
// Pure functions, on any thread.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "kube/api/fwd.h"
#include "sync/ports/pod_status.h"

namespace denselet::managers {

// What the API server should have. `shown` is the pod as it has it.
kube::core::PodStatus MergeStatus(const kube::core::Pod& shown, const kube::core::PodStatus& ours,
                                  sync::MayRun may_run, WallTime now);

// Conditions are a set: another order alone is no difference.
bool SameStatus(const kube::core::PodStatus& a, const kube::core::PodStatus& b);

// Who goes first when not all can.
enum class Urgency : uint8_t {
  kEnd,        // the pod is to go, or has ended
  kReadiness,  // others send it work, or stop to
  kNormal,
  kMayWait,  // an ordinary start: nothing is wrong, and a better status will come soon
};

Urgency UrgencyOf(const kube::core::Pod& shown, const kube::core::PodStatus& merged);

}  // namespace denselet::managers
