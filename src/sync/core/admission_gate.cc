#include "sync/core/admission_gate.h"

#include <algorithm>
#include <utility>

namespace denselet::sync {
namespace {

bool IsEnding(const kube::PodRef& pod) {
  const kube::PodHotFields& hot = pod->hot();
  return hot.deletion_time || hot.phase == kube::PodPhase::kSucceeded ||
         hot.phase == kube::PodPhase::kFailed;
}

bool IsDead(const ListedPod& pod) {
  return std::ranges::none_of(
             pod.sandboxes,
             [](const ListedSandbox& sandbox) { return sandbox.state == SandboxState::kReady; }) &&
         std::ranges::all_of(pod.containers, [](const ListedContainer& container) {
           return container.state == ContainerState::kExited;
         });
}

PodWish AsAdded(PodWish wish) {
  return {.kind = WishKind::kAdd, .pod = std::move(wish.pod), .wished_at = wish.wished_at};
}

}  // namespace

AdmissionGate::AdmissionGate(reactor::Loop& loop, AdmissionDesk& desk, GatedShards& shards,
                             uint32_t shard_count, AdmissionGateUser& user)
    : loop_(loop), desk_(desk), shards_(shards), shard_count_(shard_count), user_(user) {}

AdmissionGate::~AdmissionGate() { loop_.Disarm(timer_); }

void AdmissionGate::OnJournalRead() {
  journal_read_ = true;
  for (const PodUid& pod : std::exchange(released_early_, {})) desk_.Release(pod);
  for (const PodUid& pod : std::exchange(gone_early_, {})) desk_.ends().Forget(pod);
  for (const auto& [pod, gone] : std::exchange(ending_early_, {})) Ends(pod, gone);
  for (const PodIdentity& pod : desk_.Unclaimed()) unclaimed_.insert(pod.uid);
  OpenIfAll();
}

void AdmissionGate::OnNodeKnown() {
  node_known_ = true;
  OpenIfAll();
}

void AdmissionGate::OnListed(uint32_t shard, const std::vector<ListedPod>& pods) {
  std::set<PodUid>& running = running_[shard];
  running.clear();
  for (const ListedPod& pod : pods) {
    running.insert(pod.pod.uid);
    if (!open_ && IsDead(pod)) dead_.insert(pod.pod.uid);
  }
  if (!open_) return OpenIfAll();
  ReleaseUnclaimed(shard);
}

void AdmissionGate::OpenIfAll() {
  if (open_ || !journal_read_ || !node_known_ || running_.size() < shard_count_) return;
  open_ = true;
  for (const auto& [shard, pods] : running_) adoptable_.insert(pods.begin(), pods.end());
  TryAgain();
  ReleaseAllUnclaimed();
}

void AdmissionGate::OnSpoken(SourceSet sources) {
  spoken_ = sources;
  ReleaseAllUnclaimed();
}

Status AdmissionGate::Wish(uint32_t shard, PodWish wish) {
  const PodUid uid = IdentityOf(wish.pod).uid;
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return Begin(uid, shard, std::move(wish));
  Entry& entry = found->second;
  const bool gone = wish.kind == WishKind::kGone;
  // The room that it has counts no more from now on, whether or not its shard can hear of it.
  if (gone && entry.stage != Stage::kLeaving) Ends(uid, gone);
  switch (entry.stage) {
    case Stage::kAsking:
    case Stage::kForwarding: {
      if (!gone && !IsEnding(wish.pod)) {
        const std::optional<TimePoint> first = entry.wish ? entry.wish->wished_at : wish.wished_at;
        entry.wish = AsAdded(std::move(wish));
        entry.wish->wished_at = first;
        return Ok();
      }
      // Nobody needs the answer any more.
      Status passed = Pass(entry, std::move(wish), gone ? Stage::kLeaving : Stage::kForwarded);
      if (!passed) return passed;
      LeaveLine(uid);
      // What was decided, by an agent before this one or just now, is given back when its worker
      // says that it has stopped.
      if (entry.asked && !desk_.IsDecided(uid)) {
        Release(uid);
      } else if (!gone) {
        Ends(uid, gone);
      }
      return passed;
    }
    case Stage::kForwarded: {
      if (faults_.release_early && (gone || IsEnding(wish.pod))) Release(uid);
      return Pass(entry, std::move(wish), gone ? Stage::kLeaving : Stage::kForwarded);
    }
    case Stage::kLeaving:
      // From now on it has a worker that tells when it is gone, whatever becomes of the orphan's.
      if (gone && entry.behind_orphan) {
        Status passed = Pass(entry, std::move(wish), Stage::kLeaving);
        if (passed) entry.behind_orphan = false;
        return passed;
      }
      entry.wish.reset();
      if (!gone) entry.wish = AsAdded(std::move(wish));
      return Ok();
  }
  return Ok();
}

Status AdmissionGate::Begin(const PodUid& pod, uint32_t shard, PodWish wish) {
  const bool gone = wish.kind == WishKind::kGone;
  if (gone || IsEnding(wish.pod)) {
    Entry entry{.shard = shard};
    Status passed = Pass(entry, std::move(wish), gone ? Stage::kLeaving : Stage::kForwarded);
    if (passed) {
      pods_.emplace(pod, std::move(entry));
      Ends(pod, gone);
    }
    return passed;
  }
  const bool left_alone = IsLeftAlone(pod);
  Entry& entry = pods_[pod];
  if (left_alone) {
    entry = {.shard = shard,
             .stage = Stage::kLeaving,
             .behind_orphan = true,
             .wish = AsAdded(std::move(wish))};
    return Ok();
  }
  entry = {.shard = shard, .wish = AsAdded(std::move(wish))};
  if (open_ && again_.empty()) {
    Ask(pod, entry);
  } else {
    LineUp(pod);
  }
  return Ok();
}

// What it has is given back when its worker says that it has stopped; if its source has dropped it,
// the room it has counts no more from now on. The journal may still tell of it.
void AdmissionGate::Ends(const PodUid& pod, bool gone) {
  if (!journal_read_) {
    ending_early_[pod] = gone;
  } else if (gone && !faults_.keep_room) {
    desk_.Leave(pod);
  } else {
    desk_.Claim(pod);
  }
}

Status AdmissionGate::Pass(Entry& entry, PodWish wish, Stage then) {
  wish.rejected = entry.rejected;
  const EndRecord* const end = desk_.ends().Find(IdentityOf(wish.pod).uid);
  if (end != nullptr && wish.kind != WishKind::kGone) wish.ended = *end;
  Status passed = shards_.Wish(entry.shard, std::move(wish));
  if (passed) {
    entry.stage = then;
    entry.wish.reset();
  }
  return passed;
}

void AdmissionGate::Ask(const PodUid& pod, Entry& entry) {
  if (desk_.ends().Find(pod) != nullptr) {
    unclaimed_.erase(pod);
    Ends(pod, false);
    return Forward(pod, entry);
  }
  // What the journal has of it may have been another's since: its source may have dropped it.
  if (IsOver(pod, entry.wish->pod) && desk_.IsDecided(pod)) desk_.Release(pod);
  entry.adopts = adoptable_.contains(pod);
  const Status asked = desk_.Ask(
      entry.wish->pod, QuestionAbout(pod, entry.wish->pod),
      [this, pod](const Result<AdmissionDecision>& decision) { OnDecided(pod, decision); });
  if (!asked) return TryLater(pod);
  entry.asked = true;
  unclaimed_.erase(pod);
}

// A pod of the API server that has ended has its end still to be told, and must not be rejected
// for it.
bool AdmissionGate::IsOver(const PodUid& pod, const kube::PodRef& wish) const {
  return wish->hot().IsStatic() && dead_.contains(pod);
}

AdmissionQuestion AdmissionGate::QuestionAbout(const PodUid& pod, const kube::PodRef& wish) const {
  return adoptable_.contains(pod) && !IsOver(pod, wish) ? AdmissionQuestion::kAdopt
                                                        : AdmissionQuestion::kDecide;
}

void AdmissionGate::OnDecided(const PodUid& pod, const Result<AdmissionDecision>& decision) {
  const auto found = pods_.find(pod);
  if (found == pods_.end() || found->second.stage != Stage::kAsking) return;
  Entry& entry = found->second;
  if (!decision && decision.error().code() == ErrorCode::kCancelled) return;
  // One that cannot be read goes on, too: its worker says so.
  if (decision && decision->rejected) {
    entry.rejected = decision->rejected;
    if (!decision->adopted) user_.OnPodRejected(entry.wish->pod, *entry.rejected);
  }
  Forward(pod, entry);
}

void AdmissionGate::Forward(const PodUid& pod, Entry& entry) {
  entry.stage = Stage::kForwarding;
  if (!Pass(entry, *entry.wish, Stage::kForwarded)) TryLater(pod);
}

void AdmissionGate::LineUp(const PodUid& pod) {
  if (in_line_.insert(pod).second) again_.push_back(pod);
}

void AdmissionGate::LeaveLine(const PodUid& pod) {
  if (in_line_.erase(pod) != 0) std::erase(again_, pod);
}

void AdmissionGate::TryLater(const PodUid& pod) {
  LineUp(pod);
  loop_.Disarm(timer_);
  timer_ = loop_.Arm(After(loop_.Now(), kRetry), [this] { TryAgain(); });
}

void AdmissionGate::TryAgain() {
  if (!open_) return;
  in_line_.clear();
  for (const PodUid& pod : std::exchange(again_, {})) {
    const auto found = pods_.find(pod);
    if (found == pods_.end()) continue;
    if (found->second.stage == Stage::kAsking && !found->second.asked) {
      Ask(pod, found->second);
    } else if (found->second.stage == Stage::kForwarding) {
      Forward(pod, found->second);
    }
  }
}

Status AdmissionGate::SourcesReady(uint32_t shard) {
  // Also those that the journal has: something of them may turn up that no list has shown yet.
  const bool adopts = std::ranges::any_of(pods_, [this, shard](const auto& pod) {
    const Entry& entry = pod.second;
    return entry.shard == shard && entry.stage <= Stage::kForwarding &&
           (entry.adopts || desk_.IsDecided(pod.first));
  });
  if (!open_ || !again_.empty() || adopts) {
    return Error(ErrorCode::kOverloaded, "pods that run are not adopted yet");
  }
  Status told = shards_.SourcesReady(shard);
  if (told) {
    ready_.insert(shard);
    ForgetEndsOfUnknown(shard);
    // As little are those that run and that the journal does not know.
    for (const PodUid& pod : adoptable_) {
      if (ShardOf(pod, shard_count_) == shard && !pods_.contains(pod)) unclaimed_.insert(pod);
    }
    ReleaseUnclaimed(shard);
  }
  return told;
}

// None wishes it, and what it holds is not its next wish's.
bool AdmissionGate::IsNobodys(const PodUid& pod) const {
  return !pods_.contains(pod) || WaitsForOrphan(pod);
}

// All that could tell of it have spoken and did not.
bool AdmissionGate::IsDropped(const PodUid& pod) const {
  if (ready_.contains(ShardOf(pod, shard_count_))) return true;
  const SourceSet told_by = desk_.SourcesOfStatic(pod);
  return open_ && IsNobodys(pod) && !told_by.empty() && spoken_.HasAll(told_by);
}

// And the runtime has it: it ends, and has left its room.
bool AdmissionGate::IsLeftAlone(const PodUid& pod) const {
  return unclaimed_.contains(pod) && IsDropped(pod);
}

void AdmissionGate::ReleaseAllUnclaimed() {
  for (uint32_t shard = 0; shard < shard_count_; ++shard) ReleaseUnclaimed(shard);
}

// Those that run get a worker, which tells when they have stopped. Shards that know that all
// sources have spoken look for them by themselves, also for dead things of a static pod that hold
// up nobody until then.
void AdmissionGate::ReleaseUnclaimed(uint32_t shard) {
  std::erase_if(unclaimed_, [&](const PodUid& pod) {
    if (ShardOf(pod, shard_count_) != shard || !IsDropped(pod)) return false;
    const bool looked_for = ready_.contains(shard);
    if (running_[shard].contains(pod) && (looked_for || !dead_.contains(pod))) {
      if (!pods_.contains(pod)) desk_.Leave(pod);
      if (!looked_for) shards_.EndOrphan(pod);
      return false;
    }
    if (IsNobodys(pod)) ForgetEnd(pod);
    Release(pod);
    adoptable_.erase(pod);
    if (WaitsForOrphan(pod)) BeginAnew(pod);
    return true;
  });
}

// A rejection holds nothing, and is remembered as long as the pod is there.
void AdmissionGate::OnPodStopped(const PodUid& pod) {
  const auto found = pods_.find(pod);
  if (found != pods_.end() && found->second.rejected) return;
  unclaimed_.erase(pod);
  Release(pod);
}

// The journal may still tell of it.
void AdmissionGate::Release(const PodUid& pod) {
  if (journal_read_) return desk_.Release(pod);
  released_early_.insert(pod);
}

void AdmissionGate::ForgetEnd(const PodUid& pod) {
  if (journal_read_) return desk_.ends().Forget(pod);
  gone_early_.insert(pod);
}

// Their sources dropped them while no agent ran.
void AdmissionGate::ForgetEndsOfUnknown(uint32_t shard) {
  for (const PodUid& pod : desk_.ends().Pods()) {
    if (ShardOf(pod, shard_count_) == shard && !pods_.contains(pod)) desk_.ends().Forget(pod);
  }
}

bool AdmissionGate::OnPodGone(const PodUid& pod) {
  ForgetEnd(pod);
  unclaimed_.erase(pod);
  adoptable_.erase(pod);  // what comes back under its uid is another one
  dead_.erase(pod);
  Release(pod);
  return BeginAnew(pod);
}

// False: nobody wishes it.
bool AdmissionGate::BeginAnew(const PodUid& pod) {
  const auto found = pods_.find(pod);
  if (found == pods_.end()) return false;
  const Entry left = std::move(found->second);
  pods_.erase(found);
  if (left.stage != Stage::kLeaving || !left.wish) return false;
  pods_[pod] = {.shard = left.shard,
                .stage = IsEnding(left.wish->pod) ? Stage::kForwarding : Stage::kAsking,
                .wish = left.wish};
  TryLater(pod);
  return true;
}

bool AdmissionGate::IsComing(const PodUid& pod) const {
  const auto found = pods_.find(pod);
  return found != pods_.end() && found->second.stage != Stage::kLeaving;
}

void AdmissionGate::OnOrphanStopped(const PodUid& pod) {
  if (IsComing(pod)) return;
  OnPodStopped(pod);
  adoptable_.erase(pod);  // what it held may be another's before it is wished again
}

bool AdmissionGate::OnOrphanGone(const PodUid& pod) { return IsComing(pod) || OnPodGone(pod); }

void AdmissionGate::OnVanished(const PodUid& pod) {
  const uint32_t shard = ShardOf(pod, shard_count_);
  const auto listed = running_.find(shard);
  if (listed == running_.end() || listed->second.erase(pod) == 0) return;
  ReleaseUnclaimed(shard);
}

bool AdmissionGate::WaitsForOrphan(const PodUid& pod) const {
  const auto found = pods_.find(pod);
  return found != pods_.end() && found->second.behind_orphan;
}

size_t AdmissionGate::waiting() const {
  return static_cast<size_t>(std::ranges::count_if(
      pods_, [](const auto& pod) { return pod.second.stage <= Stage::kForwarding; }));
}

std::vector<PodIdentity> AdmissionGate::WaitingAfter(const PodUid& after, size_t count_max) const {
  std::vector<PodIdentity> found;
  for (auto next = pods_.upper_bound(after); next != pods_.end(); ++next) {
    const Entry& entry = next->second;
    if (found.size() == count_max) break;
    if (entry.stage == Stage::kAsking && entry.wish) found.push_back(IdentityOf(entry.wish->pod));
  }
  return found;
}

}  // namespace denselet::sync
