// How long a container gets to end by itself, by who wants it to end.
#pragma once

#include "base/time.h"
#include "sync/decide/ledger_view.h"
#include "sync/decide/pod_plan.h"

namespace denselet::sync {

// The least that is ever sent to the runtime.
inline constexpr Seconds kMinimumGrace = Seconds(2);

// Of a container that is stopped while its pod goes on: what the API server set when it deleted the
// pod, the failed probe's own, the pod's, the minimum; nothing for a restart of all containers.
Seconds KillGrace(const PodPlan& plan, const ContainerPlan& container, KillReason reason);

// What is left of it, as the kubelet counts: begun seconds are left.
Seconds GraceLeft(Seconds grace, TimePoint began, TimePoint now);

}  // namespace denselet::sync
