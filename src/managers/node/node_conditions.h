// The node's conditions, in the order and with the words that the kubelet has.
//
// Pure functions, on any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kube/api/fwd.h"
#include "managers/node/node_inputs.h"
#include "managers/node/node_notes.h"

namespace k8s::io::api::core::v1 {
class NodeCondition;
}

namespace denselet::node {

// Both readings of one moment.
struct Moment {
  TimePoint now;
  WallTime wall;
};

// A runtime that was not ready for this long is down.
inline constexpr Duration kRuntimeSyncAgeMax = Seconds(30);

// MemoryPressure, DiskPressure, PIDPressure and, last, Ready. Capacity must have been set.
void SetConditions(const NodeConfig& config, const NodeInputs& inputs, const Moment& moment,
                   kube::core::NodeStatus& status, NodeNotes& notes);

// As Go prints several errors: the only one as it is, several in brackets, none of them twice.
std::string JoinErrors(const std::vector<std::string>& errors);

// Null: there is none of the type.
const kube::core::NodeCondition* FindCondition(const kube::core::NodeStatus& status,
                                               std::string_view type);
bool IsReady(const kube::core::NodeStatus& status);

// Apart from the time of the heartbeat, and whatever their order.
bool ConditionsDiffer(const kube::core::NodeStatus& a, const kube::core::NodeStatus& b);

}  // namespace denselet::node
