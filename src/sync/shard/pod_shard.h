// The pods of one shard: their workers, what the runtime shows of them, the calls under way, and
// who has the next turn.
//
//   hints, lists --> PodReader --> ObservedStore --+
//   wishes ----------------------------------------+--> run line (critical, end, start, steady)
//   answers of calls --> ops (index, generation) --+        |  at most steps_per_turn_max a turn
//   timers ----------------------------------------+        v
//                                                     PodWorker::Step
//
// Critical and static pods go first, then those that end, those that start and those that run; each
// class gets a share of every turn, so none starves. Everything is bounded by the number of pods
// but the table of calls, which has a bound of its own.
//
// Owned by the composition root, one a shard; all calls on that shard. Destroyed, it ends its
// workers; calls under way find nobody.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "base/slot_map.h"
#include "sync/pleg/pleg_metrics.h"
#include "sync/pod_worker/pod_worker.h"

namespace denselet::sync {

struct PodShardOptions {
  uint32_t steps_per_turn_max = 64;
  uint32_t ops_max = 65536;
  uint32_t leftovers_max = 64;  // looked after at once; those beyond wait for the next look
  PodReaderOptions reader = {};
  // Pods under whose work the process died again and again: they wait until they change.
  std::set<PodUid> held_back = {};
};

class PodShardUser {
 public:
  // Its status may have changed: phase, waits, observation.
  virtual void OnPodChanged(const PodWorker& worker) = 0;
  // It is over and its worker is about to go; the wish, too, is gone.
  virtual void OnPodGone(const PodIdentity& pod) = 0;
  // Something of ours was wrong about this pod, or a wish could not be read.
  virtual void OnPodFault(const PodWorker& worker, const Error& error) = 0;
  // The process died under its work again and again: it is not begun until it changes.
  virtual void OnPodHeldBack(const PodIdentity& pod, const kube::PodRef& wish) {
    static_cast<void>(pod);
    static_cast<void>(wish);
  }
  // The runtime has it and no wish for it came here: AdoptOrphan, if none is on its way. Told again
  // every few seconds as long as that is so.
  virtual void OnPodUnwished(const PodIdentity& pod) { static_cast<void>(pod); }
  // It has no worker, and a look found that the runtime has it no more.
  virtual void OnPodVanished(const PodUid& pod) { static_cast<void>(pod); }
  // It ends for good, which must outlive the agent: EndRecorded when it does. False: nobody keeps a
  // journal.
  virtual bool OnPodEnds(const PodWorker& worker) {
    static_cast<void>(worker);
    return false;
  }
  // For people.
  virtual void OnPodEvent(ObjectEvent event) { static_cast<void>(event); }
  // Each decision, before it is begun; many a turn. For those who count.
  virtual void OnPodDecided(const PodWorker& worker, const Decision& decision) {
    static_cast<void>(worker);
    static_cast<void>(decision);
  }

 protected:
  ~PodShardUser() = default;
};

struct PodShardPorts {
  reactor::Loop& loop;
  Random& random;
  const Logger& log;
  Runtime& runtime;
  EpochCounter& epochs;
  PodResources& resources;
  PodImages& images;
  PodHooks& hooks;
  PodSpecs& specs;
};

class PodShard final : public WorkerHost, private PodReaderUser {
 public:
  PodShard(const PodShardPorts& ports, const PodShardOptions& options, PodShardUser& user);
  ~PodShard() override;
  PodShard(const PodShard&) = delete;
  PodShard& operator=(const PodShard&) = delete;

  // From the sources.
  void Update(const PodWish& wish);
  // The sources that matter have told all they have: what the runtime has beyond that is an orphan.
  void SourcesReady();
  // No source wishes it: what the runtime has of it goes.
  void AdoptOrphan(const PodUid& pod);
  // The same, as soon as it was read. No wish comes before it is gone.
  void AdoptOrphanWhenRead(const PodUid& pod);

  // From the housekeeping: the disk has something of this pod, which no source told of.
  void Leftover(const PodIdentity& pod);

  // From PLEG.
  void Hint(const std::vector<PodHint>& hints);
  // Answers with the number of differences that nothing had announced.
  uint64_t Listed(Epoch epoch, RuntimeWas was, const std::vector<ListedPod>& pods);

  // From managers.
  void Kill(const PodUid& pod, Ending ending, std::optional<int64_t> grace_seconds);
  // It was killed and had its time; people are told.
  void TellOverdue(const PodUid& pod);
  // That it ends for good would survive the agent; of the worker of that generation.
  void EndRecorded(const PodUid& pod, uint64_t generation);
  // The last status of a pod that has ended is where it belongs.
  void SettleStatus(const PodUid& pod);
  // The status that shows it up for the first time arrived then.
  void StartIsTold(const PodUid& pod, TimePoint when);
  // Of each of its containers no more than that many dead instances are kept from now on.
  void KeepLess(const PodUid& pod, uint32_t per_container_max);
  void AllowRemoval(const PodUid& pod);
  // Something that it refers to came or changed: what waited for that is tried again at once.
  void ObjectsChanged(const PodUid& pod);
  // One of its volumes keeps what it has, for want of what it is made of; it is renewed again.
  void VolumeNotRenewed(const PodUid& pod, const VolumeFault& fault);
  void VolumeRenewed(const PodUid& pod, const std::string& volume);
  void SetProbe(const PodUid& pod, const std::string& container, uint32_t attempt,
                std::optional<ProbeResult> startup, std::optional<ProbeResult> liveness);
  void SetNode(const NodeFacts& node);
  // Of the node: whether its runtime can be used.
  void SetTrouble(const RuntimeTrouble& trouble);

  // Those of options.held_back that are wished and have not changed since.
  std::vector<PodIdentity> HeldBack() const;
  // Null: there is none.
  const PodWorker* Find(const PodUid& pod) const;
  PodWorker* FindForTests(const PodUid& pod);
  size_t size() const { return workers_.size(); }
  size_t ops() const { return ops_.size(); }
  size_t line() const;
  const ObservedStore& store() const { return store_; }
  ObservedStore& store_for_tests() { return store_; }
  const PodReader& reader() const { return reader_; }
  std::vector<WorkerReport> Reports() const;
  // Those behind `after` in the order of uids, at most so many: for who looks at all, a part a
  // turn.
  std::vector<const PodWorker*> WorkersAfter(const PodUid& after, size_t count_max) const;
  MetricSet<PlegMetric>& metrics() { return metrics_; }
  // Nothing waits for a turn, no call and no read is under way.
  bool idle() const;

  struct Faults {
    PodWorker::Faults worker = {};
    LedgerFaults ledger = {};
    bool orphans_at_once = false;  // sources are not waited for
  };
  Faults& faults_for_tests() { return faults_; }

  // WorkerHost
  const WorkerPorts& ports() override { return ports_; }
  Result<OpToken> BeginOp(PodWorker& worker, std::string_view what, OpGroup group) override;
  Context ContextOf(OpToken op) override;
  void Cancel(OpToken op) override;
  void Abandon(OpToken op) override;
  PodWorker* Answered(OpToken op) override;
  void StepSoon(const PodUid& pod) override;
  void WakeAt(const PodUid& pod, TimePoint when) override;
  void OnWorkerDecided(const PodWorker& worker, const Decision& decision) override;
  void OnWorkerChanged(PodWorker& worker) override;
  void OnWorkerFault(PodWorker& worker, const Error& error) override;
  bool RecordEnd(const PodWorker& worker) override { return user_.OnPodEnds(worker); }
  void OnWorkerEvent(ObjectEvent event) override { user_.OnPodEvent(std::move(event)); }

 private:
  struct Slot {
    std::unique_ptr<PodWorker> worker;
    reactor::TimerId timer = {};
    TimePoint wake_at = kNever;
    bool in_line = false;
    WorkClass line = WorkClass::kSteady;  // in which it is
  };
  struct LateSandbox {
    uint32_t attempt;
    TimePoint until;
  };
  struct Op {
    PodUid pod;
    uint64_t generation;
    std::string_view what;
    TimePoint began;
    std::unique_ptr<CancelSource> cancel;
    bool abandoned = false;
  };

  // PodReaderUser
  bool TakeList(Slot& slot, Epoch epoch, const ListedPod* listed);
  void OnRead(const PodUid& pod, Applied applied, Duration took) override;
  void OnReadFailed(const PodUid& pod, const Error& error) override;
  void ShowUnhealthy();
  PodIdentity NameOf(const PodUid& pod) const;

  Slot& MakeWorker(const PodIdentity& pod, Epoch fresh_after);
  void Begin(const PodWish& wish);
  void LookForOrphan(const PodUid& pod);
  void AskOfUnwished();
  void Turn();
  bool StepNext(WorkClass work_class);
  void Collect(const PodUid& pod);
  void ScheduleTurn();

  Random& random_;
  const Logger log_;
  WaitingLog waiting_log_;
  const PodShardOptions options_;
  PodShardUser& user_;
  ObservedStore store_;
  PodReader reader_;
  NodeFacts node_;
  WorkerPorts ports_;
  MetricSet<PlegMetric> metrics_;
  std::map<PodUid, Slot> workers_;
  std::map<PodUid, PodWish> held_back_;
  std::set<PodUid> leftovers_;  // of those with a worker
  // The runtime has them, and no wish came: whether one is on its way is asked.
  std::set<PodUid> unwished_;
  std::set<PodUid> orphans_unread_;
  reactor::TimerId unwished_timer_ = {};
  // Of pods that are gone: sandboxes whose making was given up and may still come to an end.
  // Forgotten after kLateSandboxMax.
  std::map<PodUid, LateSandbox> late_sandboxes_;
  uint64_t next_generation_ = 1;
  SlotMap<Op> ops_;
  std::array<std::deque<PodUid>, kWorkClasses> line_;  // by class
  bool turn_posted_ = false;
  bool sources_ready_ = false;
  Faults faults_;
};

}  // namespace denselet::sync
