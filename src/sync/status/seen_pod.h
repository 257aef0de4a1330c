// What was last seen of each object of a pod: the observation of the whole pod, and over it what
// reads of single objects have shown since. Answers of calls that change something are not among
// it: a status tells what was seen, not what should have come of a call.
//
// A container that is made to follow one that has ended is left out until it is started, or could
// not be: between two calls of ours the pod is not told to wait for something new.
#pragma once

#include "sync/decide/ledger_view.h"
#include "sync/ports/observed_pod.h"

namespace denselet::sync {

ObservedPod SeenPod(const Observation& observation, const LedgerView& ledger);

}  // namespace denselet::sync
