// A pod's status as the API server is to show it, made from what was seen of the pod: pure, so that
// it can be compared with what the kubelet's own code makes of the same.
//
// What was said before matters: a container that the runtime has forgotten is still shown as it
// ended, a pod that has ended has ended, and times of transitions stay. After a restart of the
// agent the API server's own status is what was said before, so nothing changes by it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/api/fwd.h"
#include "sync/decide/decision.h"
#include "sync/decide/pod_facts.h"
#include "sync/decide/pod_plan.h"
#include "sync/decide/pod_state.h"
#include "sync/ports/observed_pod.h"
#include "sync/ports/pod_status.h"

namespace denselet::sync {

// What probes say of one instance of a container. kNone: they have not spoken yet.
struct ProbedContainer {
  ContainerId id = {};
  ProbeResult startup = ProbeResult::kNone;
  ProbeResult readiness = ProbeResult::kNone;

  friend bool operator==(const ProbedContainer&, const ProbedContainer&) = default;
};

// Of the node, as far as it shows in the status of its pods.
struct StatusNode {
  std::string runtime_name = {};           // "containerd": in front of container ids
  std::vector<std::string> host_ips = {};  // one, or one of each family; empty: not known
  bool prefers_ipv6 = false;               // the node's first address is of that family
  bool recursive_read_only = false;        // the pod's runtime handler can do it

  friend bool operator==(const StatusNode&, const StatusNode&) = default;
};

struct StatusInput {
  // Its status is what the API server has; of a static pod, what its mirror has.
  const kube::core::Pod& pod;
  const PodPlan& plan;  // of that pod
  // The status that was made last; null: none since the agent began.
  const kube::core::PodStatus* before = nullptr;
  const ObservedPod& seen;  // SeenPod()
  const std::vector<ContainerWaiting>& waiting;
  const std::vector<ProbedContainer>& probes;
  const StatusNode& node;
  // Somebody ended the pod: reason, message and perhaps phase.
  std::optional<Ending> ending = {};
  // It was ended for the node's sake: what the condition DisruptionTarget says.
  std::string disruption = {};
  // Nothing is started any more, whatever the restart policy says.
  bool ends = false;
  // Nothing is left of the pod on this node; it must be in a terminal phase now.
  Finished finished = Finished::kNo;
  WallTime now = {};
};

// kBug: a container that ended for good would be shown as not ended, which must not be told to
// anybody.
Result<kube::core::PodStatus> BuildPodStatus(const StatusInput& input);

}  // namespace denselet::sync
