// A node that was registered before, by an earlier run or by somebody else: what of it has to be
// put right before its status is reported.
//
// A pure function, on any thread.
#pragma once

#include "kube/api/fwd.h"

namespace denselet::node {

enum class ExtendedResources : bool { kKeep, kReset };

// Brings labels that every node has, the annotation of the attach-detach controller, huge pages and
// (on kReset) extended resources of `existing` to what `initial` says. True: something was wrong.
bool ReconcileNode(const kube::core::Node& initial, ExtendedResources extended,
                   kube::core::Node& existing);

}  // namespace denselet::node
