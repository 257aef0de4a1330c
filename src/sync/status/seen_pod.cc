#include "sync/status/seen_pod.h"

#include <algorithm>
#include <tuple>

namespace denselet::sync {
namespace {

template <class Object>
void Put(std::vector<Object>& objects, const Object& newer) {
  const auto same = std::ranges::find(objects, newer.id, &Object::id);
  if (same == objects.end()) {
    objects.push_back(newer);
  } else {
    *same = newer;
  }
}

bool CouldNotStart(const LedgerView& ledger, const ObservedContainer& container) {
  const auto entry = std::ranges::find(ledger.containers, container.id, &ContainerEntry::id);
  return entry != ledger.containers.end() &&
         (entry->start.state == CallState::kFailed || entry->start.state == CallState::kUnknown);
}

bool MadeByUs(const LedgerView& ledger, const ObservedContainer& container) {
  const auto entry = std::ranges::find(ledger.containers, container.id, &ContainerEntry::id);
  return entry != ledger.containers.end() && entry->create.state != CallState::kNone;
}

// `containers` by name and descending attempt.
void LeaveOutComingOnes(const LedgerView& ledger, std::vector<ObservedContainer>& containers) {
  for (size_t i = 0; i + 1 < containers.size();) {
    const ObservedContainer& next = containers[i];
    const ObservedContainer& before = containers[i + 1];
    const bool next_to = next.state == ContainerState::kCreated && next.name == before.name;
    const bool coming =
        next_to && before.state == ContainerState::kExited && !CouldNotStart(ledger, next);
    // Asked for by an agent before us, and made late: nobody will start it.
    const bool unwanted =
        next_to && before.state == ContainerState::kRunning && !MadeByUs(ledger, next);
    if (coming || unwanted) {
      containers.erase(containers.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

}  // namespace

ObservedPod SeenPod(const Observation& observation, const LedgerView& ledger) {
  ObservedPod pod = observation.pod ? *observation.pod : ObservedPod();
  const auto newer = [&](const auto& entry) {
    return entry.seen && (!observation.pod || entry.seen_at > observation.epoch);
  };
  for (const SandboxEntry& entry : ledger.sandboxes) {
    if (newer(entry)) Put(pod.sandboxes, *entry.seen);
  }
  for (const ContainerEntry& entry : ledger.containers) {
    if (newer(entry)) Put(pod.containers, *entry.seen);
  }
  std::ranges::stable_sort(pod.sandboxes, std::ranges::greater(), &ObservedSandbox::attempt);
  std::ranges::stable_sort(pod.containers, [](const auto& a, const auto& b) {
    return std::tie(a.name, b.attempt) < std::tie(b.name, a.attempt);
  });
  LeaveOutComingOnes(ledger, pod.containers);
  return pod;
}

}  // namespace denselet::sync
