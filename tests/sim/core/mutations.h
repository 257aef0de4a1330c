// The deliberate faults of the core: each breaks one invariant of the design, and the simulator has
// to notice each. One build; a run names the fault it is to have.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "tests/sim/core/core_agent.h"

namespace denselet::sim {

struct Mutation {
  std::string_view name;
  int invariant;  // of the fourteen; 0: of the pod's life
  void (*put)(CoreAgent& agent);
};

std::span<const Mutation> Mutations();
const Mutation* FindMutation(std::string_view name);

}  // namespace denselet::sim
