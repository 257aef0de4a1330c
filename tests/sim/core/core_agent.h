// One life of the agent's core in the simulator: PLEG, sources, dispatcher and images on shard 0, a
// PodShard on every shard, the fake runtime behind all of them. Killed by destroying it, between
// any two turns: nothing of it is told, nothing is brought to an end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sync/images/image_puller.h"
#include "sync/images/remote_images.h"
#include "sync/pleg/pleg.h"
#include "sync/ports/pod_shard.h"
#include "sync/ports/shard_router.h"
#include "sync/shard/pod_dispatcher.h"
#include "sync/shard/pod_shard.h"
#include "sync/sources/pod_sources.h"
#include "tests/fakes/fake_event_stream.h"
#include "tests/fakes/fake_runtime.h"
#include "tests/sim/core/pod_leaves.h"
#include "tests/sim/world.h"

namespace denselet::sim {

struct CoreAgentOptions {
  sync::PlegOptions pleg = {};
  sync::PodShardOptions shard = {};
  sync::ImagePullerOptions images = {};
  sync::NodeFacts node = {};
  sync::SourceSet sources = {sync::SourceKind::kApi, sync::SourceKind::kFile};
  fakes::FakeEventFaults events = {};
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

 protected:
  ~CoreAgentUser() = default;
};

class CoreAgent final : public sync::PlegShards, public sync::PodShards, public sync::PlegUser {
 public:
  CoreAgent(World& world, fakes::FakeRuntimeHost& host, PodLeaves& leaves, const Logger& log,
            const CoreAgentOptions& options, CoreAgentUser& user);
  ~CoreAgent() override;

  sync::PodSources& sources() { return *sources_; }
  sync::Pleg& pleg() { return *pleg_; }
  sync::PodDispatcher& dispatcher() { return *dispatcher_; }
  fakes::FakeEventStream& events() { return *events_; }
  sync::Epoch last_epoch() const { return epochs_.last(); }
  sync::PodShard& shard(uint32_t i) { return *parts_[i]->pods; }
  // When a shard last refused what PLEG had for it; nothing: never.
  const std::optional<TimePoint>& refused_at() const { return refused_at_; }
  uint32_t shards() const { return static_cast<uint32_t>(parts_.size()); }
  sync::PodShard& OwnerShard(const PodUid& pod) { return shard(sync::ShardOf(pod, shards())); }
  const sync::PodWorker* Find(const PodUid& pod) { return OwnerShard(pod).Find(pod); }
  // Runs on the shard that owns the pod, in a turn of its own.
  void OnOwner(const PodUid& pod, std::function<void(sync::PodShard&)> work);
  void SetNode(const sync::NodeFacts& node);
  // Runs on shard 0.
  void OnSources(std::function<void(sync::PodSources&)> work);

 private:
  class Router;
  struct ShardUser;
  struct Part {
    std::unique_ptr<Router> router;
    std::unique_ptr<fakes::FakeRuntime> runtime;
    std::unique_ptr<sync::RemoteImages> images;
    std::unique_ptr<PodLeaves::OfShard> leaves;
    std::unique_ptr<ShardUser> user;
    std::unique_ptr<sync::PodShard> pods;
  };

  Status Hint(uint32_t shard, std::vector<PodUid> pods) override;
  Status Listed(uint32_t shard, sync::Epoch epoch, std::vector<sync::ListedPod> pods,
                UniqueFunction<void(uint64_t)> checked) override;
  Status Wish(uint32_t shard, sync::PodWish wish) override;
  Status SourcesReady(uint32_t shard) override;
  void OnPlegMode(const sync::PlegModeChange& change) override { user_.OnPlegMode(change); }
  Status Noted(Status sent);
  Status Send(uint32_t from, uint32_t to, UniqueFunction<void()> work);

  World& world_;
  CoreAgentUser& user_;
  std::shared_ptr<bool> alive_;  // shared with mail that arrives after the end
  SeededRandom random_;
  sync::EpochCounter epochs_;
  std::optional<TimePoint> refused_at_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::unique_ptr<sync::ImagePuller> puller_;
  std::unique_ptr<sync::ImageDesk> desk_;
  std::unique_ptr<sync::PodDispatcher> dispatcher_;
  std::unique_ptr<sync::PodSources> sources_;
  std::unique_ptr<sync::Pleg> pleg_;
  std::unique_ptr<fakes::FakeEventStream> events_;
};

}  // namespace denselet::sim
