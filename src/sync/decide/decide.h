// The rules by which a pod is made what it should be: pure, no clock, no I/O, no state of its own.
// Everything a pod worker does, it does because this function said so.
//
// The rules are the kubelet's (computePodActions and its helpers, the pod workers' phases), decided
// one call at a time: after each answer it is asked again with what is known then, so a newer wish,
// a deletion or a death in between is taken into account at every step.
#pragma once

#include <string_view>
#include <vector>

#include "base/time.h"
#include "sync/decide/decision.h"
#include "sync/decide/ledger_view.h"
#include "sync/decide/pod_facts.h"
#include "sync/decide/pod_memory.h"
#include "sync/decide/pod_plan.h"
#include "sync/decide/pod_state.h"

namespace denselet::sync {

struct DecideInput {
  const PodPlan& plan;
  const PodState& state;
  Observation observation;
  const LedgerView& ledger;
  const PodFacts& facts;
  const PodMemory& memory;
  const NodeFacts& node;
  TimePoint now;
  WallTime wall_now = {};  // for the age of what the runtime dates
};

Decision Decide(const DecideInput& input);

// For the status: one entry for each container that waits to be started (again) and has something
// to say about it, in the plan's order.
std::vector<ContainerWaiting> WaitingReasons(const DecideInput& input);

// What the runtime said, without "rpc error: code = ... desc = ": so it is told of containers.
std::string_view WithoutRpcCode(std::string_view message);

}  // namespace denselet::sync
