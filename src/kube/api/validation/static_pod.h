// What is wrong with a static pod, before it is run: there is no API server between its author and
// the node that would say so.
//
// Known differences, in what a message cannot hold or Go prints in its own way: a list or map that
// is written out and empty counts as absent (upstream refuses spec.resources.claims: [],
// supplementalGroups: [] on Windows, and finalizers: [] in a volumeClaimTemplate), characters that
// cannot be printed stand as they are in "Invalid value" (U+2028), and an annotation of tolerations
// that is no JSON is refused in our words.
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
