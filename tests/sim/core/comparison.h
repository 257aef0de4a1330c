// What two runs of one seed must have in common, the one with events and the one without.
#pragma once

#include <string>
#include <vector>

#include "tests/sim/core/core_scenario.h"

namespace denselet::sim {

// Pods that do not end in the same state; one that only one of the runs had must be gone.
std::vector<std::string> DifferentEnds(const CoreResult& evented, const CoreResult& relisted);

// Pods that were treated otherwise: another order of creates, starts and stops, or other terminal
// states. An order is what Decide gives one: of a container's own steps, and of these to those of
// the sandbox, of init containers and of sidecars. Containers that run side by side have none among
// them, and an ephemeral one has none but with the sandbox. Where a pod has no grace, sidecars do
// not wait for their turn to stop.
std::vector<std::string> DifferentWays(const CoreResult& evented, const CoreResult& relisted);

// Of a pod's history what is in order with this container; an empty name: with all of them.
std::vector<std::string> InOrderWith(const std::string& container,
                                     const std::vector<std::string>& history);

}  // namespace denselet::sim
