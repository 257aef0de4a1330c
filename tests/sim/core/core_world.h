// What is around the core in one run: the runtime, the files with pods, the API server, and the
// agent itself, which dies and is started again. What happens in
// it is drawn elsewhere (disturbances.h); what must be true is looked at elsewhere (checks.h).
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/core/api_side.h"
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
  virtual void OnAgentDies() {}  // it is still there
  // Its file is away, and the agent had not heard of it: what comes back begins anew.
  virtual void OnMissedByAgent(const PodUid& pod) { static_cast<void>(pod); }
  // It waits for something else than before.
  virtual void OnPodRests(const PodUid& pod, const SimPlace& place) {
    static_cast<void>(pod);
    static_cast<void>(place);
  }
  virtual void OnStatus(const sync::PodStatusUpdate& update) { static_cast<void>(update); }
  virtual void OnStatusForgotten(const PodUid& pod) { static_cast<void>(pod); }
  virtual void OnServerChange(const ServerChange& change) { static_cast<void>(change); }
  virtual void OnPodRejected(const PodUid&, const sync::Rejection&) {}

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
  ApiSide& api() { return api_; }
  CoreAgentOptions& agent_options() { return agent_options_; }
  CoreAgent* agent() { return agent_.get(); }  // null while it is down
  const sync::PodWorker* Worker(const PodUid& pod) { return agent_ ? agent_->Find(pod) : nullptr; }

  std::map<PodUid, SimPod>& pods() { return pods_; }
  // There may be a reason to stop its containers or to make new ones.
  void Touch(const PodUid& pod) { touched_[pod] = Now(); }
  bool Touched(const PodUid& pod) const { return touched_.contains(pod); }
  // Nothing was done to it for so long, though something was once.
  bool IsForgotten(const PodUid& pod, Duration length) {
    const auto touched = touched_.find(pod);
    return touched != touched_.end() && Now() > touched->second + length;
  }
  // What was done to it has come to rest.
  void Untouch(const PodUid& pod) { touched_.erase(pod); }

  void StartAgent(const AgentBreak& after);
  void KillAgent(const AgentBreak& away);
  // It dies in the middle of what it is doing, with its n-th call from now.
  void KillAgentAtCall(uint32_t calls, const AgentBreak& away);
  // Whenever the agent begins a container of this pod it dies of a fault of its own, and leaves a
  // line in its crash record; the next one reads that.
  void set_deadly(const PodUid& pod) { deadly_ = pod; }
  const std::optional<PodUid>& deadly() const { return deadly_; }
  // The API server cannot be reached for so long; it may have forgotten by then what was before.
  void ApiOutage(Duration length, bool forgets);
  // The node says that it can run no pods, for so long.
  void NotReady(const sync::RuntimeTrouble& trouble, Duration length);
  // Its source has it like this now, or has it no more; the agent will hear.
  void Tell(const SimPod& pod);
  // As they are.
  void TellFilesAgain();
  void EvictNow(const SimPod& pod);
  // What probes and managers do by themselves, again and again from now on.
  void StartTicking();

  // One step of the world. False: nothing will ever happen any more.
  bool Step();

  CoreResult& result() { return result_; }
  void Problem(std::string what);
  void Note(const std::string& what) { world_.Note(what); }
  void Cover(SimEvent event, const PodUid& pod);
  void CoverAll(SimEvent event);

 private:
  void Join();
  void TellFiles();
  kube::PodRef FromFile(const SimPod& pod);
  void Tick();
  void DieOf(const PodUid& pod);
  void OnServerChange(const ServerChange& change);
  void Probe(const SimPod& pod, const sync::PodWorker& worker);

  // CoreAgentUser
  void OnPodDecided(const sync::PodWorker& worker, const sync::Decision& decision) override;
  void OnPodChanged(uint32_t shard, const sync::PodWorker& worker) override;
  void OnPodGone(const sync::PodIdentity& pod) override;
  void OnPodFault(const sync::PodWorker& worker, const Error& error) override;
  void OnPodHeldBack(const sync::PodIdentity&) override {}
  void OnPlegMode(const sync::PlegModeChange& change) override;
  void OnStatus(const sync::PodStatusUpdate& update) override;
  void OnStatusForgotten(const PodUid& pod) override;
  void OnPodRejected(const kube::PodRef& pod, const sync::Rejection& rejection) override;

  // The agent's log is part of a trace that is printed.
  class TraceSink final : public LogSink {
   public:
    explicit TraceSink(bool prints) : prints_(prints) {}
    void Write(std::string_view line, Severity) noexcept override {
      if (prints_) std::fwrite(line.data(), 1, line.size(), stdout);
    }

   private:
    const bool prints_;
  };

  const CoreRun run_;
  World world_;
  TraceSink sink_{run_.trace == Trace::Mode::kPrint};
  LogVerbosity verbosity_{run_.verbosity};
  LogOutput output_{LogFormat{}, world_.clock(), verbosity_, sink_};
  Logger log_{output_};
  fakes::RuntimeModel model_;
  fakes::FakeRuntimeHost host_;
  PodLeaves leaves_;
  ApiSide api_;
  CoreAgentOptions agent_options_;
  std::vector<CoreWatcher*> watchers_;
  std::map<PodUid, SimPod> pods_;
  // What was told of files, and of which state of the pod it was made.
  std::map<PodUid, std::pair<SimPod, kube::PodRef>> from_files_;
  std::map<PodUid, TimePoint> touched_;  // when last
  struct Probed {
    uint64_t generation = 0;  // of the worker that was told
    uint32_t attempt = 0;
    friend bool operator==(const Probed&, const Probed&) = default;
  };
  std::map<PodUid, Probed> probed_;  // of the present agent
  AgentBreak at_call_;               // of KillAgentAtCall
  std::optional<PodUid> deadly_;
  uint32_t deadly_version_ = 0;  // that the present agent began with
  uint32_t outages_ = 0;
  uint32_t not_ready_ = 0;
  sync::RuntimeTrouble trouble_;
  uint64_t agents_ = 0;  // ever started
  CoreResult result_;
  std::unique_ptr<CoreAgent> agent_;
};

}  // namespace denselet::sim
