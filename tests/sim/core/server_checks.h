// What must be true of what the API server shows: at every change that the agent makes there, and
// in the end. Lives of the agent make no difference to it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kube/api/fwd.h"
#include "tests/sim/core/core_world.h"

namespace denselet::sim {

class ServerChecks final : public CoreWatcher {
 public:
  explicit ServerChecks(CoreWorld& core) : core_(core) {}

  // What the server shows and is not so, or should show and does not; empty: nothing. In the end.
  std::string NotTrue();

  // CoreWatcher
  void OnRequest(const fakes::SentRequest&) override {}
  void OnPodChanged(const sync::PodWorker& worker) override;
  void OnPodGone(const PodUid& pod) override { removed_.insert(pod); }
  // Comes after all that was told of the life that is over, unlike the word that the pod is gone.
  void OnStatusForgotten(const PodUid& pod) override {
    ended_.insert(pod);
    removed_.erase(pod);
  }
  // The next agent knows nothing of an end that the one before had begun.
  void OnAgentStarts() override { ended_.merge(removed_); }
  void OnMissedByAgent(const PodUid& pod) override { ended_.insert(pod); }
  void OnStatus(const sync::PodStatusUpdate& update) override;
  void OnServerChange(const ServerChange& change) override;

 private:
  // The mirror shows the same life of its pod as before.
  bool IsSameLife(const kube::core::Pod& pod);
  void Problem(const kube::core::Pod& pod, const std::string& what);
  void CheckStatus(const kube::core::Pod& before, const kube::core::Pod& after);
  void NoteEnd(const ServerChange& change);
  void CheckContainers(const kube::core::Pod& before, const kube::core::Pod& after);
  void CheckForeign(const kube::core::Pod& before, const kube::core::Pod& after);
  void CheckReadiness(const kube::core::Pod& before, const kube::core::Pod& after);
  void NoteGate(const kube::core::Pod& pod);
  void CheckGate(const kube::core::Pod& pod);
  void CheckMirror(const kube::core::Pod& made);
  void CheckDeletion(const kube::core::Pod& before);
  std::string NotShown(const kube::core::Pod& pod, const PodUid& runs_as);
  std::string NotMirrored();

  CoreWorld& core_;
  struct Gate {
    bool is_open = false;
    TimePoint since = {};
  };
  std::map<std::string, Gate> gates_;   // of those that are gated, by uid
  std::map<PodUid, std::string> last_;  // statuses that were told to be the last
  // A static pod that comes back under its uid may find its mirror still there, and begins anew.
  std::set<PodUid> ended_;                           // nothing was told of its next life yet
  std::set<PodUid> removed_;                         // that ends because nobody wishes it any more
  std::map<PodUid, uint32_t> lives_;                 // that ended, and of whose next one was told
  std::map<std::string, uint32_t> shown_life_;       // by the uid of the mirror
  std::map<std::string, uint32_t> ended_life_;       // whose end the mirror shows, by its uid
  std::map<PodUid, std::vector<std::string>> told_;  // statuses, in a life that is not the first
};

}  // namespace denselet::sim
