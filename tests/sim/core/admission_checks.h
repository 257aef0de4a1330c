// What must be true of who may run: nothing of the node is given out twice, nobody is rejected for
// pods that the API server did not have any more, and what was decided about a pod, that it may run
// or that it ends for good, is never decided again, whatever becomes of the agent.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tests/sim/core/core_world.h"

namespace denselet::sim {

class AdmissionChecks final : public CoreWatcher {
 public:
  explicit AdmissionChecks(CoreWorld& core) : core_(core) {}

  // After each step of the world.
  void CheckTurn();

  // CoreWatcher
  void OnRequest(const fakes::SentRequest& request) override;
  void OnPodChanged(const sync::PodWorker& worker) override;
  void OnPodGone(const PodUid& pod) override;
  void OnAgentStarts() override;
  void OnPodRejected(const PodUid& pod, const sync::Rejection& rejection) override;
  void OnServerChange(const ServerChange& change) override;

 private:
  bool Runs(const PodUid& pod);
  bool Lives(const PodUid& pod);
  void NotePreemption(const PodUid& uid);
  bool WasWaitedFor(const SimPod& victim) const;
  void CheckDecision(const SimPod& pod, const std::string& what);
  void CheckStop(const SimPod& pod, const std::string& what);
  void NoteNewLife(SimPod& pod, bool has_nothing);
  void CheckRoom(const SimPod& pod, const std::string& what);
  void CheckRejection(const SimPod& pod, const sync::Rejection& rejection);
  bool WasThereWith(const SimPod& pod, const SimPod& other) const;

  CoreWorld& core_;
  // Of the API server; one of a file that comes back is another one.
  std::set<PodUid> begun_;
  std::set<PodUid> rejected_;
  std::set<PodUid> ended_;  // for good: the journal has it, and something of it was stopped
  std::map<PodUid, TimePoint> ends_since_;  // of the present agent
  std::map<PodUid, TimePoint> preempted_at_;
  std::set<PodUid> through_;  // of those that were dropped: the life that they had then is over
  uint64_t server_changes_ = 0;
  std::map<PodUid, uint64_t> came_, went_;  // with which change of the API server
};

}  // namespace denselet::sim
