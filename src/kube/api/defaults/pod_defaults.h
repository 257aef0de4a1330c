// What a pod's author left out, filled in as the API server does it. A static pod never meets the
// API server before it runs, and must mean the same here as there.
//
// A pure function, on any thread.
#pragma once

#include "kube/api/fwd.h"

namespace denselet::kube {

// Defaults of v1 with the feature gates of Kubernetes 1.36 at their own defaults, and what reading
// into the API server's internal type changes: an alias is copied (serviceAccount), a negative
// grace period becomes 1 s, annotations of long-gone init containers are dropped. Doing it again
// changes nothing.
void SetPodDefaults(core::Pod& pod);

}  // namespace denselet::kube
