// What we ask the runtime for when a container is created: docs/compat/state.md sections 6, 8, 9.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/api/fwd.h"
#include "sync/ports/runtime_spec.h"
#include "sync/spec/node_facts.h"

namespace denselet::sync {

// `container` is one of the pod's, an ephemeral one in the form of a container.
Result<ContainerSpec> MakeContainerSpec(const kube::core::Pod& pod,
                                        const kube::core::Container& container,
                                        const SpecNode& node, const SpecPod& pod_facts,
                                        const SpecContainer& facts);

}  // namespace denselet::sync
