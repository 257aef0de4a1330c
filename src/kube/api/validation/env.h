// The environment of a container, and where it comes from.
#pragma once

#include "kube/api/types.h"
#include "kube/api/validation/fault_list.h"

namespace denselet::kube {

void ValidateEnv(const core::Container& container, const FieldPath& path, FaultList& out);

// Files that variables are read from are in an emptyDir volume of the pod.
void ValidateEnvFileVolumes(const core::PodSpec& spec, const FieldPath& spec_path, FaultList& out);

}  // namespace denselet::kube
