// What must be true of every status that the agent hands on.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "kube/api/fwd.h"
#include "tests/sim/core/core_world.h"

namespace denselet::sim {

class StatusChecks final : public CoreWatcher {
 public:
  explicit StatusChecks(CoreWorld& core) : core_(core) {}

  // What the newest statuses tell and is not so; empty: nothing. In the end.
  std::string NotTrue();

  // CoreWatcher
  void OnRequest(const fakes::SentRequest&) override {}
  void OnPodChanged(const sync::PodWorker&) override {}
  void OnPodGone(const PodUid&) override {}
  void OnStatusForgotten(const PodUid& pod) override { told_.erase(pod); }
  void OnAgentStarts() override { told_.clear(); }
  void OnStatus(const sync::PodStatusUpdate& update) override;

 private:
  struct Told {
    uint64_t version = 0;
    std::shared_ptr<const kube::core::PodStatus> status = {};
    bool quiet = false;  // nothing of it may run
    std::string mirror = {};
  };

  bool RunsInTheRuntime(const PodUid& pod);
  void CheckBack(const PodUid& pod, const Told& before, const kube::core::PodStatus& now);

  CoreWorld& core_;
  std::map<PodUid, Told> told_;  // by the present agent
};

}  // namespace denselet::sim
