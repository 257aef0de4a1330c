// The way of a pod's status from the shard that makes it to the API server, and of the word that it
// has arrived back: what the status tells (exit codes, addresses) must not be forgotten before that
// (invariant 14).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "kube/api/pod/pod_at_rest.h"

namespace denselet::sync {

// While containers of a pod may run, others must not hear that it has ended: they would give away
// what it holds.
enum class MayRun : bool { kNo, kYes };

// A pod that is finished has nothing left on this node; if it is deleted, its object may go.
enum class Finished : bool { kNo, kYes };

struct PodStatusUpdate {
  kube::PodRef pod = {};    // what the status was made from
  std::string status = {};  // bytes of a core.v1.PodStatus
  uint64_t version = 0;     // of this pod's statuses: each has a greater one than those before
  MayRun may_run = MayRun::kYes;
  Finished finished = Finished::kNo;
  // Of a static pod: the uid of the mirror from whose status this one goes on; empty: of none. Over
  // the status of another mirror, which an agent before this one wrote, it would be a step back.
  std::string mirror = {};
};

// Where statuses go. The newest of a pod counts; those before may never be sent.
class PodStatusSink {
 public:
  virtual void SetStatus(PodStatusUpdate update) = 0;
  // The pod has left this node: nothing is sent for it any more.
  virtual void Forget(const PodUid& pod) = 0;

 protected:
  ~PodStatusSink() = default;
};

// Who is told. Never inside a call to the sink.
class PodStatusUser {
 public:
  // The API server has this status or a newer one, or has no object that could carry it: the pod is
  // gone there, or it is a static pod without a mirror.
  virtual void OnStatusSettled(const PodUid& pod, uint64_t version) = 0;

 protected:
  ~PodStatusUser() = default;
};

// The conditions of a pod that a node agent owns; others are whose they are and stay as they are.
// DisruptionTarget is shared: it is set here and there.
inline constexpr std::string_view kOwnConditions[] = {
    "PodScheduled",
    "Ready",
    "Initialized",
    "ContainersReady",
    "PodResizePending",
    "PodResizeInProgress",
    "PodReadyToStartContainers",
    "AllContainersRestarting",
};
inline constexpr std::string_view kDisruptionTarget = "DisruptionTarget";

constexpr bool IsOwnCondition(std::string_view type) {
  for (const std::string_view own : kOwnConditions) {
    if (own == type) return true;
  }
  return false;
}

constexpr bool IsTerminalPhase(std::string_view phase) {
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace denselet::sync
