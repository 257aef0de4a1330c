// Ports of containers, and on the node.
#pragma once

#include <set>
#include <string>

#include "kube/api/validation/pod_parts.h"

namespace denselet::kube {

void ValidatePorts(const core::Container& container, const FieldPath& path, FaultList& out);

// "TCP/10.0.0.1/80"
using HostPorts = std::set<std::string>;
void ValidateHostPorts(const core::Container& container, const FieldPath& container_path,
                       HostPorts& taken, FaultList& out);

// In the node's own network a port is the same on both sides.
void ValidateHostNetworkPorts(const core::PodSpec& spec, const FieldPath& spec_path,
                              FaultList& out);

}  // namespace denselet::kube
