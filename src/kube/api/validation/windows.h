// Which operating system a pod is for, and what that forbids.
#pragma once

#include "kube/api/validation/pod_parts.h"

namespace denselet::kube {

void ValidateOs(const core::PodSpec& spec, const FieldPath& spec_path, FaultList& out);
void ValidateHostProcess(const core::PodSpec& spec, const FieldPath& spec_path, FaultList& out);
void ValidateWindowsOptions(const core::WindowsSecurityContextOptions& options,
                            const FieldPath& path, FaultList& out);

}  // namespace denselet::kube
