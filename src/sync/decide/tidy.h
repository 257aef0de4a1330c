// What may go of a pod that is still wished: dead containers beyond those that are kept for its
// status and its logs, and dead sandboxes that none of them is in.
//
// Kept are of each name the newest dead containers, as many as the node's policy says and at least
// one: what a status tells of the last end and of restarts comes from it. Of sandboxes the newest
// is kept, whatever became of it. What a call is under way for is left alone until its answer has
// come.
#pragma once

#include <vector>

#include "sync/decide/known_pod.h"
#include "sync/decide/steps.h"

namespace denselet::sync {

struct Surplus {
  std::vector<const KnownContainer*> containers = {};
  std::vector<const KnownSandbox*> sandboxes = {};
  TimePoint look_at = kNever;  // when the next container is old enough to go
};

Surplus FindSurplus(const DecideInput& input, const KnownPod& pod);

enum class TidyWhat : uint8_t { kContainers, kAll };
// The next step to get rid of it; nothing: there is none, or it is waited for.
MaybeAction Tidy(const DecideInput& input, const KnownPod& pod, TidyWhat what, Steps& steps);

}  // namespace denselet::sync
