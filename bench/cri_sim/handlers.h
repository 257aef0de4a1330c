// The handlers of calls, by subject. Each registers what it answers; `world` outlives the table.
#pragma once

#include "bench/cri_sim/method_table.h"
#include "bench/cri_sim/world.h"

namespace denselet::cri_sim {

void AddNodeCalls(World& world, MethodTable& table);       // version, status, configuration
void AddSandboxCalls(World& world, MethodTable& table);    // run, stop, remove, status
void AddContainerCalls(World& world, MethodTable& table);  // create to remove, status, logs
void AddExecCalls(World& world, MethodTable& table);       // exec, attach, port-forward
void AddListCalls(World& world, MethodTable& table);       // lists, unary and streamed
void AddStatsCalls(World& world, MethodTable& table);      // statistics and metrics
void AddImageCalls(World& world, MethodTable& table);

}  // namespace denselet::cri_sim
