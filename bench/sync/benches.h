// The parts of ./dev bench sync.
#pragma once

#include <string>

#include "bench/report.h"

namespace denselet::bench {

struct SyncPrograms {
  std::string denselet, cri_sim;
};

inline constexpr size_t kSyncPods = 1000;

// A thousand static pods with events: from zero to running, idle, memory, restart, churn.
void BenchEvented(const SyncPrograms& programs, Report& report);
// The same number on a runtime that has no events, and ten times as many: what lists cost.
void BenchRelisting(const SyncPrograms& programs, size_t pods, Report& report);
// From a container's end in the runtime to the patch that tells of it. Needs the control plane of
// control_plane.sh; without one it says so.
void BenchPatches(const SyncPrograms& programs, Report& report);
// The pure function alone.
void BenchDecide(Report& report);

}  // namespace denselet::bench
