// Between the wishes and the shards: a pod goes to its shard once it is decided whether it may run
// here.
//
//   PodDispatcher --> [ asking: the newest wish of each pod ] --> AdmissionDesk
//                                                    | decided, durable
//                                                    v
//                              shard: the wish, with the rejection if there is one
//
//   closed until the journal was read, the node is known and the runtime was listed: what runs
//   already is adopted. A static pod of which only dead things are left is not: it had stopped, and
//   what it held may be another's.
//   Pods that are to go, or that have ended, are not asked about; nor those of which the journal
//   says that they end for good: their shards are told so with every wish.
//   A pod that comes back under its uid while it ends is asked about anew when it is gone; also one
//   that nobody wished any more, of which an agent before this one left something.
//   What the journal has and no source tells of is ended, or forgotten if nothing runs: when all
//   sources have spoken; of a static pod, when its own source has. Another manifest waits for its
//   name, maybe that of the API server itself, so the API server is not waited for.
//
// Lives on the home shard. Bounded by the number of pods.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "reactor/api/loop.h"
#include "sync/admission/admission_desk.h"
#include "sync/shard/pod_dispatcher.h"

namespace denselet::sync {

class AdmissionGateUser {
 public:
  // For the event; not again after a restart.
  virtual void OnPodRejected(const kube::PodRef& pod, const Rejection& rejection) = 0;

 protected:
  ~AdmissionGateUser() = default;
};

// The shards as the gate needs them.
class GatedShards : public PodShards {
 public:
  // No source has it, though not all of them may have spoken: what the runtime has of it ends. Not
  // lost; said again with each list as long as that is so.
  virtual void EndOrphan(const PodUid& pod) = 0;
};

class AdmissionGate final : public PodShards {
 public:
  static constexpr Duration kRetry = Milliseconds(10);

  AdmissionGate(reactor::Loop& loop, AdmissionDesk& desk, GatedShards& shards, uint32_t shard_count,
                AdmissionGateUser& user);
  ~AdmissionGate() override;
  AdmissionGate(const AdmissionGate&) = delete;
  AdmissionGate& operator=(const AdmissionGate&) = delete;

  // The journal has told the desk all it has.
  void OnJournalRead();
  // The desk knows the node.
  void OnNodeKnown();
  // What the runtime has of a shard's pods.
  void OnListed(uint32_t shard, const std::vector<ListedPod>& pods);
  // These sources have told all they have, or there is no such source.
  void OnSpoken(SourceSet sources);
  bool is_open() const { return open_; }

  // PodShards
  Status Wish(uint32_t shard, PodWish wish) override;
  // Not before those that run were adopted: they would count as orphans.
  Status SourcesReady(uint32_t shard) override;

  // Nothing of it runs any more: what it had is free.
  void OnPodStopped(const PodUid& pod);
  // Its worker is gone. True: it is wished again meanwhile, so its name is not free.
  bool OnPodGone(const PodUid& pod);
  // The same of one that nobody wished. If it is wished meanwhile, what is booked belongs to that
  // wish, which still waits here or for the end of that worker.
  void OnOrphanStopped(const PodUid& pod);
  bool OnOrphanGone(const PodUid& pod);
  // It has no worker and the runtime has it no more, as a list would tell later.
  void OnVanished(const PodUid& pod);

  // It is wished, but what an agent before this one left of it is to end first, as nobody's.
  bool WaitsForOrphan(const PodUid& pod) const;
  // A source told of it, and its worker is not known to be gone.
  bool Knows(const PodUid& pod) const { return pods_.contains(pod); }
  size_t waiting() const;
  // Those that wait here, behind `after` in the order of uids, at most so many.
  std::vector<PodIdentity> WaitingAfter(const PodUid& after, size_t count_max) const;

  struct Faults {
    bool release_early = false;  // what a pod has is free when it is to go, not when it has stopped
    bool keep_room = false;      // of one that its source has dropped
  };
  Faults& faults_for_tests() { return faults_; }

 private:
  enum class Stage : uint8_t {
    kAsking,      // the desk has it, or will have it soon
    kForwarding,  // decided; the shard's mailbox is full
    kForwarded,
    kLeaving,  // gone from its source, and forwarded
  };
  struct Entry {
    uint32_t shard = 0;
    Stage stage = Stage::kAsking;
    bool asked = false;  // of kAsking: the desk has it
    bool adopts = false;
    bool behind_orphan = false;  // of kLeaving: no shard was told of it
    std::optional<Rejection> rejected = {};
    // The newest: of kAsking and kForwarding what is to be forwarded, of kLeaving what comes after.
    std::optional<PodWish> wish = {};
  };

  bool IsOver(const PodUid& pod, const kube::PodRef& wish) const;
  bool IsDropped(const PodUid& pod) const;
  bool IsLeftAlone(const PodUid& pod) const;
  bool IsNobodys(const PodUid& pod) const;
  bool BeginAnew(const PodUid& pod);
  bool IsComing(const PodUid& pod) const;
  AdmissionQuestion QuestionAbout(const PodUid& pod, const kube::PodRef& wish) const;
  Status Begin(const PodUid& pod, uint32_t shard, PodWish wish);
  void Ends(const PodUid& pod, bool gone);
  void ForgetEnd(const PodUid& pod);
  void ForgetEndsOfUnknown(uint32_t shard);
  Status Pass(Entry& entry, PodWish wish, Stage then);
  void OpenIfAll();
  void Ask(const PodUid& pod, Entry& entry);
  void OnDecided(const PodUid& pod, const Result<AdmissionDecision>& decision);
  void Forward(const PodUid& pod, Entry& entry);
  void LineUp(const PodUid& pod);
  void LeaveLine(const PodUid& pod);
  void TryLater(const PodUid& pod);
  void TryAgain();
  void ReleaseUnclaimed(uint32_t shard);
  void ReleaseAllUnclaimed();
  void Release(const PodUid& pod);

  reactor::Loop& loop_;
  AdmissionDesk& desk_;
  GatedShards& shards_;
  const uint32_t shard_count_;
  AdmissionGateUser& user_;
  bool journal_read_ = false, node_known_ = false, open_ = false;
  std::map<uint32_t, std::set<PodUid>> running_;  // by shard, as listed last
  std::set<PodUid> adoptable_;  // what the runtime had when the gate opened, until it is gone
  std::set<PodUid> dead_;       // of these, those of which nothing can run any more
  std::set<uint32_t> ready_;    // shards that were told that all sources spoke
  SourceSet spoken_;
  std::set<PodUid> released_early_;      // before the journal was read
  std::set<PodUid> gone_early_;          // the same
  std::map<PodUid, bool> ending_early_;  // the same: the wish says that it ends; true: it is gone
  // Of the journal, and nobody has asked about them; once all sources spoke, of the runtime, too.
  std::set<PodUid> unclaimed_;
  std::map<PodUid, Entry> pods_;
  std::deque<PodUid> again_;  // to be asked about or forwarded, in order, each once
  std::set<PodUid> in_line_;  // the same
  reactor::TimerId timer_ = {};
  Faults faults_;
};

}  // namespace denselet::sync
