// Under which addresses the node is known.
//
// A pure function, on any thread.
#pragma once

#include "base/result.h"
#include "kube/api/fwd.h"
#include "managers/node/network_facts.h"
#include "managers/node/node_config.h"

namespace denselet::node {

// Is the name service's answer needed at all?
bool NeedsNameService(const NodeFlags& flags);

// Sets the addresses, and the annotation that tells an external cloud provider of them. Given by
// flag they must be addresses of this machine. Otherwise the first of: the host name, if it is an
// address; what the name service says of the node's name; the address of the default route. When
// none is found, or a given one is wrong, the addresses stay as they were.
Status SetAddresses(const NodeFlags& flags, const NetworkFacts& network, kube::core::Node& node);

}  // namespace denselet::node
