// Names and addresses as the pod sees them: DNS, host names, aliases.
#pragma once

#include "kube/api/validation/pod_parts.h"

namespace denselet::kube {

void ValidateDnsPolicy(const core::PodSpec& spec, const FieldPath& path, FaultList& out);
void ValidateDnsConfig(const core::PodSpec& spec, const FieldPath& path, FaultList& out);
void ValidateHostnameOverride(const core::PodSpec& spec, const FieldPath& spec_path,
                              FaultList& out);
void ValidateHostAliases(const core::PodSpec& spec, const FieldPath& path, FaultList& out);

}  // namespace denselet::kube
