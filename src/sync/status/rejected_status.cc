#include "sync/status/rejected_status.h"

#include <algorithm>

#include "kube/api/types.h"
#include "sync/status/pod_qos.h"
#include "sync/status/status_lookup.h"

namespace denselet::sync {

kube::core::PodStatus RejectedStatus(const kube::core::Pod& pod, const kube::core::PodStatus& old,
                                     const Rejection& rejection, WallTime now) {
  kube::core::PodStatus out;
  out.set_phase("Failed");
  out.set_reason(rejection.reason);
  out.set_message("Pod was rejected: " + rejection.message);
  out.set_qosclass(QosName(pod));
  *out.mutable_starttime() = HasTime(old.starttime()) ? old.starttime() : InSeconds(now);
  const int64_t generation = std::max(old.observedgeneration(), pod.metadata().generation());
  if (generation != 0) out.set_observedgeneration(generation);
  return out;
}

}  // namespace denselet::sync
