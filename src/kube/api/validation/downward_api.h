// References of environment variables and files to fields of the pod and to resources of its
// containers.
#pragma once

#include "kube/api/types.h"
#include "kube/api/validation/fault_list.h"

namespace denselet::kube {

// `supported`: the fields that may be referred to, sorted.
void ValidateFieldRef(const core::ObjectFieldSelector& ref, Words supported, const FieldPath& path,
                      FaultList& out);

enum class ContainerName : uint8_t { kOptional, kRequired };
void ValidateResourceFieldRef(const core::ResourceFieldSelector& ref, ContainerName container_name,
                              const FieldPath& path, FaultList& out);

}  // namespace denselet::kube
