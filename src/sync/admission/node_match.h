// May the pod be on this node at all, by what both say of each other: node selector and affinity,
// taints and tolerations. Pure functions.
#pragma once

#include "kube/api/fwd.h"
#include "sync/admission/node_view.h"

namespace denselet::sync {

// The node selector and the required node affinity. A term that cannot be understood matches no
// node; the others still count.
bool MatchesNodeAffinity(const kube::core::Pod& pod, const NodeView& node);

// Of taints that evict (NoExecute): those that only keep the scheduler away are not the node's to
// enforce. Comparisons of numbers in tolerations (an alpha feature) match nothing.
bool ToleratesNode(const kube::core::Pod& pod, const NodeView& node);

}  // namespace denselet::sync
