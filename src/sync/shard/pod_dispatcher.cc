#include "sync/shard/pod_dispatcher.h"

#include <algorithm>
#include <utility>

namespace denselet::sync {
namespace {

constexpr Duration kPauseMin = Milliseconds(10);
constexpr Duration kPauseMax = Seconds(1);

WishKind KindOf(PodOp op) {
  switch (op) {
    case PodOp::kRemove:
      return WishKind::kGone;
    case PodOp::kAdd:
      return WishKind::kAdd;
    case PodOp::kUpdate:
    case PodOp::kDelete:
    case PodOp::kReconcile:
      return WishKind::kChange;
  }
  return WishKind::kChange;
}

}  // namespace

PodDispatcher::PodDispatcher(reactor::Loop& loop, const Logger& log, PodShards& shards,
                             uint32_t shard_count, SourceSet needed)
    : loop_(loop),
      log_(log),
      shards_(shards),
      shard_count_(shard_count),
      needed_(needed),
      told_ready_(shard_count),
      pause_(kPauseMin) {
  TellReady();
}

PodDispatcher::~PodDispatcher() { loop_.Disarm(timer_); }

void PodDispatcher::OnPodChanges(SourceKind, std::span<const PodChange> changes) {
  for (const PodChange& change : changes) Take(change);
}

void PodDispatcher::OnPodRefused(SourceKind source, const RefusedPod& refused) {
  log_.Error(refused.reason, "A source told a pod that cannot be taken",
             KV("source", SourceName(source)));
}

void PodDispatcher::OnSourceReady(SourceKind source) {
  seen_.Add(source);
  TellReady();
}

void PodDispatcher::OnSourceLate(SourceKind source) {
  log_.Info("A source of pods is silent; nothing is taken for an orphan meanwhile",
            KV("source", SourceName(source)));
}

void PodDispatcher::Take(const PodChange& change) {
  // A mirror is the API server's picture of a static pod, not a pod to run.
  if (change.pod->hot().IsMirror()) return;
  const PodIdentity pod = IdentityOf(change.pod);
  PodWish wish{.kind = KindOf(change.op), .pod = change.pod, .wished_at = loop_.Now()};
  if (change.pod->hot().IsStatic() && !TakeStatic(pod, wish)) return;
  Send(pod.uid, std::move(wish));
}

// False: it waits for its name, or went while it waited.
bool PodDispatcher::TakeStatic(const PodIdentity& pod, const PodWish& wish) {
  StaticName& name = names_[pod.ref];
  if (name.holder == pod.uid) {
    name.leaving = wish.kind == WishKind::kGone;
    return true;
  }
  if (wish.kind == WishKind::kGone) {
    const bool waits = name.next && IdentityOf(name.next->pod).uid == pod.uid;
    if (waits) name.next.reset();
    if (name.holder.empty()) names_.erase(pod.ref);
    return false;  // no shard has heard of it
  }
  if (name.holder.empty()) {
    name.holder = pod.uid;
    return true;
  }
  name.next = PodWish{.kind = WishKind::kAdd, .pod = wish.pod, .wished_at = wish.wished_at};
  log_.Info("A static pod waits for another of its name to end", Pod(pod.ref), Uid(pod.uid));
  return false;
}

void PodDispatcher::OnPodGone(const PodIdentity& pod) {
  const auto found = names_.find(pod.ref);
  if (found == names_.end() || found->second.holder != pod.uid) return;
  if (!found->second.next) {
    names_.erase(found);
    return;
  }
  PodWish next = *std::exchange(found->second.next, std::nullopt);
  const PodUid uid = IdentityOf(next.pod).uid;
  found->second.holder = uid;
  found->second.leaving = false;
  Send(uid, std::move(next));
}

bool PodDispatcher::StillEnds(const ObjectRef& static_pod) const {
  const auto found = names_.find(static_pod);
  return found != names_.end() && (found->second.leaving || found->second.next);
}

bool PodDispatcher::Holds(const PodUid& pod) const {
  if (unsent_.contains(pod)) return true;
  return std::ranges::any_of(names_, [&pod](const auto& name) {
    return name.second.next && IdentityOf(name.second.next->pod).uid == pod;
  });
}

size_t PodDispatcher::waiting_for_name() const {
  return static_cast<size_t>(
      std::ranges::count_if(names_, [](const auto& e) { return e.second.next.has_value(); }));
}

void PodDispatcher::Send(const PodUid& pod, PodWish wish) {
  const auto waiting = unsent_.find(pod);
  if (waiting == unsent_.end()) {
    if (shards_.Wish(ShardOf(pod, shard_count_), wish)) return;
    unsent_[pod].wishes.push_back(std::move(wish));
  } else {
    std::deque<PodWish>& wishes = waiting->second.wishes;
    // Newest wins; but that it was gone in between must not be lost. Others may have been given its
    // place: that is heard before what is told of them.
    if (wish.kind == WishKind::kGone) {
      wishes.clear();
      if (shards_.Wish(ShardOf(pod, shard_count_), wish)) {
        unsent_.erase(waiting);
        return;
      }
    }
    if (!wishes.empty() && wishes.back().kind != WishKind::kGone) {
      if (wishes.back().kind == WishKind::kAdd) {
        wish.kind = WishKind::kAdd;
        wish.wished_at = wishes.back().wished_at;
      }
      wishes.pop_back();
    }
    wishes.push_back(std::move(wish));
  }
  FlushLater();
}

void PodDispatcher::FlushLater() {
  if (timer_ != reactor::TimerId{}) return;
  timer_ = loop_.Arm(After(loop_.Now(), pause_), [this] { Flush(); });
}

void PodDispatcher::Flush() {
  timer_ = {};
  bool refused = false;
  for (auto entry = unsent_.begin(); entry != unsent_.end();) {
    std::deque<PodWish>& wishes = entry->second.wishes;
    while (!wishes.empty() && shards_.Wish(ShardOf(entry->first, shard_count_), wishes.front())) {
      wishes.pop_front();
    }
    refused |= !wishes.empty();
    entry = wishes.empty() ? unsent_.erase(entry) : std::next(entry);
  }
  pause_ = refused ? std::min(pause_ * 2, kPauseMax) : kPauseMin;
  if (refused) FlushLater();
  TellReady();
}

// After the wishes: a shard that hears it has every pod that it is to run.
void PodDispatcher::TellReady() {
  if (!seen_.HasAll(needed_)) return;
  bool refused = false;
  for (uint32_t i = 0; i < shard_count_; ++i) {
    if (told_ready_[i]) continue;
    told_ready_[i] = unsent_.empty() && static_cast<bool>(shards_.SourcesReady(i));
    refused |= !told_ready_[i];
  }
  if (refused) FlushLater();
}

}  // namespace denselet::sync
