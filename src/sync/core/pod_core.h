// The core put together: which of its parts lives on which shard, and how they reach each other.
//
//   home (shard 0)   PodDispatcher, Pleg, ImagePuller and its desk
//   every shard      PodShard, RemoteImages
//
//   wishes:  PodSources -> PodDispatcher --> mail --> PodShard::Update
//   events:  stream -> Pleg --> mail --> PodShard::Hint          lists: Pleg --> mail --> Listed
//   ends:    PodShard -> OnPodGone --> mail --> PodDispatcher    (sent until it fits)
//
// Owned by the composition root (the agent's, or the simulator's), which outlives all mail. Parts
// are made and destroyed on their shards: OpenHome on the home shard, then OpenShard on each, then
// Begin on the home shard; at the end CloseShard and CloseHome in any order. Mail that finds its
// part gone is dropped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "reactor/api/loop.h"
#include "sync/images/image_puller.h"
#include "sync/images/remote_images.h"
#include "sync/pleg/pleg.h"
#include "sync/shard/pod_dispatcher.h"
#include "sync/shard/pod_shard.h"

namespace denselet::sync {

struct PodCoreOptions {
  PlegOptions pleg = {};
  PodShardOptions shard = {};
  ImagePullerOptions images = {};
  NodeFacts node = {};
  SourceSet sources = {};  // those that must have spoken before anything is an orphan
};

// What one shard gives to its part; all of it outlives the part.
struct PodCoreShard {
  reactor::Loop& loop;
  Random& random;
  Logger log;
  ShardRouter& router;
  Runtime& runtime;
  PodResources& resources;
  PodHooks& hooks;
  PodSpecs& specs;
};

// The same of the home shard, for what is there once.
struct PodCoreHome {
  reactor::Loop& loop;
  Random& random;
  Logger log;
  ShardRouter& router;
  Runtime& runtime;
  ImageService& images;
};

class PodCore final : private PlegShards, private PodShards {
 public:
  static constexpr uint32_t kHome = 0;

  PodCore(uint32_t shards, PodCoreOptions options);
  ~PodCore() override;
  PodCore(const PodCore&) = delete;
  PodCore& operator=(const PodCore&) = delete;

  void OpenHome(const PodCoreHome& home);
  void OpenShard(uint32_t shard, const PodCoreShard& seams, PodShardUser& user);
  void Begin(PlegUser& user);
  void CloseShard(uint32_t shard);
  void CloseHome();

  uint32_t shards() const { return static_cast<uint32_t>(parts_.size()); }

  // On the home shard, between Begin and CloseHome.
  DesiredPodsUser& wishes() { return *home_->dispatcher; }
  RuntimeEventsUser& events() { return *home_->pleg; }
  Pleg& pleg() { return *home_->pleg; }
  PodDispatcher& dispatcher() { return *home_->dispatcher; }
  // The newest of all shards.
  Epoch last_epoch() const { return epochs_.last(); }
  // On its shard; null: not open.
  PodShard* pods(uint32_t shard);

 private:
  class Part;
  struct Home {
    explicit Home(const PodCoreHome& given) : seams(given) {}
    const PodCoreHome seams;
    std::unique_ptr<ImagePuller> puller = {};
    std::unique_ptr<ImageDesk> desk = {};
    std::unique_ptr<PodDispatcher> dispatcher = {};
    std::unique_ptr<Pleg> pleg = {};
  };

  // PlegShards, PodShards: on the home shard.
  Status Hint(uint32_t shard, std::vector<PodUid> pods) override;
  Status Listed(uint32_t shard, Epoch epoch, std::vector<ListedPod> pods,
                UniqueFunction<void(uint64_t)> checked) override;
  Status Wish(uint32_t shard, PodWish wish) override;
  Status SourcesReady(uint32_t shard) override;

  const PodCoreOptions options_;
  EpochCounter epochs_;
  std::unique_ptr<Home> home_;                // the home shard's
  std::vector<std::unique_ptr<Part>> parts_;  // each its shard's, but for its place
};

}  // namespace denselet::sync
