// What a pod worker is told of changes in the runtime: which of it its own looks cover anyway.
#include <algorithm>
#include <limits>

#include "sync/pod_worker/pod_worker.h"

namespace denselet::sync {
namespace {

constexpr Epoch kNoEpoch = std::numeric_limits<Epoch>::max();
// While calls that make something are under way, a hint waits for them, but not longer than this.
constexpr Duration kHoldHintMax = Seconds(1);
// That something was begun is mostly the word of these calls, and a look follows them. A thousand
// pods at once take longer than a second, and would all be read in the middle of it.
constexpr Duration kHoldBegunMax = Seconds(10);

// What a list shows of a pod, as events would have told it.
PodHint HintOf(const PodUid& pod, const ListedPod& listed) {
  PodHint all(pod, "");
  all.begun.clear();
  for (const ListedSandbox& sandbox : listed.sandboxes) {
    if (sandbox.state != SandboxState::kReady) return PodHint(pod);
    all.Join(PodHint(pod, sandbox.id.value()));
  }
  for (const ListedContainer& container : listed.containers) {
    if (container.state != ContainerState::kCreated &&
        container.state != ContainerState::kRunning) {
      return PodHint(pod);
    }
    all.Join(PodHint(pod, container.id.value()));
  }
  return all;
}

}  // namespace

// All that was made or started was looked at later, or so lately that it was seen to be there:
// objects only go on from there, and their next step has an event of its own. So a late word of our
// own calls costs no read (invariant 3: content counts where a read has matched it).
bool PodWorker::HasSeen(const PodHint& hint) const {
  if (!hint.only_begun) return false;
  const ObservedPod* const pod = Observe().pod;
  const auto is_past_start = [](const ObservedContainer& container) {
    return container.state == ContainerState::kRunning ||
           container.state == ContainerState::kExited;
  };
  return std::ranges::all_of(hint.begun, [&](const std::string& id) {
    const auto looked_at = [&](const auto& entry) {
      if (!entry.seen || entry.id.value() != id) return false;
      if constexpr (requires { entry.seen->exit_code; }) return is_past_start(*entry.seen);
      return true;
    };
    const LedgerView& view = ledger_.view();
    if (std::ranges::any_of(view.containers, looked_at)) return true;
    if (std::ranges::any_of(view.sandboxes, looked_at)) return true;
    if (pod == nullptr) return false;
    return std::ranges::any_of(pod->containers,
                               [&](const ObservedContainer& seen) {
                                 return seen.id.value() == id && is_past_start(seen);
                               }) ||
           std::ranges::any_of(pod->sandboxes,
                               [&](const ObservedSandbox& seen) { return seen.id.value() == id; });
  });
}

bool PodWorker::TakeHint(const PodHint& hint, bool steps, TimePoint now) {
  was_hinted_ = true;
  return HasSeen(hint) || HoldHint(hint, steps, now);
}

bool PodWorker::HoldList(Epoch epoch, const ListedPod* listed, bool steps, TimePoint now) {
  const bool lost = listed == nullptr || HasLost(epoch, *listed);
  return HoldHint(lost ? PodHint(pod_id_.uid) : HintOf(pod_id_.uid, *listed), steps, now);
}

// Something that was there before is not in the list, and no call of ours has removed it.
bool PodWorker::HasLost(Epoch epoch, const ListedPod& listed) const {
  const LedgerView& view = ledger_.view();
  const auto has = [](const auto& shown, const auto& id) {
    return std::ranges::any_of(shown, [&id](const auto& each) { return each.id == id; });
  };
  const auto removed = [](const auto& entries, const auto& id) {
    return std::ranges::any_of(entries, [&id](const auto& entry) {
      return entry.id == id && entry.remove.state != CallState::kNone;
    });
  };
  const auto was_there = [epoch](const auto& entry, const Call& made) {
    return (made.done() && made.ended < epoch) || (entry.seen && entry.seen_at < epoch);
  };
  const auto lost_sandbox = [&](const SandboxId& id) {
    return !has(listed.sandboxes, id) && !removed(view.sandboxes, id);
  };
  const auto lost_container = [&](const ContainerId& id, const SandboxId& sandbox) {
    return !has(listed.containers, id) && !removed(view.containers, id) &&
           !removed(view.sandboxes, sandbox);
  };
  if (std::ranges::any_of(view.sandboxes, [&](const SandboxEntry& entry) {
        return was_there(entry, entry.run) && lost_sandbox(entry.id);
      })) {
    return true;
  }
  if (std::ranges::any_of(view.containers, [&](const ContainerEntry& entry) {
        return was_there(entry, entry.create) && lost_container(entry.id, entry.sandbox);
      })) {
    return true;
  }
  const Observation observation = Observe();
  if (observation.pod == nullptr) return false;
  return std::ranges::any_of(
             observation.pod->sandboxes,
             [&](const ObservedSandbox& sandbox) { return lost_sandbox(sandbox.id); }) ||
         std::ranges::any_of(observation.pod->containers, [&](const ObservedContainer& container) {
           return lost_container(container.id, container.sandbox);
         });
}

bool PodWorker::HoldHint(const PodHint& hint, bool steps, TimePoint now) {
  // While the pod starts, what is announced is mostly what we do; a look follows anyway. Between an
  // answer and the call after it nothing is under way.
  const bool starts =
      state_.phase == Phase::kSyncing && !timeline_.over && (steps || !ops_.empty());
  if (!ledger_.making() && !starts) return false;
  const TimePoint until = After(now, hint.only_begun ? kHoldBegunMax : kHoldHintMax);
  held_until_ = held_hint_ == 0 ? until : std::min(held_until_, until);
  if (held_until_ <= now) return false;
  if (held_) {
    held_->Join(hint);
  } else {
    held_ = hint;
  }
  held_hint_ = host_.ports().epochs.Next();
  host_.WakeAt(pod_id_.uid, held_until_);
  return true;
}

// A hint waits no longer than the calls do, and a look that has come meanwhile is enough.
void PodWorker::SettleHint(TimePoint now) {
  if (held_hint_ == 0 || (!ops_.empty() && held_until_ > now)) return;
  PodReader& reader = host_.ports().reader;
  if (Observe().epoch <= held_hint_ && !(held_ && HasSeen(*held_)) && !LookedSince(held_hint_) &&
      !reader.Covers(pod_id_.uid, held_hint_)) {
    reader.Mark(pod_id_.uid);
  }
  held_hint_ = 0;
  held_.reset();
}

// Every container that runs was looked at later: what was told at that time is known.
bool PodWorker::LookedSince(Epoch told) const {
  const LedgerView& view = ledger_.view();
  const auto looked_at = [told](const ContainerEntry& entry) {
    return entry.seen && entry.seen_at > told;
  };
  if (!std::ranges::any_of(view.containers, looked_at)) return false;
  const ObservedPod* pod = Observe().pod;
  if (pod == nullptr) return false;
  const bool others = std::ranges::any_of(pod->containers, [&](const ObservedContainer& seen) {
    if (seen.state == ContainerState::kExited) return false;
    const auto entry = std::ranges::find(view.containers, seen.id, &ContainerEntry::id);
    return entry == view.containers.end() || !looked_at(*entry);
  });
  return !others && std::ranges::all_of(view.containers, [&](const ContainerEntry& entry) {
    return !entry.start.done() || looked_at(entry);
  });
}

// A container that was looked at when the last call about it had ended, and that the list shows in
// another state: it changed by itself, whatever the picture of the whole pod lacks of our calls.
bool PodWorker::ChangedSinceLook(Epoch epoch, const ListedPod* listed) const {
  return std::ranges::any_of(ledger_.view().containers, [&](const ContainerEntry& entry) {
    const Epoch last_call = std::max({entry.create.ended, entry.start.ended, entry.stop.ended});
    if (!entry.seen || entry.seen_at <= last_call || entry.seen_at >= epoch) return false;
    if (entry.remove.state != CallState::kNone) return false;
    if (listed == nullptr) return true;
    const auto found = std::ranges::find(listed->containers, entry.id, &ListedContainer::id);
    return found == listed->containers.end() || found->state != entry.seen->state;
  });
}

// A list that shows just what our looks at single objects have shown says that this is all there
// is: the same that a look at the whole pod would, without asking for it. Looks that are newer than
// the list have nothing to learn from it.
std::optional<LookedPod> PodWorker::LookedLike(Epoch epoch, const ListedPod* listed) const {
  const Observation observation = Observe();
  if (observation.pod == nullptr || listed == nullptr) return std::nullopt;
  bool is_old = false;
  LookedPod whole{.looked = kNoEpoch, .pod = {.pod = listed->pod}};
  const auto take = [&](const auto& shown, const auto& entries, const auto& read, auto& into) {
    const auto entry = std::ranges::find_if(entries, [&](const auto& each) {
      return each.id == shown.id && each.seen && each.seen_at > observation.epoch;
    });
    if (entry != entries.end()) {
      is_old = is_old || entry->seen_at >= epoch;
      if (entry->seen_at < epoch && entry->seen->state != shown.state) return false;
      whole.looked = std::min(whole.looked, entry->seen_at);
      into.push_back(*entry->seen);
      return true;
    }
    const auto old =
        std::ranges::find_if(read, [&shown](const auto& each) { return each.id == shown.id; });
    if (old == read.end() || old->state != shown.state) return false;
    into.push_back(*old);
    return true;
  };
  const LedgerView& view = ledger_.view();
  const ObservedPod& read = *observation.pod;
  for (const ListedSandbox& shown : listed->sandboxes) {
    if (!take(shown, view.sandboxes, read.sandboxes, whole.pod.sandboxes)) return std::nullopt;
  }
  for (const ListedContainer& shown : listed->containers) {
    if (!take(shown, view.containers, read.containers, whole.pod.containers)) return std::nullopt;
  }
  if (whole.looked == kNoEpoch) return std::nullopt;
  if (is_old && HasLost(epoch, *listed)) return std::nullopt;
  return is_old ? LookedPod() : whole;
}

bool PodWorker::ExpectsChange(Epoch epoch, const ListedPod* listed) const {
  if (!ops_.empty()) return true;
  if (ChangedSinceLook(epoch, listed)) return false;
  const Observation observation = Observe();
  const auto newer = [&observation](const Call& call) {
    return call.state != CallState::kNone && call.ended >= observation.epoch;
  };
  const LedgerView& view = ledger_.view();
  return std::ranges::any_of(view.sandboxes,
                             [&newer](const SandboxEntry& e) {
                               return newer(e.run) || newer(e.stop) || newer(e.remove);
                             }) ||
         std::ranges::any_of(view.containers, [&newer](const ContainerEntry& e) {
           return newer(e.create) || newer(e.start) || newer(e.stop) || newer(e.remove);
         });
}

}  // namespace denselet::sync
