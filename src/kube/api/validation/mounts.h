// Volumes within a container: as folders and as devices.
#pragma once

#include "kube/api/validation/pod_parts.h"

namespace denselet::kube {

void ValidateVolumeMounts(const core::Container& container, const PodParts& parts,
                          const FieldPath& path, FaultList& out);
void ValidateVolumeDevices(const core::Container& container, const PodParts& parts,
                           const FieldPath& path, FaultList& out);

}  // namespace denselet::kube
