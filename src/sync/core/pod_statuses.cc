#include "sync/core/pod_statuses.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "sync/status/rejected_status.h"
#include "sync/status/seen_pod.h"
#include "sync/status/status_end.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

Error NotAStatus() { return Error(ErrorCode::kCorrupt, "not a pod's status"); }

Result<core::PodStatus> Parse(const std::string& bytes) {
  core::PodStatus status;
  if (!status.ParseFromString(bytes)) return NotAStatus();
  return status;
}

// Startup probes, as far as they have spoken about an instance that was seen.
std::vector<ProbedContainer> ProbesOf(const PodWorker& worker, const ObservedPod& seen) {
  std::vector<ProbedContainer> probes;
  for (const ObservedContainer& container : seen.containers) {
    const ContainerIndex index = worker.plan().Find(container.name);
    if (index == kNoContainer || index >= worker.facts().containers.size()) continue;
    const ContainerFacts& facts = worker.facts().containers[index];
    if (facts.startup == ProbeResult::kNone || facts.probed_attempt != container.attempt) continue;
    probes.push_back({.id = container.id, .startup = facts.startup});
  }
  return probes;
}

bool HasEnded(const kube::PodAtRest& pod) {
  const kube::PodPhase phase = pod.hot().phase;
  return phase == kube::PodPhase::kSucceeded || phase == kube::PodPhase::kFailed;
}

bool Runs(const ObservedPod& seen) {
  return std::ranges::any_of(seen.containers, [](const ObservedContainer& container) {
    return container.state == ContainerState::kRunning;
  });
}

// A post-start hook runs, or has failed, and its container has not stopped yet. A hook may outlive
// its container: then nobody waits for it.
bool HookHolds(const PodWorker& worker) {
  const LedgerView& ledger = worker.ledger().view();
  const auto has_hook = [](const ContainerEntry& entry) {
    return entry.post_start.state != CallState::kNone && !entry.post_start.done();
  };
  if (std::ranges::none_of(ledger.containers, has_hook)) return false;
  const ObservedPod seen = SeenPod(worker.Observe(), ledger);
  return std::ranges::any_of(ledger.containers, [&](const ContainerEntry& entry) {
    if (!has_hook(entry)) return false;
    const bool followed = std::ranges::any_of(seen.containers, [&](const ObservedContainer& c) {
      return c.name == entry.name && c.attempt > entry.attempt;
    });
    if (followed) return false;
    const auto found = std::ranges::find(seen.containers, entry.id, &ObservedContainer::id);
    // Nobody has looked at it since it began; that it has stopped, or is gone, is seen by a look.
    if (found == seen.containers.end()) return true;
    return found->state == ContainerState::kRunning ||
           (entry.post_start.in_flight() && found->state != ContainerState::kExited);
  });
}

// What had ended before us has ended in its own way; what ended since keeps when it began.
std::string GoingOnFrom(const core::PodStatus& shown, const std::string& ours, Finished finished) {
  Result<core::PodStatus> last = Parse(ours);
  if (finished == Finished::kNo || !last || IsTerminalPhase(shown.phase())) {
    return kube::EncodeWire(shown);
  }
  *last->mutable_starttime() = shown.starttime();
  return kube::EncodeWire(*last);
}

// A container's end was not told, and the runtime still knows it.
bool KnowsMore(const core::PodStatus& told, const ObservedPod& seen) {
  const auto ended = [&seen](const core::ContainerStatus& status) {
    if (status.state().has_terminated()) return false;
    return std::ranges::any_of(seen.containers, [&status](const ObservedContainer& container) {
      return container.name == status.name() && container.state == ContainerState::kExited;
    });
  };
  return std::ranges::any_of(told.containerstatuses(), ended) ||
         std::ranges::any_of(told.initcontainerstatuses(), ended) ||
         std::ranges::any_of(told.ephemeralcontainerstatuses(), ended);
}

// A pod that had ended before us, and nothing of it runs: all but the last word may be told.
std::string AsItWasTold(const core::Pod& pod, Finished finished) {
  if (finished == Finished::kNo) return kube::EncodeWire(pod.status());
  core::PodStatus last = pod.status();
  EndStatus(pod, last);
  return kube::EncodeWire(last);
}

}  // namespace

class PodStatuses::ParsedPods {
 public:
  // What a status is made of, besides the pod and the status before.
  struct Seen {
    ObservedPod pod = {};
    std::vector<ContainerWaiting> waiting = {};
    std::vector<ProbedContainer> probes = {};
    StatusNode node = {};
    Phase phase = Phase::kSyncing;
    std::optional<Ending> ending = {};
    Finished finished = Finished::kNo;

    friend bool operator==(const Seen&, const Seen&) = default;
  };
  struct Place {
    PodUid uid = {};
    kube::PodRef ref = {};  // that `pod` was read from
    core::Pod pod = {};
    std::string wire = {};  // of `status`
    core::PodStatus status = {};
    // That `status` was made of, for `ref`: of the same the same would be made again.
    std::optional<Seen> made_of = {};
  };

  Place& Of(const PodUid& uid) {
    for (Place& place : places_) {
      if (place.uid == uid) return place;
    }
    Place& place = places_[next_++ % kPlaces];
    place.uid = uid;
    place.ref = {};
    place.wire.clear();
    place.made_of.reset();
    return place;
  }

 private:
  static constexpr size_t kPlaces = 16;
  std::array<Place, kPlaces> places_ = {};
  size_t next_ = 0;
};

PodStatuses::PodStatuses(reactor::Loop& loop, const Logger& log, PodShard& pods,
                         PodStatusSink& sink)
    : loop_(loop), log_(log), pods_(pods), sink_(sink), parsed_(std::make_unique<ParsedPods>()) {}

PodStatuses::~PodStatuses() { *alive_ = false; }

void PodStatuses::ForgetParsed() { parsed_ = std::make_unique<ParsedPods>(); }

void PodStatuses::SetNode(const StatusNode& node) {
  if (node_ == node) return;
  node_ = node;
  for (auto& [uid, kept] : kept_) LineUp(uid, kept);
}

void PodStatuses::Changed(const PodUid& pod) { LineUp(pod, kept_[pod]); }

// A static pod may come back under its uid while its mirror is still there: its status goes on from
// what that shows.
void PodStatuses::Gone(const PodUid& pod) {
  const auto found = kept_.find(pod);
  if (found == kept_.end()) return;
  Kept& kept = found->second;
  if (kept.mirror.empty()) {
    kept_.erase(found);
  } else {
    const Result<core::PodStatus> last = Parse(kept.status);
    const bool goes_on = last && !IsTerminalPhase(last->phase());
    kept = {.status = goes_on ? std::move(kept.status) : "",
            .mirror = kept.mirror,
            .mirror_seen = true};
  }
  sink_.Forget(pod);
}

void PodStatuses::SetMirror(const PodUid& static_pod, const kube::PodRef& mirror) {
  if (!mirror) {
    const auto found = kept_.find(static_pod);
    if (found == kept_.end()) return;
    found->second.mirror.clear();
    if (pods_.Find(static_pod) == nullptr) kept_.erase(found);
    return;
  }
  Kept& kept = kept_[static_pod];
  kept.mirror = std::string(mirror->hot().uid);
  LineUp(static_pod, kept);
  if (std::exchange(kept.mirror_seen, true)) return;  // one that was made since shows what we told
  const Result<std::unique_ptr<core::Pod>> shown = mirror->Parse();
  if (!shown || !(*shown)->status().has_starttime()) return;  // it has no status of ours
  kept.status = GoingOnFrom((*shown)->status(), kept.status, kept.finished);
}

std::string_view PodStatuses::StatusOf(const PodUid& pod) const {
  const auto found = kept_.find(pod);
  return found == kept_.end() ? std::string_view() : std::string_view(found->second.status);
}

void PodStatuses::LineUp(const PodUid& pod, Kept& kept) {
  if (std::exchange(kept.in_line, true)) return;
  line_.push_back(pod);
  if (std::exchange(turn_posted_, true)) return;
  loop_.Post([this, alive = alive_] {
    if (*alive) Turn();
  });
}

void PodStatuses::Turn() {
  turn_posted_ = false;
  const reactor::ActivityScope scope(loop_.activity(), "pod statuses");
  for (size_t i = 0; i < kBuildsPerTurnMax && !line_.empty(); ++i) {
    const PodUid pod = std::move(line_.front());
    line_.pop_front();
    const auto found = kept_.find(pod);
    if (found == kept_.end() || !std::exchange(found->second.in_line, false)) continue;
    Make(pod, found->second);
  }
  if (line_.empty() || std::exchange(turn_posted_, true)) return;
  loop_.Post([this, alive = alive_] {
    if (*alive) Turn();
  });
}

void PodStatuses::Make(const PodUid& pod, Kept& kept) {
  const PodWorker* const worker = pods_.Find(pod);
  if (!node_ || worker == nullptr || !worker->wish()) return;
  const PodWorkScope scope(worker->pod());
  if (!worker->rejected() && !worker->Known()) return;  // a look at the runtime is on its way
  const Phase phase = worker->state().phase;
  // A container counts as started when its hook has ended. As with the kubelet, which tells nothing
  // of a pod while it runs one, the status before stays until then.
  if (phase == Phase::kSyncing && HookHolds(*worker)) return;
  const bool quiet = phase >= Phase::kTerminated || worker->rejected();
  const MayRun may_run = quiet || faults_.finish_early ? MayRun::kNo : MayRun::kYes;
  const Finished finished =
      phase == Phase::kFinished || (faults_.finish_early && phase != Phase::kSyncing)
          ? Finished::kYes
          : Finished::kNo;
  if (kept.finished == Finished::kYes && kept.generation == worker->generation()) {
    kept.pod = worker->wish();  // it may be to go by now
    if (kept.mirror != kept.told_mirror) Tell(kept);
    return AllowRemovalOf(pod, kept);
  }
  if (EndIsTold(*worker, kept)) {
    const bool same = worker->wish() == kept.pod && kept.mirror == kept.told_mirror;
    kept.pod = worker->wish();
    if (!same) Tell(kept);
    return;
  }
  if (kept.version == 0) kept.taken_over = HasEnded(*worker->wish());
  Result<std::string> status = Build(*worker, kept, finished);
  if (!status) {
    if (!std::exchange(kept.refused, true)) {
      log_.Error(status.error(), "A pod's status could not be made; the one before stays",
                 Pod(worker->pod().ref), Uid(pod));
    }
    return;
  }
  kept.refused = false;
  kept.generation = worker->generation();
  kept.end_told.reset();
  if (phase == Phase::kTerminating) kept.end_told = worker->wish()->hot().generation;
  const bool same = kept.version != 0 && *status == kept.status && may_run == kept.may_run &&
                    finished == kept.finished && worker->wish() == kept.pod &&
                    kept.mirror == kept.told_mirror;
  if (!same) {
    kept.status = *std::move(status);
    kept.may_run = may_run;
    kept.finished = finished;
    kept.pod = worker->wish();
    Tell(kept);
  }
  NoteStart(*worker, kept);
  AllowRemovalOf(pod, kept);
}

void PodStatuses::NoteStart(const PodWorker& worker, Kept& kept) {
  const bool up = worker.timeline().over && worker.state().phase == Phase::kSyncing;
  if (kept.start_told || kept.version == 0 || !up) return;
  if (kept.shows_start == 0) kept.shows_start = kept.version;
  if (kept.settled < kept.shows_start) return;
  kept.start_told = true;
  pods_.StartIsTold(worker.pod().uid, kept.settled_at);
}

// As the kubelet does it: that a pod ends is told when it begins, and again when all has stopped;
// not how far it is, unless somebody asks for another end meanwhile.
bool PodStatuses::EndIsTold(const PodWorker& worker, const Kept& kept) const {
  return worker.state().phase == Phase::kTerminating && !faults_.finish_early &&
         kept.generation == worker.generation() && kept.end_told == worker.wish()->hot().generation;
}

void PodStatuses::Tell(Kept& kept) {
  kept.version = next_version_++;
  kept.told_mirror = kept.mirror;
  sink_.SetStatus({.pod = kept.pod,
                   .status = kept.status,
                   .version = kept.version,
                   .may_run = kept.may_run,
                   .finished = kept.finished,
                   .mirror = kept.mirror});
}

Result<std::string> PodStatuses::Build(const PodWorker& worker, Kept& kept,
                                       Finished finished) const {
  ParsedPods::Place& place = parsed_->Of(worker.pod().uid);
  core::Pod& pod = place.pod;
  if (place.ref != worker.wish()) {
    place.ref = {};
    place.made_of.reset();
    if (const Status read = worker.wish()->ParseInto(pod); !read) return read.error();
    place.ref = worker.wish();
  }
  core::PodStatus& before = place.status;
  const bool has_before = !kept.status.empty() && !faults_.forget_before;
  if (has_before && kept.status != place.wire) {
    place.wire.clear();
    place.made_of.reset();
    if (!before.ParseFromString(kept.status)) return NotAStatus();
    place.wire = kept.status;
  }
  const WallTime now = loop_.WallNow();
  if (worker.rejected()) {
    return kube::EncodeWire(
        RejectedStatus(pod, has_before ? before : pod.status(), *worker.rejected(), now));
  }
  ParsedPods::Seen now_seen{.pod = SeenPod(worker.Observe(), worker.ledger().view()),
                            .waiting = worker.Waiting(loop_.Now()),
                            .node = *node_,
                            .phase = worker.state().phase,
                            .ending = worker.state().ending,
                            .finished = finished};
  const ObservedPod& seen = now_seen.pod;
  now_seen.probes = ProbesOf(worker, seen);
  if (kept.taken_over && (Runs(seen) || KnowsMore(pod.status(), seen))) kept.taken_over = false;
  if (kept.taken_over) return AsItWasTold(pod, finished);
  // Most of what happens to a pod does not show: then nothing is made, compared or encoded.
  if (has_before && place.made_of == now_seen) return kept.status;
  place.made_of.reset();
  // An agent before us was told that a static pod had ended, and begun anew under its uid; the
  // mirror does not show that yet.
  if (has_before && worker.wish()->hot().IsStatic() && Runs(seen) &&
      worker.state().phase == Phase::kSyncing && IsTerminalPhase(before.phase())) {
    const kube::meta::Time began = before.starttime();
    place.wire.clear();
    before.Clear();
    *before.mutable_starttime() = began;
  }
  const Phase phase = worker.state().phase;
  Result<core::PodStatus> status =
      BuildPodStatus({.pod = pod,
                      .plan = worker.plan(),
                      .before = has_before ? &before : nullptr,
                      .seen = seen,
                      .waiting = now_seen.waiting,
                      .probes = now_seen.probes,
                      .node = *node_,
                      .ending = worker.state().ending,
                      .disruption = worker.state().ending ? worker.state().ending->disruption : "",
                      .ends = phase == Phase::kTerminated || phase == Phase::kFinished,
                      .finished = finished,
                      .now = now});
  if (!status) return status.error();
  std::string wire = kube::EncodeWire(*status);
  place.wire.clear();
  place.status = std::move(*status);
  place.wire = wire;
  place.made_of = std::move(now_seen);
  return wire;
}

void PodStatuses::OnStatusSettled(const PodUid& pod, uint64_t version) {
  const auto found = kept_.find(pod);
  if (found == kept_.end()) return;
  Kept& kept = found->second;
  if (version > kept.settled) kept.settled_at = loop_.Now();
  kept.settled = std::max(kept.settled, version);
  if (const PodWorker* const worker = pods_.Find(pod)) NoteStart(*worker, kept);
  AllowRemovalOf(pod, kept);
}

// The objects of a pod that nobody deleted stay, but for what is too much of them: people read its
// logs. Not of one that was evicted: its room is wanted.
void PodStatuses::AllowRemovalOf(const PodUid& pod, const Kept& kept) {
  const bool settled = kept.settled >= kept.version || faults_.allow_unsettled;
  if (kept.version == 0 || kept.finished == Finished::kNo || !settled) return;
  const PodWorker* const worker = pods_.Find(pod);
  if (worker == nullptr) return;
  if (worker->generation() == kept.generation) pods_.SettleStatus(pod);
  const bool evicted =
      worker->state().ending && worker->state().ending->reason == EndReason::kKilled;
  if (kept.pod->hot().deletion_time || evicted) pods_.AllowRemoval(pod);
}

}  // namespace denselet::sync
