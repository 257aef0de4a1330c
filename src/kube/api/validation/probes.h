// Probes and lifecycle hooks of a container.
#pragma once

#include "kube/api/validation/pod_parts.h"

namespace denselet::kube {

// Lifecycle, liveness, readiness, startup: what a container that keeps running may have.
void ValidateProbesAndHooks(const core::Container& container, const core::PodSpec& spec,
                            const FieldPath& path, FaultList& out);

}  // namespace denselet::kube
