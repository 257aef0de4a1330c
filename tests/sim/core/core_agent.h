// One life of the agent's core in the simulator: the PodCore that the agent has, over simulated
// shards, with the sources in front of it, the fake runtime behind it, and the program's reports to
// the API server beside it. Killed by destroying it, between any two turns: nothing of it is told,
// nothing is brought to an end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/agent/pod_reports.h"
#include "app/agent/wish_fan_out.h"
#include "base/metrics.h"
#include "kube/client/pod_source.h"
#include "sync/core/pod_core.h"
#include "sync/ports/shard_router.h"
#include "sync/sources/pod_sources.h"
#include "tests/fakes/fake_api_server.h"
#include "tests/fakes/fake_event_stream.h"
#include "tests/fakes/fake_runtime.h"
#include "tests/sim/core/pod_leaves.h"
#include "tests/sim/world.h"

namespace denselet::sim {

struct CoreAgentOptions {
  sync::PlegOptions pleg = {};
  sync::PodShardOptions shard = {};
  sync::ImagePullerOptions images = {};
  sync::JournalOptions journal = {};
  sync::NodeFacts node = {};
  sync::HousekeeperOptions housekeeping = {.period = Seconds(30)};
  int32_t dead_containers_max = -1;
  sync::SourceSet sources = {sync::SourceKind::kApi, sync::SourceKind::kFile};
  fakes::FakeEventFaults events = {};
  int64_t milli_cpus = 1'000'000;       // of the node
  fakes::FakeApiServer* api = nullptr;  // null: it has none
};

// What the world around hears of the agent.
class CoreAgentUser {
 public:
  virtual void OnPodDecided(const sync::PodWorker& worker, const sync::Decision& decision) = 0;
  virtual void OnPodChanged(uint32_t shard, const sync::PodWorker& worker) = 0;
  virtual void OnPodGone(const sync::PodIdentity& pod) = 0;
  virtual void OnPodFault(const sync::PodWorker& worker, const Error& error) = 0;
  virtual void OnPodHeldBack(const sync::PodIdentity& pod) = 0;
  virtual void OnPlegMode(const sync::PlegModeChange& change) = 0;
  virtual void OnStatus(const sync::PodStatusUpdate& update) = 0;
  virtual void OnStatusForgotten(const PodUid& pod) = 0;
  virtual void OnPodRejected(const kube::PodRef& pod, const sync::Rejection& rejection) = 0;
  virtual void OnPodEvent(const sync::ObjectEvent& event) { static_cast<void>(event); }

 protected:
  ~CoreAgentUser() = default;
};

class CoreAgent final : private sync::PodCoreUser,
                        private sync::NodeFetcher,
                        private sync::PodStatusSink,
                        private sync::DesiredPodsUser,
                        private sync::EndingStaticPods {
 public:
  CoreAgent(World& world, fakes::FakeRuntimeHost& host, PodLeaves& leaves, const Logger& log,
            const CoreAgentOptions& options, CoreAgentUser& user);
  ~CoreAgent();
  CoreAgent(const CoreAgent&) = delete;
  CoreAgent& operator=(const CoreAgent&) = delete;

  sync::PodSources& sources() { return *sources_; }
  sync::Pleg& pleg() { return core_.pleg(); }
  sync::PodDispatcher& dispatcher() { return core_.dispatcher(); }
  sync::PodCore& core() { return core_; }
  fakes::FakeEventStream& events() { return *events_; }
  sync::Epoch last_epoch() const { return core_.last_epoch(); }
  sync::PodShard& shard(uint32_t i) { return *core_.pods(i); }
  // How often a shard refused what PLEG had for it.
  uint64_t hints_refused() const { return hints_refused_.value(); }
  uint32_t shards() const { return core_.shards(); }
  sync::PodShard& OwnerShard(const PodUid& pod) { return shard(sync::ShardOf(pod, shards())); }
  const sync::PodWorker* Find(const PodUid& pod) { return OwnerShard(pod).Find(pod); }
  // Runs on the shard that owns the pod, in a turn of its own.
  void OnOwner(const PodUid& pod, std::function<void(sync::PodShard&)> work);
  void SetTrouble(const sync::RuntimeTrouble& trouble);
  // The API server can be asked from now on. Once.
  void Join();
  const app::PodReports& reports() const { return reports_; }
  // Deliberate faults of what begins with Join; before it.
  managers::StatusManager::Faults& status_faults() { return status_faults_; }
  sync::MirrorKeeper::Faults& mirror_faults() { return mirror_faults_; }
  // Runs on shard 0.
  void OnSources(std::function<void(sync::PodSources&)> work);

 private:
  class OnShard;
  class Api;

  const CounterCell& Open(fakes::FakeRuntimeHost& host, PodLeaves& leaves, const Logger& log);
  static sync::PodCoreOptions CoreOptions(const CoreAgentOptions& options);

  // sync::PodCoreUser
  void OnPlegMode(const sync::PlegModeChange& change) override { user_.OnPlegMode(change); }
  void OnPodRejected(const kube::PodRef& pod, const sync::Rejection& rejection) override {
    user_.OnPodRejected(pod, rejection);
  }
  void OnPodGone(const sync::PodIdentity& pod) override { reports_.OnPodGone(pod); }
  void OnPodEvent(const sync::ObjectEvent& event) override { user_.OnPodEvent(event); }
  // sync::NodeFetcher
  void Fetch(const Context&, reactor::Done<sync::NodeView> done) override;
  // sync::PodStatusSink
  void SetStatus(sync::PodStatusUpdate update) override;
  void Forget(const PodUid& pod) override;
  // sync::DesiredPodsUser
  void OnPodChanges(sync::SourceKind source, std::span<const sync::PodChange> changes) override {
    wishes_->OnPodChanges(source, changes);
  }
  void OnPodRefused(sync::SourceKind, const sync::RefusedPod&) override {}
  void OnSourceReady(sync::SourceKind source) override { wishes_->OnSourceReady(source); }
  void OnSourceLate(sync::SourceKind source) override { wishes_->OnSourceLate(source); }
  // sync::EndingStaticPods
  bool StillEnds(const ObjectRef& pod) const override { return dispatcher_->StillEnds(pod); }

  World& world_;
  CoreAgentUser& user_;
  std::shared_ptr<bool> alive_;  // shared with mail that arrives after the end
  SeededRandom random_;
  SimFileSystem files_;  // of the journal
  const sync::NodeView node_;
  managers::StatusManager::Faults status_faults_ = {};
  sync::MirrorKeeper::Faults mirror_faults_ = {};
  std::unique_ptr<Api> api_;  // null: none
  app::PodReports reports_;
  std::vector<std::unique_ptr<OnShard>> on_shards_;
  sync::PodCore core_;
  const sync::PodDispatcher* dispatcher_ = nullptr;
  std::optional<app::WishFanOut> wishes_;
  const CounterCell& hints_refused_;
  std::unique_ptr<sync::PodSources> sources_;
  std::unique_ptr<fakes::FakeEventStream> events_;
  std::unique_ptr<kube::ApiPodSource> api_pods_;  // tells sources_
};

}  // namespace denselet::sim
