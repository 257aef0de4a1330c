// Claims that are made for a pod's ephemeral volumes.
#pragma once

#include "kube/api/types.h"
#include "kube/api/validation/fault_list.h"

namespace denselet::kube {

void ValidateClaimTemplate(const core::PersistentVolumeClaimTemplate& claim, const FieldPath& path,
                           FaultList& out);

}  // namespace denselet::kube
