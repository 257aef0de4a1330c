// What is around the core in one run: the runtime, the sources of pods, the API server that takes
// the last word about a pod, and the agent itself, which dies and is started again. What happens in
// it is drawn elsewhere (disturbances.h); what must be true is looked at elsewhere (checks.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/core/core_agent.h"
#include "tests/sim/core/core_scenario.h"
#include "tests/sim/core/coverage.h"
#include "tests/sim/core/sim_pods.h"

namespace denselet::sim {

// Told of what the agent and the runtime do.
class CoreWatcher {
 public:
  virtual void OnRequest(const fakes::SentRequest& request) = 0;
  virtual void OnPodChanged(const sync::PodWorker& worker) = 0;
  virtual void OnPodGone(const PodUid& pod) = 0;
  virtual void OnAgentStarts() = 0;
  virtual void OnStatus(const sync::PodStatusUpdate& update) { static_cast<void>(update); }
  virtual void OnStatusForgotten(const PodUid& pod) { static_cast<void>(pod); }

 protected:
  ~CoreWatcher() = default;
};

// How long the agent is away, and when the sources speak to the next one.
struct AgentBreak {
  Duration down = {};
  Duration files_after = {};
  Duration api_after = {};
};
AgentBreak DrawBreak(Random& random);

class CoreWorld final : private CoreAgentUser {
 public:
  explicit CoreWorld(const CoreRun& run);
  ~CoreWorld();
  CoreWorld(const CoreWorld&) = delete;
  CoreWorld& operator=(const CoreWorld&) = delete;

  void set_watchers(std::vector<CoreWatcher*> watchers) { watchers_ = std::move(watchers); }
  const CoreRun& run() const { return run_; }
  World& world() { return world_; }
  TimePoint Now() { return world_.clock().Now(); }
  fakes::RuntimeModel& model() { return model_; }
  fakes::FakeRuntimeHost& host() { return host_; }
  PodLeaves& leaves() { return leaves_; }
  CoreAgentOptions& agent_options() { return agent_options_; }
  CoreAgent* agent() { return agent_.get(); }  // null while it is down
  const sync::PodWorker* Worker(const PodUid& pod) { return agent_ ? agent_->Find(pod) : nullptr; }

  std::map<PodUid, SimPod>& pods() { return pods_; }
  // There may be a reason to stop its containers or to make new ones.
  void Touch(const PodUid& pod) { touched_.insert(pod); }
  bool Touched(const PodUid& pod) const { return touched_.count(pod) != 0; }

  void StartAgent(const AgentBreak& after);
  void KillAgent(const AgentBreak& away);
  // It dies in the middle of what it is doing, with its n-th call from now.
  void KillAgentAtCall(uint32_t calls, const AgentBreak& away);
  // Whenever the agent begins a container of this pod it dies of a fault of its own, and leaves a
  // line in its crash record; the next one reads that.
  void set_deadly(const PodUid& pod) { deadly_ = pod; }
  const std::optional<PodUid>& deadly() const { return deadly_; }
  // The API server cannot be reached for so long; then all there is comes as one list.
  void ApiOutage(Duration length);
  // The node says that it can run no pods, for so long.
  void NotReady(const sync::NodeFacts& node, Duration length);
  // The agent hears what its source has of this pod, or that it has it no more.
  void Tell(const SimPod& pod);
  void EvictNow(const SimPod& pod);
  // What the API server, probes and managers do by themselves, again and again from now on.
  void StartTicking();

  // One step of the world. False: nothing will ever happen any more.
  bool Step();

  CoreResult& result() { return result_; }
  void Problem(std::string what);
  void Note(const std::string& what) { world_.Note(what); }
  void Cover(SimEvent event, const PodUid& pod);
  void CoverAll(SimEvent event);

 private:
  void TellApi();
  void TellFiles();
  void Tick();
  void DieOf(const PodUid& pod);
  void NoteStart(SimPod& pod, const sync::PodWorker& worker);
  void Acknowledge(const PodUid& uid, SimPod& pod, const sync::PodWorker& worker);
  void Probe(const SimPod& pod);

  // CoreAgentUser
  void OnPodDecided(const sync::PodWorker& worker, const sync::Decision& decision) override;
  void OnPodChanged(uint32_t shard, const sync::PodWorker& worker) override;
  void OnPodGone(const sync::PodIdentity& pod) override;
  void OnPodFault(const sync::PodWorker& worker, const Error& error) override;
  void OnPodHeldBack(const sync::PodIdentity&) override {}
  void OnPlegMode(const sync::PlegModeChange& change) override;
  void OnStatus(const sync::PodStatusUpdate& update) override;
  void OnStatusArrived(const sync::PodStatusUpdate& update) override;
  void OnStatusForgotten(const PodUid& pod) override;
  void OnPodRejected(const kube::PodRef& pod, const sync::Rejection& rejection) override;

  class NullSink final : public LogSink {
   public:
    void Write(std::string_view, Severity) noexcept override {}
  };

  const CoreRun run_;
  World world_;
  NullSink sink_;
  LogVerbosity verbosity_;
  LogOutput output_{LogFormat{}, world_.clock(), verbosity_, sink_};
  Logger log_{output_};
  fakes::RuntimeModel model_;
  fakes::FakeRuntimeHost host_;
  PodLeaves leaves_;
  CoreAgentOptions agent_options_;
  std::vector<CoreWatcher*> watchers_;
  std::map<PodUid, SimPod> pods_;
  std::set<PodUid> touched_;
  AgentBreak at_call_;  // of KillAgentAtCall
  std::optional<PodUid> deadly_;
  uint32_t deadly_version_ = 0;  // that the present agent began with
  uint32_t outages_ = 0;
  uint32_t not_ready_ = 0;
  uint64_t agents_ = 0;  // ever started
  CoreResult result_;
  std::unique_ptr<CoreAgent> agent_;
};

}  // namespace denselet::sim
