// Requests, limits and claims of containers and of the pod as a whole.
#pragma once

#include "kube/api/defaults/resource_defaults.h"
#include "kube/api/validation/pod_parts.h"

namespace denselet::kube {

void ValidateContainerResources(const core::ResourceRequirements& resources, const PodParts& parts,
                                const FieldPath& path, FaultList& out);
void ValidatePodResources(const PodParts& parts, const FieldPath& spec_path, FaultList& out);
void ValidateOverhead(const ResourceMap& overhead, const FieldPath& path, FaultList& out);
void ValidateResourceClaims(const PodParts& parts, const FieldPath& path, FaultList& out);

// Neither negative nor a fraction of what comes in whole pieces.
void ValidateResourceValue(const std::string& name, const std::string& text, const FieldPath& path,
                           FaultList& out);

}  // namespace denselet::kube
