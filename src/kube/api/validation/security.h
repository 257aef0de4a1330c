// Security contexts of the pod and of its containers, and the annotations that were there before.
#pragma once

#include "kube/api/validation/pod_parts.h"

namespace denselet::kube {

void ValidatePodSecurityContext(const core::PodSpec& spec, const FieldPath& path, FaultList& out);
void ValidateSecurityContext(const core::Container& container, const PodParts& parts,
                             const FieldPath& path, FaultList& out);

// The annotations by themselves, then that they say the same as the fields.
void ValidateSecurityAnnotations(const core::Pod& pod, const FieldPath& path, FaultList& out);
void ValidateSecurityAnnotationsMatch(const core::Pod& pod, const FieldPath& spec_path,
                                      FaultList& out);

// User namespaces.
void ValidateHostUsers(const PodParts& parts, const FieldPath& spec_path, FaultList& out);

}  // namespace denselet::kube
