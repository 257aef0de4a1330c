// What each phase of a pod's life does next. Internal to Decide.
#pragma once

#include "sync/decide/known_pod.h"

namespace denselet::sync {

// kNever: it has none, or its time does not run yet.
TimePoint ActiveDeadline(const DecideInput& input);

Action DecideSyncing(const DecideInput& input, const KnownPod& pod);
Action DecideTerminating(const DecideInput& input, const KnownPod& pod);
Action DecideTerminated(const DecideInput& input, const KnownPod& pod);
Action DecideFinished(const DecideInput& input, const KnownPod& pod);

}  // namespace denselet::sync
