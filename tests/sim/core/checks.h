// What must be true: at every request that the agent sends, at every turn, and in the end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tests/sim/core/core_world.h"

namespace denselet::sim {

class Checks final : public CoreWatcher {
 public:
  explicit Checks(CoreWorld& core) : core_(core) {}

  // After each step of the world.
  void CheckTurn();
  // What is not yet as it should be in the end; empty: nothing.
  std::string NotConverged();
  // Of every pod the containers that run, as far as that is decided by the story.
  std::map<std::string, std::string> EndState();
  // Of pods to which nothing happened: their phase at the API server, and their sandboxes.
  std::map<std::string, std::string> UntouchedState();

  // CoreWatcher
  void OnRequest(const fakes::SentRequest& request) override;
  void OnPodChanged(const sync::PodWorker& worker) override;
  void OnPodGone(const PodUid& pod) override;
  void OnAgentDies() override;
  void OnAgentStarts() override {
    lives_.clear();
    gone_.clear();
    missed_ = 0;
    period_ = {};
    refused_ = 0;
    refused_at_.reset();
  }

 private:
  struct Life {  // of one worker
    uint64_t generation = 0;
    sync::Phase phase = sync::Phase::kSyncing;
    int64_t grace = 0;
    TimePoint ends_since = kNever;
  };

  void CheckStart(const fakes::SentRequest& request, const std::string& what);
  void CheckReason(const fakes::SentRequest& request, const SimPod& pod, const std::string& what);
  void CheckSandbox(const fakes::SentRequest& request, const SimPod& pod, const std::string& what);
  bool IsAtRest(const SimPod& pod);
  void CheckQueues(CoreAgent& agent);
  void CheckRemoval(const fakes::SentRequest& request, const SimPod& pod, const std::string& what);
  void CheckKept(const fakes::SentRequest& request, const SimPod& pod, const std::string& what);
  std::string NotConverged(const PodUid& uid, const SimPod& pod);
  std::string TooManyDead(const SimPod& pod, const sync::ObservedPod& there, int64_t most);
  std::string TooManyDead();
  void CheckPleg(sync::Pleg& pleg);
  void CheckLists(CoreAgent& agent);
  void CheckGhosts(CoreAgent& agent);
  std::string NotRunning(const SimPod& pod, const sync::ObservedPod& there);

  CoreWorld& core_;
  std::map<PodUid, Life> lives_;
  std::map<PodUid, TimePoint> asked_at_;  // when something about it was last asked for
  struct Gone {
    sync::Epoch epoch;
    TimePoint at;
  };
  std::map<PodUid, Gone> gone_;  // pods that ended lately; of the present agent
  uint64_t missed_ = 0;          // events, of the present agent
  Duration period_ = {};
  uint64_t refused_ = 0;                 // hints and lists, by the shards
  std::optional<TimePoint> refused_at_;  // when that last grew
};

}  // namespace denselet::sim
