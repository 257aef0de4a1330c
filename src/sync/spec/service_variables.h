// What a container's environment says of services: their address and ports, as upstream and, before
// it, Docker's links have it.
#pragma once

#include <string>

#include "sync/ports/pod_objects.h"
#include "sync/ports/runtime_spec.h"

namespace denselet::sync {

enum class ServiceLinks : bool { kMastersOnly, kAll };

// Sorted by name. default/kubernetes always; those of the pod's namespace if it wants links.
KeyValues ServiceVariables(const ServiceSet& services, const std::string& ns, ServiceLinks links);

}  // namespace denselet::sync
