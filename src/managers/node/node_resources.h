// Capacity and allocatable of a node: what there is, and what of it pods may have.
//
// Pure functions, on any thread.
#pragma once

#include <string_view>

#include "kube/api/fwd.h"
#include "managers/node/machine_facts.h"
#include "managers/node/node_config.h"
#include "managers/node/node_inputs.h"

namespace denselet::node {

// cpu, memory, huge pages of each size, and ephemeral storage where it is known and counted.
ResourceList MachineCapacity(const NodeConfig& config, const MachineFacts& facts);

// For system, agent and eviction, of what the machine has.
ResourceList Reservation(const NodeConfig& config, const ResourceList& capacity);

// Resources that somebody else put into the status stay, and are all allocatable.
void SetResources(const NodeConfig& config, const MachineFacts& facts, const DeviceInput& devices,
                  kube::core::NodeStatus& status);

bool IsHugePageResource(std::string_view name);
// "vendor.com/gpu": neither Kubernetes' own nor a quota's.
bool IsExtendedResource(std::string_view name);

}  // namespace denselet::node
