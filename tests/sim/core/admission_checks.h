// What must be true of who may run: nothing of the node is given out twice, and what was decided
// about a pod is never decided again, whatever becomes of the agent.
#pragma once

#include <set>
#include <string>

#include "tests/sim/core/core_world.h"

namespace denselet::sim {

class AdmissionChecks final : public CoreWatcher {
 public:
  explicit AdmissionChecks(CoreWorld& core) : core_(core) {}

  // CoreWatcher
  void OnRequest(const fakes::SentRequest& request) override;
  void OnPodChanged(const sync::PodWorker&) override {}
  void OnPodGone(const PodUid&) override {}
  void OnAgentStarts() override {}
  void OnPodRejected(const PodUid& pod) override;

 private:
  bool Runs(const PodUid& pod);
  void CheckDecision(const SimPod& pod, const std::string& what);
  void CheckRoom(SimPod& pod, const std::string& what);

  CoreWorld& core_;
  // Of the API server; one of a file that comes back is another one.
  std::set<PodUid> begun_;
  std::set<PodUid> rejected_;
};

}  // namespace denselet::sim
