// Brings the wishes of the sources to the shards that own the pods, and sees to what concerns more
// than one pod: of two static pods of one name (a manifest that changed is a new pod) the second is
// handed over when the first has ended.
//
//   PodSources --> [ newest wish per pod ] --> shard's mailbox --> PodShard::Update
//                        ^ full: kept, and tried again after 10 ms to 1 s
//
// Lives on the shard of the sources, owned by the composition root. Bounded by the number of pods:
// what could not be sent yet is replaced by what is newer.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "base/log.h"
#include "reactor/api/loop.h"
#include "sync/pod_worker/pod_worker.h"
#include "sync/ports/pod_shard.h"
#include "sync/sources/pod_sources.h"

namespace denselet::sync {

// Runs on the shards named.
class PodShards {
 public:
  virtual ~PodShards() = default;
  // kOverloaded: not now.
  virtual Status Wish(uint32_t shard, PodWish wish) = 0;
  virtual Status SourcesReady(uint32_t shard) = 0;
};

class PodDispatcher final : public DesiredPodsUser {
 public:
  // `needed`: the sources that must have spoken before anything counts as an orphan.
  PodDispatcher(reactor::Loop& loop, const Logger& log, PodShards& shards, uint32_t shard_count,
                SourceSet needed);
  ~PodDispatcher();
  PodDispatcher(const PodDispatcher&) = delete;
  PodDispatcher& operator=(const PodDispatcher&) = delete;

  // A worker has gone: its name is free.
  void OnPodGone(const PodIdentity& pod);

  // DesiredPodsUser
  void OnPodChanges(SourceKind source, std::span<const PodChange> changes) override;
  void OnPodRefused(SourceKind source, const RefusedPod& refused) override;
  void OnSourceReady(SourceKind source) override;
  void OnSourceLate(SourceKind source) override;

  // A static pod of that name, removed or replaced, still ends on this node.
  bool StillEnds(const ObjectRef& static_pod) const;
  // It waits for its name, or to be sent.
  bool Holds(const PodUid& pod) const;
  size_t waiting_for_name() const;
  size_t unsent() const { return unsent_.size(); }

 private:
  // A name of static pods: who has it, who waits for it. Of those who wait only the newest counts.
  struct StaticName {
    PodUid holder = {};
    bool leaving = false;  // the holder is not wished any more
    std::optional<PodWish> next = {};
  };
  struct Unsent {
    std::deque<PodWish> wishes = {};  // at most a going and a coming
  };

  void Take(const PodChange& change);
  bool TakeStatic(const PodIdentity& pod, const PodWish& wish);
  void Send(const PodUid& pod, PodWish wish);
  void Flush();
  void FlushLater();
  void TellReady();

  reactor::Loop& loop_;
  const Logger log_;
  PodShards& shards_;
  const uint32_t shard_count_;
  const SourceSet needed_;
  SourceSet seen_;
  std::map<ObjectRef, StaticName> names_;
  std::map<PodUid, Unsent> unsent_;
  std::vector<bool> told_ready_;
  Duration pause_;
  reactor::TimerId timer_ = {};
};

}  // namespace denselet::sync
