#include "sync/pod_worker/pod_worker.h"

#include <algorithm>
#include <utility>

#include "kube/api/types.h"

namespace denselet::sync {
namespace {

constexpr Duration kFaultPauseMin = Seconds(1);
constexpr Duration kFaultPauseMax = Minutes(5);
constexpr Duration kFaultForgotten = 2 * kFaultPauseMax;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

class ScopedFlag {
 public:
  explicit ScopedFlag(bool& flag) : flag_(flag) { flag_ = true; }
  ~ScopedFlag() { flag_ = false; }

 private:
  bool& flag_;
};

// Whoever decides that has looked at the pod, and later than at what its worker was begun with:
// words of the runtime about a sandbox or a container are never enough (invariants 5 and 13).
bool MakesSomething(const Action& action) {
  return std::holds_alternative<RunSandbox>(action) ||
         std::holds_alternative<CreateContainer>(action) ||
         std::holds_alternative<StartContainer>(action);
}

}  // namespace

std::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kSyncing:
      return "syncing";
    case Phase::kTerminating:
      return "terminating";
    case Phase::kTerminated:
      return "terminated";
    case Phase::kFinished:
      return "finished";
  }
  return "";
}

bool IsLegalMove(Phase from, Phase to) {
  return static_cast<int>(to) == static_cast<int>(from) + 1;
}

bool IsLegal(Phase phase, const Action& action) {
  const bool starts = phase == Phase::kSyncing;
  return std::visit(
      Overloaded{
          [](const Wait&) { return true; },
          [](const Read&) { return true; },
          [starts](const PreparePod&) { return starts; },
          [starts](const MountVolumes&) { return starts; },
          [starts](const RunSandbox&) { return starts; },
          [starts](const EnsureImages&) { return starts; },
          [starts](const CreateContainer&) { return starts; },
          [starts](const StartContainer&) { return starts; },
          [starts](const RunPostStart&) { return starts; },
          // Late effects of calls that were given up can show at any time.
          [](const StopContainers&) { return true; },
          [](const StopSandboxes&) { return true; },
          [](const Remove&) { return true; },
          [phase](const EnterPhase& enter) { return IsLegalMove(phase, enter.phase); },
          [phase](const RecordEnd&) { return phase == Phase::kTerminating; },
          [phase](const ReleasePod&) { return phase == Phase::kTerminated; },
          [phase](const RemoveLogs&) { return phase == Phase::kFinished; },
          [phase](const Nothing&) { return phase == Phase::kFinished; },
      },
      action);
}

PodWorker::PodWorker(WorkerHost& host, PodIdentity pod, uint64_t generation, Epoch fresh_after,
                     TimePoint now)
    : host_(host),
      pod_id_(std::move(pod)),
      context_pod_(std::make_shared<const ContextPod>(ContextPod{pod_id_.ref, pod_id_.uid})),
      generation_(generation),
      fresh_after_(fresh_after),
      wait_since_(now) {
  plan_.pod = pod_id_;
  timeline_.wished = timeline_.begun = now;
  Note(now, "began");
}

PodWorker::~PodWorker() {
  for (const UnderWay& mine : std::vector(ops_)) host_.Abandon(mine.op);
}

void PodWorker::SetPlan(PodPlan plan) {
  std::vector<ContainerFacts> facts(plan.containers.size());
  for (size_t i = 0; i < plan.containers.size(); ++i) {
    const ContainerIndex before = plan_.Find(plan.containers[i].name);
    if (before == kNoContainer || before >= facts_.containers.size()) continue;
    facts[i] = std::move(facts_.containers[before]);
    // Another image is another question.
    if (plan_.containers[before].image != plan.containers[i].image) facts[i].image = {};
  }
  facts_.containers = std::move(facts);
  plan_ = std::move(plan);
}

void PodWorker::ShrinkGraceNow(std::optional<int64_t> asked_for) {
  if (asked_for && (!grace_asked_for_ || *asked_for < *grace_asked_for_)) {
    grace_asked_for_ = asked_for;
  }
  if (state_.phase != Phase::kTerminating) return;
  const int64_t before = state_.grace_seconds;
  state_.grace_seconds = ShrinkGrace(faults_.grace_grows ? 0 : before, plan_, grace_asked_for_);
}

void PodWorker::Update(const PodWish& wish, TimePoint now) {
  if (wish.kind == WishKind::kGone) {
    wish_gone_ = true;
    next_wish_.reset();
    // Nobody will ever read its status.
    facts_.removal_allowed = true;
    if (!state_.ending) state_.ending = Ending{.reason = EndReason::kDeleted};
    return Note(now, "the wish is gone");
  }
  if (wish_gone_ || (is_orphan() && state_.ending)) {
    // The same uid again, while the one before still ends.
    next_wish_ = wish;
    return Note(now, "wished again");
  }
  const Result<std::unique_ptr<kube::core::Pod>> parsed = wish.pod->Parse();
  Result<PodPlan> plan = parsed ? MakePodPlan(**parsed) : Result<PodPlan>(parsed.error());
  if (!plan) {
    unreadable_ = plan.error();
    NoteText(now, "a wish cannot be read: " + plan.error().message());
    return host_.OnWorkerFault(*this, plan.error());
  }
  unreadable_.reset();
  if (!pod_ && wish.wished_at) timeline_.wished = std::min(*wish.wished_at, timeline_.begun);
  pod_ = wish.pod;
  // What its volumes tell of it follows, as long as they are there.
  if (facts_.volumes.state != WorkState::kNone && !state_.ending) {
    host_.ports().resources.Changed(pod_);
  }
  NoteStartTime(**parsed, now);
  SetPlan(*std::move(plan));
  if (wish.rejected) Reject(*wish.rejected);
  if (wish.ended) AdoptEnd(*wish.ended);
  ShrinkGraceNow(std::nullopt);
  Note(now, rejected_ ? "rejected" : plan_.deleted ? "to be deleted" : "wished");
}

void PodWorker::Reject(const Rejection& rejection) {
  if (state_.ending) return;
  rejected_ = rejection;
  state_.ending = Ending{.reason = EndReason::kKilled,
                         .outcome = PodOutcome::kFailed,
                         .status_reason = rejection.reason,
                         .status_message = rejection.message};
  EndRecorded();  // with the rejection
}

// Decided before this worker began, or on its way to it by another road; then the journal may not
// have it yet, and is asked.
void PodWorker::AdoptEnd(const EndRecord& record) {
  if (state_.ending) return;
  state_.ending = record.ending;
  end_adopted_ = record.from_journal;
  ShrinkGraceNow(record.grace_seconds);
}

// activeDeadlineSeconds counts from status.startTime, which outlives the agent; on our own clock
// from here on.
void PodWorker::NoteStartTime(const kube::core::Pod& pod, TimePoint now) {
  if (state_.active_since) return;
  Duration ago = Duration::zero();
  if (pod.status().has_starttime()) {
    const Timestamp start{.seconds = pod.status().starttime().seconds(), .nanos = 0};
    ago = std::max(host_.ports().loop.WallNow() - ToWallTime(start), Duration::zero());
  }
  state_.active_since = After(now, -ago);
}

void PodWorker::AdoptOrphan(const ObservedPod& observed, TimePoint now) {
  SetPlan(PlanOfOrphan(observed));
  wish_gone_ = true;
  facts_.removal_allowed = true;
  state_.ending = Ending{.reason = EndReason::kOrphan};
  ShrinkGraceNow(1);
  Note(now, "found in the runtime and wished by nobody");
}

void PodWorker::AdoptLeftover(TimePoint now) {
  AdoptOrphan({.pod = pod_id_}, now);
  facts_.leftover = true;
}

void PodWorker::Kill(Ending ending, std::optional<int64_t> grace_seconds, TimePoint now) {
  if (!state_.ending) state_.ending = std::move(ending);
  ShrinkGraceNow(grace_seconds);
  Note(now, "to be killed");
}

void PodWorker::SetProbe(const std::string& container, uint32_t attempt,
                         std::optional<ProbeResult> startup, std::optional<ProbeResult> liveness) {
  const ContainerIndex index = plan_.Find(container);
  if (index == kNoContainer) return;
  ContainerFacts& facts = facts_.containers[index];
  if (facts.probed_attempt != attempt) {
    facts.startup = ProbeResult::kNone;
    facts.liveness = ProbeResult::kNone;
  }
  facts.probed_attempt = attempt;
  if (startup) facts.startup = *startup;
  if (liveness) facts.liveness = *liveness;
}

WorkClass PodWorker::work_class() const {
  if (pod_ && (pod_->hot().IsStatic() || pod_->hot().priority.value_or(0) >= 2'000'000'000)) {
    return WorkClass::kCritical;
  }
  const bool finished = state_.phase == Phase::kFinished;
  const bool ends = state_.phase != Phase::kSyncing || state_.ending || plan_.deleted;
  if (ends && !finished) return WorkClass::kEnd;
  return timeline_.over ? WorkClass::kSteady : WorkClass::kStart;
}

Observation PodWorker::Observe() const {
  const StoredPod* stored = host_.ports().store.Find(pod_id_.uid);
  if (stored == nullptr || stored->read == 0) return {};
  if (stored->as_of <= fresh_after_ && !faults_.no_fresh_read) return {};
  return {.pod = &stored->pod, .epoch = stored->as_of};
}

DecideInput PodWorker::Input(TimePoint now) const {
  return {.plan = plan_,
          .state = state_,
          .observation = Observe(),
          .ledger = ledger_.view(),
          .facts = facts_,
          .memory = memory_,
          .node = host_.ports().node,
          .now = now,
          .wall_now = host_.ports().loop.WallNow()};
}

std::vector<ContainerWaiting> PodWorker::Waiting(TimePoint now) const {
  return WaitingReasons(Input(now));
}

void PodWorker::OnObserved(TimePoint now) {
  const Observation observation = Observe();
  if (observation.pod == nullptr) return;
  noted_ = observation.epoch;
  // What was seen before the container was made does not say that it is gone.
  std::erase_if(may_run_, [this, &observation](const auto& start) {
    const ObservedContainer* seen = Observed(start.first);
    if (seen == nullptr) return observation.epoch > start.second;
    return seen->state != ContainerState::kCreated;
  });
  for (const ObservedSandbox& sandbox : observation.pod->sandboxes) {
    may_come_.erase(sandbox.attempt);
  }
  memory_.NoteObserved(*observation.pod, now);
  ledger_.Prune(*observation.pod, observation.epoch);
}

std::optional<uint32_t> PodWorker::LateSandbox() const {
  const std::optional<uint32_t> late = ledger_.LateSandbox();
  if (may_come_.empty()) return late;
  return std::max(late.value_or(0), *may_come_.rbegin());
}

void PodWorker::RefreshReadState(TimePoint now) {
  const PodReader& reader = host_.ports().reader;
  LedgerView& view = ledger_.view();
  view.read_in_flight = object_reads_ > 0 || reader.Covers(pod_id_.uid, fresh_after_) ||
                        reader.IsReading(pod_id_.uid);
  if (faults_.passive_wait) view.read_in_flight = true;
  const TimePoint retry_at = reader.RetryAt(pod_id_.uid);
  if (retry_at <= now) return;
  view.read_retry_at = retry_at;
  if (const PodReadHealth* const health = reader.Health(pod_id_.uid)) {
    view.read_failure = health->last_error;
  }
}

void PodWorker::Step(TimePoint now) {
  CHECK(!stepping_);  // callbacks are posted, never re-entered
  const ScopedFlag guard(stepping_);
  const PodWorkScope scope(pod_id_);
  if (!timeline_.first_step) timeline_.first_step = now;
  nothing_left_ = false;
  // Nothing of the wish can be read yet: there is no plan to follow.
  if (!pod_ && !state_.ending) return;
  if (fault_ && fault_->retry_at > now) return host_.WakeAt(pod_id_.uid, fault_->retry_at);
  // A list may have proved that what was seen before our time still holds.
  if (Observe().epoch != noted_) OnObserved(now);
  for (int i = 0; i < kStepsPerTurnMax; ++i) {
    RefreshReadState(now);
    if (faults_.remove_early) facts_.removal_allowed = true;
    if (faults_.stop_unrecorded) facts_.end_record.retry_at = now;
    if (faults_.ignore_volumes) facts_.volumes.state = WorkState::kDone;
    PodState seen = state_;
    if (faults_.start_after_end && pod_ && state_.phase == Phase::kTerminating) {
      seen.phase = Phase::kSyncing;
      seen.ending.reset();
    }
    if (faults_.hurry_on_hints && was_hinted_) seen.kill_began = now - Hours(1);
    const Decision decision = Decide({.plan = plan_,
                                      .state = seen,
                                      .observation = Observe(),
                                      .ledger = ledger_.view(),
                                      .facts = facts_,
                                      .memory = memory_,
                                      .node = host_.ports().node,
                                      .now = now,
                                      .wall_now = host_.ports().loop.WallNow()});
    host_.OnWorkerDecided(*this, decision);
    if (decision.cancel_starts) CancelStarts();
    const Status done = Perform(decision.action, now);
    if (!done) return Fail(done.error(), now);
    if (nothing_left_ || std::holds_alternative<Wait>(decision.action)) return;
  }
  host_.StepSoon(pod_id_.uid);  // fairness: let other pods run
}

Status PodWorker::Perform(const Action& action, TimePoint now) {
  ENSURE(IsLegal(state_.phase, action) || faults_.start_after_end,
         "an action that is not legal in this phase");
  ENSURE(!MakesSomething(action) || Observe().pod != nullptr, "something is made without a look");
  if (!std::holds_alternative<Wait>(action)) Note(now, ActionName(action));
  return std::visit(Overloaded{
                        [this, now](const Wait& wait) { return Rest(wait, now); },
                        [this, now](const EnterPhase& enter) { return Enter(enter, now); },
                        [this](const Nothing&) {
                          nothing_left_ = true;
                          wait_ = {};
                          return Ok();
                        },
                        [this, now](const auto& other) { return Begin(other, now); },
                    },
                    action);
}

Status PodWorker::Enter(const EnterPhase& enter, TimePoint now) {
  if (enter.phase == Phase::kTerminating) {
    if (enter.ending && !state_.ending) state_.ending = enter.ending;
    ENSURE(state_.ending.has_value(), "a pod that ends for no reason");
    TellEnd();
  }
  if (enter.phase == Phase::kTerminated && !faults_.start_after_end) {
    ENSURE(ledger_.Unresolved(Observe().epoch) == 0, "something may still come to life");
  }
  if (enter.phase == Phase::kTerminated && facts_.end_record.state == WorkState::kInProgress) {
    host_.ports().log.Error("A pod was ended and the journal does not have it yet",
                            Pod(pod_id_.ref), Uid(pod_id_.uid));
  }
  state_.phase = enter.phase;
  ShrinkGraceNow(std::nullopt);
  ENSURE(enter.phase != Phase::kTerminating || state_.grace_seconds >= 1, "a grace below 1");
  timeline_.over = true;
  Note(now, PhaseName(enter.phase));
  host_.OnWorkerChanged(*this);
  return Ok();
}

// Every wait names what ends it: a call under way, a read, or a time (invariant 6).
Status PodWorker::Rest(const Wait& wait, TimePoint now) {
  if (Status ends = HasAnEnd(wait); !ends) return ends;
  const Wait before = std::exchange(wait_, wait);
  if (wait.what != before.what || wait.container != before.container) {
    if (!timeline_.over) {
      timeline_.waited[static_cast<size_t>(before.what)] += now - wait_since_;
    }
    wait_since_ = now;
    history_.WaitsFor(now, state_.phase, WaitName(wait.what));
    TellWait(wait);
    host_.OnWorkerChanged(*this);
  }
  TellBackOffs(wait);
  TellFailedKill();
  if (wait.what == WaitFor::kChange && state_.phase == Phase::kSyncing && ops_.empty()) {
    timeline_.over = true;
  }
  SettleHint(now);
  if (wait.until != kNever) host_.WakeAt(pod_id_.uid, std::max(wait.until, now));
  return Ok();
}

void PodWorker::CancelStarts() {
  starts_given_up_ = true;
  for (const UnderWay& mine : std::vector(ops_)) {
    if (mine.group == OpGroup::kStarts) host_.Cancel(mine.op);
  }
}

// Only this pod suffers: it begins again from what a read will show.
void PodWorker::Fail(const Error& error, TimePoint now) {
  for (const UnderWay& mine : std::vector(ops_)) host_.Abandon(mine.op);
  ops_.clear();
  stop_ops_.clear();
  object_reads_ = 0;
  ledger_ = PodLedger();
  facts_.prepare = {};
  facts_.volumes = {};
  facts_.release = {};
  facts_.logs = {};
  for (ContainerFacts& facts : facts_.containers) facts.image = {};
  held_hint_ = 0;
  held_.reset();
  fresh_after_ = host_.ports().epochs.Next();
  const bool again = fault_ && now - fault_->at <= kFaultForgotten;
  const uint32_t count = again ? fault_->count + 1 : 1;
  const Duration pause =
      std::min(kFaultPauseMin * (1 << std::min<uint32_t>(count - 1, 10)), kFaultPauseMax);
  fault_ = WorkerFault{error, now, After(now, host_.ports().random.Jitter(pause, 0.2)), count};
  NoteText(now, "fault: " + error.message());
  host_.OnWorkerFault(*this, error);
  host_.WakeAt(pod_id_.uid, fault_->retry_at);
}

std::string PodWorker::WhatItWaitsFor(TimePoint now) const {
  if (nothing_left_) return "nothing: all is done";
  if (unreadable_ && !pod_ && !state_.ending) {
    return "a form of the pod that can be read: " + unreadable_->message();
  }
  return Describe(Decision{.action = wait_}, plan_, now);
}

WorkerReport PodWorker::Report(TimePoint now) const {
  WorkerReport report{.pod = pod_id_,
                      .phase = state_.phase,
                      .waits_for = WhatItWaitsFor(now),
                      .since = wait_since_,
                      .calls = {},
                      .fault = fault_,
                      .transitions = history_.All(),
                      .timeline = timeline_};
  const auto add = [&report, now](std::string_view what, const std::string& name,
                                  const Call& call) {
    if (!call.in_flight()) return;
    report.calls.push_back(std::string(what) + " " + name + " for " +
                           FormatDuration(now - call.began));
  };
  for (const SandboxEntry& entry : ledger_.view().sandboxes) {
    const std::string name = std::to_string(entry.attempt);
    add("run sandbox", name, entry.run);
    add("stop sandbox", name, entry.stop);
    add("remove sandbox", name, entry.remove);
  }
  for (const ContainerEntry& entry : ledger_.view().containers) {
    add("create", entry.name, entry.create);
    add("start", entry.name, entry.start);
    add("postStart", entry.name, entry.post_start);
    add("preStop", entry.name, entry.pre_stop);
    add("stop", entry.name, entry.stop);
    add("remove", entry.name, entry.remove);
  }
  return report;
}

}  // namespace denselet::sync
