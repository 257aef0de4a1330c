// Where a pod is in its life, as a value: kept by the pod worker, read by Decide.
//
//   kSyncing      made to run, kept running
//   kTerminating  nothing starts any more; containers stop, then the sandbox
//   kTerminated   nothing runs; volumes, directories and cgroup are released
//   kFinished     nothing is left to do but to remove what the runtime remembers
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "sync/decide/pod_plan.h"

namespace denselet::sync {

enum class Phase : uint8_t { kSyncing, kTerminating, kTerminated, kFinished };  // only moves right

enum class EndReason : uint8_t {
  kDeleted,      // the API server or the manifest's removal wants it
  kApiTerminal,  // the API server has it as Succeeded or Failed
  kKilled,       // evicted, preempted, node shutdown
  kDeadline,     // activeDeadlineSeconds
  kCompleted,    // its containers ended for good
  kOrphan,       // the runtime has it, nobody wants it
};

// Why the pod ends, and what its phase will be; nothing: what its containers say.
struct Ending {
  EndReason reason = EndReason::kCompleted;
  std::optional<PodOutcome> outcome = {};
  std::string status_reason = {};  // DeadlineExceeded, Evicted, ...
  std::string status_message = {};
  std::string disruption = {};  // for the node's sake: what the condition DisruptionTarget says
  friend bool operator==(const Ending&, const Ending&) = default;
};

// Nothing that outlives the agent says so: it is journalled before anything of the pod is stopped,
// and every agent after this one keeps to it.
inline bool IsForGood(const Ending& ending) {
  return ending.reason == EndReason::kKilled || ending.reason == EndReason::kDeadline;
}

struct PodState {
  Phase phase = Phase::kSyncing;
  // Somebody asked for the end: the pod is to enter kTerminating. Kept after that: why it ended.
  std::optional<Ending> ending = {};
  // Of kTerminating: as ShrinkGrace gave it, 1 or more. It never grows.
  int64_t grace_seconds = 0;
  // When the first stopping step of kTerminating was taken: the grace runs from there.
  std::optional<TimePoint> kill_began = {};
  // The first sandbox gets this number: of one that an earlier life of the pod asked for and that
  // may still turn up. The runtime then refuses to have both.
  uint32_t first_sandbox_attempt = 0;
  // status.startTime on our clock: what activeDeadlineSeconds counts from.
  std::optional<TimePoint> active_since = {};
};

// The grace of a terminating pod after a new wish: the shortest of what it was, what the API server
// set, and what the one who kills it asks for; the pod's own if nobody says; never below 1.
// `before` is 0 at first.
int64_t ShrinkGrace(int64_t before, const PodPlan& plan, std::optional<int64_t> asked_for);

}  // namespace denselet::sync
