#include "sync/pleg/observed_store.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace denselet::sync {
namespace {

// Of the fault lists_write: states without what only a read tells.
void WriteListed(const ListedPod& listed, ObservedPod& pod) {
  for (ObservedContainer& container : pod.containers) {
    for (const ListedContainer& seen : listed.containers) {
      if (seen.id == container.id) container.state = seen.state;
    }
  }
}

}  // namespace

const ListedPod* FindListed(const std::vector<ListedPod>& pods, const PodUid& uid) {
  const auto found = std::ranges::lower_bound(
      pods, uid, {}, [](const ListedPod& pod) -> const PodUid& { return pod.pod.uid; });
  return found != pods.end() && found->pod.uid == uid ? &*found : nullptr;
}

// Both are sorted in the same way: by attempt, and by name and attempt.
bool Agrees(const ObservedPod& observed, const ListedPod& listed) {
  return std::ranges::equal(observed.sandboxes, listed.sandboxes,
                            [](const ObservedSandbox& a, const ListedSandbox& b) {
                              return a.id == b.id && a.state == b.state;
                            }) &&
         std::ranges::equal(observed.containers, listed.containers,
                            [](const ObservedContainer& a, const ListedContainer& b) {
                              return a.id == b.id && a.state == b.state;
                            });
}

const StoredPod* ObservedStore::Find(const PodUid& pod) const {
  const auto found = pods_.find(pod);
  return found == pods_.end() ? nullptr : &found->second;
}

Applied ObservedStore::Apply(const PodUid& pod, Epoch epoch, ObservedPod observed) {
  const auto tombstone = tombstones_.find(pod);
  if (tombstone != tombstones_.end()) {
    if (epoch <= tombstone->second) return Applied::kStale;
    tombstones_.erase(tombstone);
  }
  StoredPod& here = pods_[pod];
  if (epoch <= here.read) return Applied::kStale;
  CheckIsProved(here);
  const bool same = here.read != 0 && here.pod == observed;
  here.read = epoch;
  here.as_of = std::max(here.as_of, epoch);
  if (!same) here.pod = std::move(observed);
  return same ? Applied::kSame : Applied::kNew;
}

std::vector<PodUid> ObservedStore::Compare(Epoch epoch, const std::vector<ListedPod>& pods) {
  static const ListedPod kNothing;
  std::vector<PodUid> differ;
  for (auto& [uid, here] : pods_) {
    CheckIsProved(here);
    // What is newer than the list has nothing to learn from it.
    if (here.as_of >= epoch) continue;
    const ListedPod* listed = FindListed(pods, uid);
    if (here.read == 0 || !Agrees(here.pod, listed == nullptr ? kNothing : *listed)) {
      differ.push_back(uid);
      if (faults_.lists_write && listed != nullptr) WriteListed(*listed, here.pod);
      if (!faults_.list_proves_nothing && !faults_.lists_write) continue;
    }
    here.as_of = epoch;
  }
  listed_ = std::max(listed_, epoch);
  for (const ListedPod& listed : pods) {
    if (pods_.count(listed.pod.uid) != 0) continue;
    const auto tombstone = tombstones_.find(listed.pod.uid);
    if (tombstone != tombstones_.end() && epoch <= tombstone->second) continue;
    differ.push_back(listed.pod.uid);
    pods_[listed.pod.uid].listed = epoch;  // there is something, and nothing is known of it
  }
  std::ranges::sort(differ);
  return differ;
}

Applied ObservedStore::Complete(const PodUid& pod, LookedPod looked, Epoch listed) {
  CHECK(looked.looked < listed && listed <= listed_);
  return Apply(pod, listed, std::move(looked.pod));
}

void ObservedStore::Hinted(const PodUid& pod, Epoch now) {
  const auto found = pods_.find(pod);
  if (found == pods_.end() || found->second.read == 0) return;
  if (faults_.sandbox_is_all) found->second.pod.containers.clear();
  found->second.as_of = now;
}

bool ObservedStore::TakeAbsence(const PodUid& pod) {
  if (listed_ == 0 || pods_.count(pod) != 0) return false;
  return Apply(pod, listed_, {}) != Applied::kStale;
}

// Invariants 1 and 4: freshness came with a read or with a list, and from nowhere else.
void ObservedStore::CheckIsProved(const StoredPod& here) const {
  if (faults_.hints_prove || faults_.sandbox_is_all) return;
  CHECK(here.read <= here.as_of);
  CHECK(here.as_of == here.read || here.as_of <= listed_);
}

void ObservedStore::Forget(const PodUid& pod, Epoch now) {
  // A tombstone that is older than what it stands for would let that in again (invariant 8).
  if (const StoredPod* const here = Find(pod)) CHECK(now > here->as_of && now > here->listed);
  pods_.erase(pod);
  if (!faults_.no_tombstones) tombstones_[pod] = now;
}

void ObservedStore::NothingOlderThan(Epoch epoch) {
  std::erase_if(tombstones_, [epoch](const auto& entry) { return entry.second < epoch; });
}

std::vector<PodUid> ObservedStore::Pods() const {
  std::vector<PodUid> all;
  all.reserve(pods_.size());
  for (const auto& [uid, observation] : pods_) all.push_back(uid);
  return all;
}

}  // namespace denselet::sync
