// Files that a volume is made of: keys of ConfigMaps and Secrets, fields of the pod, tokens,
// certificates.
#pragma once

#include "kube/api/types.h"
#include "kube/api/validation/fault_list.h"

namespace denselet::kube {

void ValidateKeyToPath(const core::KeyToPath& item, const FieldPath& path, FaultList& out);
void ValidateDownwardApiFile(const core::DownwardAPIVolumeFile& file, const FieldPath& path,
                             FaultList& out);
void ValidateProjected(const core::ProjectedVolumeSource& source, const FieldPath& path,
                       FaultList& out);

}  // namespace denselet::kube
