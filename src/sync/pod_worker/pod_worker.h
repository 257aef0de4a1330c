// One pod from the wish to have it to the last trace of it: asks Decide what is next, begins it,
// takes the answers.
//
//   wish       Update(v1)         Update(v2)                 Update(deleted)
//   phase      |-- syncing ------------------------------------|-- terminating --|- terminated -|-
//   finished calls        read  sandbox  image create start  read        stop…  sandbox     release
//   remove knowledge    ^observation    ^replies in the ledger ^observation
//
// Only the newest wish is kept: the kubelet does not promise that every specification is seen, and
// neither do we. A deletion or an eviction is seen at the next step, which follows every answer and
// every wish; what was begun to start the pod is then cancelled. Phases only move right and the
// grace only shrinks. A pod that is wished again while it ends is begun anew when it has ended.
//
// A broken invariant about this pod (kBug) takes its worker down, nobody else's: calls are
// abandoned, what it knew of them is forgotten, and after a pause it begins again from a fresh
// read.
//
// Lives on one shard, created and destroyed by PodShard; destroyed, its calls go on and find
// nobody.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/api/pod/pod_at_rest.h"
#include "sync/admission/end_record.h"
#include "sync/decide/decide.h"
#include "sync/ledger/pod_ledger.h"
#include "sync/pod_worker/worker_history.h"
#include "sync/pod_worker/worker_host.h"
#include "sync/ports/admission.h"

namespace denselet::sync {

class Keyring;

inline constexpr int kStepsPerTurnMax = 32;

// In the order of a shard's turn. Who ends waits behind nobody who starts: an eviction makes the
// room that they need.
enum class WorkClass : uint8_t { kCritical, kEnd, kStart, kSteady };
inline constexpr size_t kWorkClasses = size_t{1} + static_cast<size_t>(WorkClass::kSteady);

enum class WishKind : uint8_t {
  kAdd,     // wished, perhaps not for the first time
  kChange,  // changed, or to be deleted
  kGone,    // its source has it no more
};

struct PodWish {
  WishKind kind = WishKind::kAdd;
  kube::PodRef pod = {};
  std::optional<Rejection> rejected = {};   // it may not run here: it ends before it began
  std::optional<EndRecord> ended = {};      // it was decided that it ends for good
  std::optional<TimePoint> wished_at = {};  // when its source told of it first
};

inline PodIdentity IdentityOf(const kube::PodRef& pod) {
  const kube::PodHotFields& hot = pod->hot();
  return {.ref = {std::string(hot.ns), std::string(hot.name)}, .uid = PodUid(std::string(hot.uid))};
}

// Whose death it is if the process dies in it (see WorkScope), whatever becomes of the worker.
class PodWorkScope {
 public:
  explicit PodWorkScope(PodIdentity pod)
      : pod_(std::move(pod)), name_(pod_.ref.ToString()), scope_(name_, pod_.uid.value()) {}

 private:
  const PodIdentity pod_;
  const std::string name_;
  const WorkScope scope_;
};

struct WorkerFault {
  Error error;
  TimePoint at;
  TimePoint retry_at;
  uint32_t count = 0;  // in a row
};

// Where the time of a start went: from the word of its source until all containers were started
// once, and whoever looks at the API server can see it.
struct StartTimeline {
  TimePoint wished = {};
  TimePoint begun = {};  // admitted, and on its shard: from here on it is the worker's time
  std::optional<TimePoint> first_step = {};
  std::optional<TimePoint> prepared = {};
  std::optional<TimePoint> mounted = {};
  std::optional<TimePoint> sandbox = {};
  std::optional<TimePoint> images = {};             // the last one
  std::optional<TimePoint> started = {};            // the last container
  std::optional<TimePoint> told = {};               // the status that shows it has arrived
  std::array<Duration, kWaitForCount> waited = {};  // by what for
  uint32_t runtime_calls = 0;
  bool over = false;
};

// A printable picture of a worker.
struct WorkerReport {
  PodIdentity pod;
  Phase phase;
  std::string waits_for;
  TimePoint since;
  std::vector<std::string> calls;  // under way, with their age
  std::optional<WorkerFault> fault;
  std::vector<WorkerTransition> transitions;
  StartTimeline timeline;
};

class PodWorker {
 public:
  // `fresh_after`: what was seen until then may be older than calls of the worker before.
  PodWorker(WorkerHost& host, PodIdentity pod, uint64_t generation, Epoch fresh_after,
            TimePoint now);
  PodWorker(const PodWorker&) = delete;
  PodWorker& operator=(const PodWorker&) = delete;
  ~PodWorker();

  // Each is followed by a step, soon. Update: a wish that cannot be read leaves the one before.
  void Update(const PodWish& wish, TimePoint now);
  void AdoptOrphan(const ObservedPod& observed, TimePoint now);
  // Nobody wishes it, and as far as is known the runtime has nothing of it; the disk has.
  void AdoptLeftover(TimePoint now);
  void Kill(Ending ending, std::optional<int64_t> grace_seconds, TimePoint now);
  // The journal has it that this one ends for good.
  void EndRecorded() { facts_.end_record.state = WorkState::kDone; }
  std::optional<int64_t> grace_asked_for() const { return grace_asked_for_; }
  // See PodState::first_sandbox_attempt.
  void BeginSandboxesAt(uint32_t attempt) { state_.first_sandbox_attempt = attempt; }
  void SettleStatus() { facts_.status_settled = true; }
  void StartIsTold(TimePoint when) { timeline_.told = when; }
  void KeepLess(uint32_t per_container_max) { facts_.keep_max = per_container_max; }
  // True: something that failed may be tried again now.
  bool ObjectsChanged(TimePoint now);
  void VolumeNotRenewed(const VolumeFault& fault, TimePoint now);
  // Of its shard, for people: it could not be read; it did not end in time.
  void TellUnread(const Error& error);
  void TellOverdue();
  void VolumeRenewed(const std::string& volume, TimePoint now);
  void AllowRemoval() { facts_.removal_allowed = true; }
  void SetProbe(const std::string& container, uint32_t attempt, std::optional<ProbeResult> startup,
                std::optional<ProbeResult> liveness);
  void OnObserved(TimePoint now);
  // A hint came; `steps`: the worker is about to go on. True: it knows what the hint tells, or sees
  // to it that a read follows; false: read now.
  bool TakeHint(const PodHint& hint, bool steps, TimePoint now);
  // As TakeHint, for what a list shows.
  bool HoldList(Epoch epoch, const ListedPod* listed, bool steps, TimePoint now);
  // What looks at single objects have shown, where a list says that there is no more of the pod. As
  // of 0: they are newer than the list.
  std::optional<LookedPod> LookedLike(Epoch epoch, const ListedPod* listed) const;
  // A hint that it has taken, and that no look has covered yet.
  bool holds_hint() const { return held_hint_ != 0; }

  void Step(TimePoint now);

  const PodIdentity& pod() const { return pod_id_; }
  uint64_t generation() const { return generation_; }
  const kube::PodRef& wish() const { return pod_; }
  const PodState& state() const { return state_; }
  const PodPlan& plan() const { return plan_; }
  const PodLedger& ledger() const { return ledger_; }
  PodLedger& ledger_for_tests() { return ledger_; }
  const PodFacts& facts() const { return facts_; }
  const PodMemory& memory() const { return memory_; }
  const Wait& waits() const { return wait_; }
  TimePoint waits_since() const { return wait_since_; }
  const StartTimeline& timeline() const { return timeline_; }
  const std::optional<WorkerFault>& fault() const { return fault_; }
  // The newest wish cannot be read, and why: what was wished before goes on, if anything was.
  const std::optional<Error>& unreadable() const { return unreadable_; }
  bool is_orphan() const { return !pod_; }
  // The last of its sandboxes that may still turn up, whatever became of later tries of it.
  std::optional<uint32_t> LateSandbox() const;
  WorkClass work_class() const;
  // The observation that Decide sees: none until it is fresh enough.
  Observation Observe() const;
  std::vector<ContainerWaiting> Waiting(TimePoint now) const;
  // What the runtime has of it is known: it was looked at, or is new for certain.
  bool Known() const { return fresh_after_ == 0 || Observe().pod != nullptr; }
  const std::optional<Rejection>& rejected() const { return rejected_; }

  // Nothing is left to do, and nobody wishes it: the shard takes it away.
  bool gone() const { return nothing_left_ && wish_gone_; }
  bool nothing_left() const { return nothing_left_; }
  // Wished again meanwhile; begun by the shard when this one is gone.
  const std::optional<PodWish>& next_wish() const { return next_wish_; }
  // Its own calls explain why a list of this epoch differs from the picture. Null: it was not in
  // the list.
  bool ExpectsChange(Epoch epoch, const ListedPod* listed) const;

  WorkerReport Report(TimePoint now) const;

  // By the host.
  void OpBegan(OpToken op, OpGroup group) { ops_.push_back({op, group}); }
  void OpEnded(OpToken op) {
    std::erase_if(ops_, [op](const UnderWay& mine) { return mine.op == op; });
  }

  struct Faults {
    bool start_after_end = false;  // deletion does not keep what is planned from starting
    bool grace_grows = false;      // a new wish may lengthen the grace
    bool no_fresh_read = false;    // after a fault or a restart old observations count (5)
    bool passive_wait = false;     // a wait for fresher state begins no read (6)
    bool ignore_volumes = false;   // containers start before their volumes
    bool remove_early = false;     // what the status needs goes before it was acknowledged (14)
    bool stop_unrecorded = false;  // the journal is not waited for before containers are stopped
    bool hurry_on_hints = false;   // who was ever told of by an event has no grace left (12)
  };
  Faults& faults_for_tests() { return faults_; }

 private:
  struct UnderWay {
    OpToken op;
    OpGroup group;
  };

  // pod_worker.cc
  DecideInput Input(TimePoint now) const;
  std::string WhatItWaitsFor(TimePoint now) const;
  Status Perform(const Action& action, TimePoint now);
  Status Rest(const Wait& wait, TimePoint now);
  Status HasAnEnd(const Wait& wait) const;  // worker_reads.cc
  bool HasSeen(const PodHint& hint) const;  // worker_hints.cc, and what follows
  bool HasLost(Epoch epoch, const ListedPod& listed) const;
  bool HoldHint(const PodHint& hint, bool steps, TimePoint now);
  void SettleHint(TimePoint now);
  bool LookedSince(Epoch told) const;
  bool ChangedSinceLook(Epoch epoch, const ListedPod* listed) const;
  void RefreshReadState(TimePoint now);
  Status Enter(const EnterPhase& enter, TimePoint now);
  // `word` is never destroyed.
  void Note(TimePoint now, std::string_view word) { history_.Did(now, state_.phase, word); }
  void NoteText(TimePoint now, std::string text) {
    history_.Tell(now, state_.phase, std::move(text));
  }
  void Fail(const Error& error, TimePoint now);
  void CancelStarts();
  void Reject(const Rejection& rejection);
  void AdoptEnd(const EndRecord& record);
  void SetPlan(PodPlan plan);
  void NoteStartTime(const kube::core::Pod& pod, TimePoint now);
  void ShrinkGraceNow(std::optional<int64_t> asked_for);

  // worker_events.cc: what people are told. An empty container: of the pod as a whole.
  EventObject EventObjectOf(const std::string& container) const;
  void Tell(const std::string& container, EventType type, std::string_view reason,
            std::string message);
  // Of a start that failed by itself: what was given up because the pod ends is no failure.
  void TellFailure(const std::string& container, const Status& answer);
  // `volume`: whose image it is; empty: the container's own.
  void TellImage(const std::string& starting, const std::string& volume, const std::string& image,
                 const ImageOutcome& outcome);
  void TellStop(const ContainerEntry& entry);
  void TellWait(const Wait& wait);
  void TellBackOffs(const Wait& wait);
  void TellFailedKill();
  void TellHook(const HookOutcome& outcome);
  // One event for each volume, as upstream: with the first mended, nobody wants to learn of the
  // next.
  void TellUnmounted(const Result<MountedVolumes>& answer);
  void LogUnmounted(const Result<MountedVolumes>& answer, TimePoint now);
  void TellSandbox(const Error& error);
  void TellSandboxUnread(const Error& error);
  void TellEnd();
  void TellNotes(const std::vector<PodNote>& notes);

  // worker_calls.cc: one for each action.
  Status Begin(const Read& action, TimePoint now);
  Status Begin(const PreparePod& action, TimePoint now);
  Status Begin(const MountVolumes& action, TimePoint now);
  Status Begin(const RunSandbox& action, TimePoint now);
  Status Begin(const EnsureImages& action, TimePoint now);
  Status Begin(const CreateContainer& action, TimePoint now);
  Status Begin(const StartContainer& action, TimePoint now);
  Status Begin(const RunPostStart& action, TimePoint now);
  Status Begin(const StopContainers& action, TimePoint now);
  Status Begin(const StopSandboxes& action, TimePoint now);
  Status Begin(const Remove& action, TimePoint now);
  Status Begin(const RecordEnd& action, TimePoint now);
  Status Begin(const ReleasePod& action, TimePoint now);
  Status Begin(const RemoveLogs& action, TimePoint now);

  Status NotCreated(const std::string& name, uint32_t attempt, const Error& error,
                    std::string_view reason, TimePoint now);
  Status Create(const std::string& name, const CreateContainer& action, const ContainerSpec& spec,
                const SandboxSpec& sandbox, TimePoint now);
  Status StopOne(const ContainerStop& step, TimePoint now);
  Status StopSandboxNow(const SandboxId& id, TimePoint now);
  Status RemoveContainerNow(const ContainerId& id, KeepLogs logs, TimePoint now);
  void SendRemoval(const ContainerId& id, const std::string& name, uint32_t attempt, TimePoint now);
  Status RemoveSandboxNow(const SandboxId& id, TimePoint now);
  Status ReadSandboxNow(const SandboxId& id, TimePoint now);
  Status ReadContainerNow(const ContainerId& id, TimePoint now);

  // worker_images.cc. Shared by the images of one go; null: the pod names no secrets.
  using Keys = std::shared_ptr<const Result<Keyring>>;
  struct ImageErrand;
  void TakePullSecrets(const std::vector<std::pair<std::string, uint32_t>>& wanted,
                       const PullSecrets& secrets, TimePoint now);
  void EnsureImage(const EnsureImages::Item& item, const Keys& keys, TimePoint now);
  void EnsureNext(ImageErrand errand, TimePoint now);
  void TakeImage(ImageErrand errand, ImageOutcome outcome, TimePoint now);
  ImageFact* FactOf(const ImageErrand& errand);  // null: nobody waits for it any more
  // What is not begun need not be stopped.
  bool Ends() const { return starts_given_up_ || plan_.deleted || state_.ending || wish_gone_; }

  void EndCall(Call& call, const Status& answer, std::string_view reason, bool is_create,
               TimePoint now);
  void EndMount(const Result<MountedVolumes>& answer, TimePoint now);
  void EndWork(Work& work, const Status& answer, uint32_t& failures, TimePoint now);
  void ReadFailed(const Error& error, TimePoint now);
  Context WorkContext(OpToken op, TimePoint now, Duration limit);
  std::optional<uint32_t> AttemptOf(const SandboxId& id) const;
  const ObservedContainer* Observed(const ContainerId& id) const;
  std::vector<std::string> PodIps() const;

  WorkerHost& host_;
  const PodIdentity pod_id_;
  const std::shared_ptr<const ContextPod> context_pod_;  // shared with the contexts of its calls
  const uint64_t generation_;

  kube::PodRef pod_;  // the newest wish; empty: an orphan's
  PodPlan plan_;
  PodState state_;
  PodFacts facts_;
  PodMemory memory_;
  PodLedger ledger_;
  std::optional<Rejection> rejected_;
  std::optional<int64_t> grace_asked_for_;
  bool wish_gone_ = false;
  std::optional<PodWish> next_wish_;
  bool nothing_left_ = false;
  Epoch fresh_after_ = 0;  // older observations do not count
  Epoch noted_ = 0;        // the observation that memory and ledger know of

  Wait wait_;
  TimePoint wait_since_;
  std::vector<UnderWay> ops_;
  std::map<std::pair<std::string, uint32_t>, OpToken> stop_ops_;
  std::set<uint32_t> may_come_;  // sandboxes, by attempt: a run of theirs has an unknown outcome
  // A start of theirs has an unknown outcome, known since then; of this pod's few.
  std::map<ContainerId, Epoch> may_run_;
  uint32_t object_reads_ = 0;  // under way
  uint32_t read_failures_ = 0;
  uint32_t prepare_failures_ = 0;
  uint32_t mount_failures_ = 0;
  uint32_t release_failures_ = 0;
  uint32_t logs_failures_ = 0;
  std::optional<PodHint> held_;  // what waits for the end of what is under way
  bool was_hinted_ = false;      // ever; for a fault only
  Epoch held_hint_ = 0;          // when the newest of it came
  TimePoint held_until_ = {};

  std::optional<WorkerFault> fault_;
  std::optional<Error> unreadable_;                 // why the newest wish could not be read
  std::map<std::string, uint32_t> told_back_offs_;  // by container: how often it was made by then
  Epoch told_kill_ = 0;  // the last failure to stop something that was told
  // Since what is under way was asked for: its answer may be older than that.
  bool objects_changed_ = false;
  bool end_adopted_ = false;      // an agent before this one decided it, and told people
  bool starts_given_up_ = false;  // the pod ends: what was under way to start it was cancelled
  WorkerHistory history_;
  StartTimeline timeline_;
  Faults faults_;
  bool stepping_ = false;
};

// The legal moves: which actions may be begun in which phase.
bool IsLegal(Phase phase, const Action& action);
bool IsLegalMove(Phase from, Phase to);
std::string_view PhaseName(Phase phase);

template <class T, class Take>
void WorkerHost::Deliver(PodWorker& worker, Take& take, T answer) {
  const PodUid uid = worker.pod().uid;
  const PodWorkScope scope(worker.pod());
  take(worker, std::move(answer), ports().loop.Now());
  StepSoon(uid);
}

}  // namespace denselet::sync
