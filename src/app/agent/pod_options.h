// What the configuration and the machine say about running pods, for the parts that do.
//
// Pure functions, on any thread.
#pragma once

#include "app/agent/pod_side.h"
#include "app/config/effective.h"
#include "managers/node/machine_facts.h"
#include "sync/ports/source_set.h"

namespace denselet::app {

PodSideOptions MakePodOptions(const EffectiveConfig& effective, const std::string& root_folder,
                              sync::SourceSet sources);

// Adds what only the machine knows. kInvalid: a sysctl is allowed that would be the node's.
Status AddMachine(const node::MachineFacts& machine, PodSideOptions& options);

}  // namespace denselet::app
