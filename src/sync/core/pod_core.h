// The core put together: which of its parts lives on which shard, and how they reach each other.
//
//   home (shard 0)   PodDispatcher, AdmissionGate and desk, Journal, Pleg, ImagePuller and desk,
//                    Housekeeper, DeadBound
//   every shard      PodShard, PodStatuses, RemoteImages
//
//   wishes:    PodSources -> PodDispatcher -> AdmissionGate --> mail --> PodShard::Update
//   events:    stream -> Pleg --> mail --> PodShard::Hint          lists: Pleg --> mail --> Listed
//   ends:      PodShard -> stopped, gone --> mail --> gate, dispatcher    (sent until it fits)
//              one that ends for good --> mail --> desk, journal --> mail --> it may be stopped
//   statuses:  PodShard -> PodStatuses --> mail --> the sink; that it has arrived --> mail --> back
//
// Owned by the composition root (the agent's, or the simulator's), which outlives all mail. Parts
// are made and destroyed on their shards: OpenHome on the home shard, then OpenShard on each, then
// Begin on the home shard; at the end CloseShard and CloseHome in any order. Mail that finds its
// part gone is dropped.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "sync/admission/admission_desk.h"
#include "sync/core/admission_gate.h"
#include "sync/core/dead_bound.h"
#include "sync/core/housekeeper.h"
#include "sync/core/pod_statuses.h"
#include "sync/core/status_relay.h"
#include "sync/images/image_puller.h"
#include "sync/images/remote_images.h"
#include "sync/journal/journal.h"
#include "sync/pleg/pleg.h"
#include "sync/shard/pod_dispatcher.h"
#include "sync/shard/pod_shard.h"

namespace denselet::sync {

struct PodCoreOptions {
  PlegOptions pleg = {};
  PodShardOptions shard = {};
  ImagePullerOptions images = {};
  AdmissionOptions admission = {};
  SysctlAllowList sysctls = {};
  JournalOptions journal = {};
  NodeFacts node = {};
  HousekeeperOptions housekeeping = {};
  int32_t dead_containers_max = -1;  // on the whole node; negative: no bound
  SourceSet sources = {};            // those that must have spoken before anything is an orphan
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
  reactor::FileSystem& files;
  NodeFetcher& nodes;
  PodLeftovers& leftovers;
  std::vector<AdmissionPlugin*> admission_plugins = {};
};

// On the home shard.
class PodCoreUser : public PlegUser, public AdmissionGateUser {
 public:
  // Its worker is gone, and nobody wishes it.
  virtual void OnPodGone(const PodIdentity& pod) = 0;
  // For people.
  virtual void OnPodEvent(const ObjectEvent& event) = 0;
};

class PodCore final : private PlegShards,
                      private GatedShards,
                      private PodPreemptor,
                      private HousekeeperUser {
 public:
  static constexpr uint32_t kHome = 0;

  PodCore(uint32_t shards, PodCoreOptions options);
  ~PodCore() override;
  PodCore(const PodCore&) = delete;
  PodCore& operator=(const PodCore&) = delete;

  void OpenHome(const PodCoreHome& home);
  void OpenShard(uint32_t shard, const PodCoreShard& seams, PodShardUser& user);
  // `statuses` is where they go; it tells arrived() of them.
  void Begin(PodCoreUser& user, PodStatusSink& statuses);
  void CloseShard(uint32_t shard);
  void CloseHome();

  uint32_t shards() const { return static_cast<uint32_t>(parts_.size()); }

  // On the home shard, between Begin and CloseHome.
  DesiredPodsUser& wishes();
  RuntimeEventsUser& events();
  PodStatusUser& arrived();
  // The node as admission sees it, and as it shows in statuses.
  void SetNode(NodeView node);
  void SetStatusNode(const StatusNode& node);
  // Whether the runtime and its network can be used; until told otherwise they can.
  void SetRuntimeTrouble(const RuntimeTrouble& trouble);
  Pleg& pleg();
  PodDispatcher& dispatcher();
  const AdmissionDesk& admission() const;
  const AdmissionGate& gate() const;
  AdmissionDesk& admission_for_tests();
  AdmissionGate& gate_for_tests();
  const Journal& journal() const;
  const Housekeeper& housekeeper() const;
  const ImagePuller& puller() const;
  // The newest of all shards.
  Epoch last_epoch() const { return epochs_.last(); }
  // On its shard; null: not open.
  PodShard* pods(uint32_t shard);
  PodStatuses* statuses(uint32_t shard);

 private:
  class Part;
  class Wishes;
  enum class Whose : uint8_t { kWished, kNobodys };  // that a worker was made for
  struct Home;

  // PlegShards, GatedShards: on the home shard.
  Status Hint(uint32_t shard, std::vector<PodHint> hints) override;
  Status Listed(uint32_t shard, Epoch epoch, RuntimeWas was, std::vector<ListedPod> pods,
                UniqueFunction<void(uint64_t)> checked) override;
  Status Wish(uint32_t shard, PodWish wish) override;
  Status SourcesReady(uint32_t shard) override;
  void EndOrphan(const PodUid& pod) override;
  // PodPreemptor
  void Preempt(const PodIdentity& pod, UniqueFunction<void()> ended) override;
  void NotGoneInTime(const PodIdentity& pod) override;
  // HousekeeperUser
  bool IsKnown(const PodUid& pod) const override;
  Status TakeLeftover(const PodIdentity& pod) override;

  void MakeAdmission();
  void MakeRelays();
  void MakeDeadBound();
  void TellNode();
  struct EndOfWorker {
    EndRecord record = {};
    uint64_t generation = 0;
  };
  void OnPodEnds(const EndOfWorker& end);
  void OnPodStopped(const PodUid& pod, Whose whose);
  void OnPodUnwished(const PodUid& pod);
  void OnPodGone(const PodIdentity& pod, Whose whose);

  const PodCoreOptions options_;
  EpochCounter epochs_;
  std::unique_ptr<Home> home_;                // the home shard's
  std::vector<std::unique_ptr<Part>> parts_;  // each its shard's, but for its place
};

}  // namespace denselet::sync
