// What becomes of a v1 Pod when Kubernetes converts it to its internal form, beyond fields that
// move.
#pragma once

#include "kube/api/fwd.h"

namespace denselet::kube {

// The pod stays a v1 Pod, with the values that its internal form has.
void ApplyInternalConversion(core::Pod& pod);

}  // namespace denselet::kube
