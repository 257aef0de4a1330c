// Volumes of a pod.
#pragma once

#include "kube/api/validation/pod_parts.h"

namespace denselet::kube {

// Puts those without a fault into parts.volumes.
void ValidateVolumes(PodParts& parts, const FieldPath& path, FaultList& out);

}  // namespace denselet::kube
