// Containers of a pod: regular, init (with sidecars among them), ephemeral.
#pragma once

#include "kube/api/validation/pod_parts.h"

namespace denselet::kube {

void ValidateContainers(const PodParts& parts, const FieldPath& spec_path, FaultList& out);

// Images as pods name them; templates of pods are not as strict.
void ValidateImages(const core::PodSpec& spec, const FieldPath& spec_path, FaultList& out);

void ValidatePullPolicy(const std::string& policy, const FieldPath& path, FaultList& out);

}  // namespace denselet::kube
