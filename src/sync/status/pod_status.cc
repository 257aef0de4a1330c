#include "sync/status/pod_status.h"

#include <algorithm>

#include "kube/api/types.h"
#include "sync/status/conditions.h"
#include "sync/status/container_readiness.h"
#include "sync/status/container_statuses.h"
#include "sync/status/pod_ips.h"
#include "sync/status/pod_phase.h"
#include "sync/status/pod_qos.h"
#include "sync/status/status_end.h"
#include "sync/status/status_lookup.h"
#include "sync/status/status_resources.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

// What the containers of one pod may tell at their end, together.
constexpr size_t kTerminationMessagesBytesMax = size_t{12} * 1024;

// Cut where a character begins, so that what is left is text.
void CutTo(size_t bytes_max, std::string& text) {
  if (text.size() <= bytes_max) return;
  size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
}

void CutMessages(core::PodStatus& status, size_t containers) {
  const size_t bytes_max = kTerminationMessagesBytesMax / std::max<size_t>(containers, 1);
  for (auto* list : {status.mutable_initcontainerstatuses(), status.mutable_containerstatuses(),
                     status.mutable_ephemeralcontainerstatuses()}) {
    for (core::ContainerStatus& container : *list) {
      for (auto* state : {container.mutable_state(), container.mutable_laststate()}) {
        if (state->has_terminated())
          CutTo(bytes_max, *state->mutable_terminated()->mutable_message());
      }
    }
  }
}

}  // namespace

Result<core::PodStatus> BuildPodStatus(const StatusInput& input) {
  const core::PodStatus& old = input.before ? *input.before : input.pod.status();
  core::PodStatus out;
  out.set_qosclass(QosName(input.pod));
  SetContainerStatuses(input, old, out);
  SetPodResources(input.pod, out);
  SetReadiness(input, old, out);
  SetPhase(input, old, out);
  SetConditions(input, old, out);
  SetAddresses(input, old, out);
  if (input.finished == Finished::kYes) EndStatus(input.pod, out);
  if (Status legal = CheckContainerTransitions(input, old, out); !legal) return legal.error();

  *out.mutable_starttime() = HasTime(old.starttime()) ? old.starttime() : InSeconds(input.now);
  const int64_t generation = std::max(old.observedgeneration(), input.pod.metadata().generation());
  if (generation != 0) out.set_observedgeneration(generation);
  CutMessages(out, input.plan.containers.size());
  return out;
}

}  // namespace denselet::sync
