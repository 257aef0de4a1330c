// The status of a node, made of what was seen and configured. It is written over the status that
// the server has, so that what others put there stays.
//
// Pure functions, on any thread.
#pragma once

#include "kube/api/fwd.h"
#include "managers/node/machine_facts.h"
#include "managers/node/network_facts.h"
#include "managers/node/node_conditions.h"
#include "managers/node/node_config.h"
#include "managers/node/node_inputs.h"
#include "managers/node/node_notes.h"

namespace denselet::node {

struct HostFacts {
  MachineFacts machine = {};
  NetworkFacts network = {};
};

// All that a status is made of, at one moment.
struct StatusParts {
  const NodeConfig& config;
  const HostFacts& facts;
  const NodeInputs& inputs;
  Moment moment;
};

// Parts that cannot be set stay as they were, and are noted.
void SetStatus(const StatusParts& parts, kube::core::Node& node, NodeMemory& memory,
               NodeNotes& notes);

// Does it differ, apart from the time of the heartbeat?
bool StatusDiffers(const kube::core::NodeStatus& a, const kube::core::NodeStatus& b);

}  // namespace denselet::node
