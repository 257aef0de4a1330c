// What is wrong with a static pod, before it is run: there is no API server between its author and
// the node that would say so.
//
// A pure function, on any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/api/fault.h"
#include "kube/api/fwd.h"

namespace denselet::kube {

// Expects a pod with its defaults (SetPodDefaults) and a namespace. All faults at once, in the
// order and the words of Kubernetes 1.36 with its feature gates at their defaults; maps are walked
// sorted, where upstream has no order. A pod that is fine by itself must not refer to objects of
// the API server either: that is one fault without a path.
std::vector<Fault> ValidateStaticPod(const core::Pod& pod);

// Why, if it refers to one: "static pods may not reference secrets".
std::optional<std::string> RefuseApiReferences(const core::Pod& pod);

}  // namespace denselet::kube
