// Users, capabilities, profiles and namespaces, from the pod's and the container's security
// contexts.
#pragma once

#include "base/result.h"
#include "kube/api/fwd.h"
#include "sync/ports/runtime_spec.h"
#include "sync/spec/node_facts.h"

namespace denselet::sync {

NamespaceSpec NamespacesOf(const kube::core::Pod& pod, const SpecPod& facts);

// Fills in the security part of a container. kInvalid: a profile without its name, a policy that is
// unknown, or an image that would run as root where the pod forbids it.
Status ApplySecurity(const kube::core::Pod& pod, const kube::core::Container& container,
                     const SpecNode& node, const SpecPod& pod_facts, const SpecContainer& facts,
                     ContainerSpec& spec);
// The same of a sandbox.
Status ApplySecurity(const kube::core::Pod& pod, const SpecPod& facts, SandboxSpec& spec);

}  // namespace denselet::sync
