// When a container is started again: after its end, and when it is resized.
#pragma once

#include "kube/api/validation/pod_parts.h"

namespace denselet::kube {

void ValidateRestartRules(const core::Container& container, const FieldPath& path, FaultList& out);
void RequireRestartPolicy(const FieldPath& path, FaultList& out);
void ValidateResizePolicy(const core::Container& container, const std::string& pod_restart_policy,
                          const FieldPath& path, FaultList& out);

}  // namespace denselet::kube
