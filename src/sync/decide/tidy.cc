#include "sync/decide/tidy.h"

#include <algorithm>
#include <cstdint>

namespace denselet::sync {
namespace {

bool Busy(const ContainerEntry* entry) {
  return entry != nullptr &&
         (entry->create.in_flight() || entry->start.in_flight() || entry->post_start.in_flight() ||
          entry->pre_stop.in_flight() || entry->stop.in_flight());
}

class Search {
 public:
  Search(const DecideInput& input, const KnownPod& pod) : in_(input), pod_(pod) {}

  Surplus Run() {
    FindContainers();
    for (size_t i = 1; i < pod_.sandboxes.size(); ++i) {
      if (!pod_.sandboxes[i].ready && !Used(pod_.sandboxes[i])) {
        found_.sandboxes.push_back(&pod_.sandboxes[i]);
      }
    }
    return std::move(found_);
  }

 private:
  int64_t Kept() const {
    const int32_t wanted = in_.node.keep.per_container_max;
    int64_t keep = wanted < 0 ? INT64_MAX : wanted;
    if (in_.facts.keep_max) keep = std::min<int64_t>(keep, *in_.facts.keep_max);
    return std::max<int64_t>(keep, 1);
  }

  // They come by name and descending attempt.
  void FindContainers() {
    const int64_t keep = Kept();
    int64_t dead = 0;
    for (size_t i = 0; i < pod_.containers.size(); ++i) {
      const KnownContainer& container = pod_.containers[i];
      const bool newest = i == 0 || pod_.containers[i - 1].name != container.name;
      if (newest) dead = 0;
      if (container.life == Life::kExited) {
        if (++dead <= keep) continue;
      } else if (container.life != Life::kCreated || container.may_yet_run() ||
                 (newest && !SubjectIsOlder(container))) {
        // But one that was made and never ran is of no use behind a newer one, nor before one that
        // runs: an agent before us asked for it, and it came late.
        continue;
      }
      if (!Busy(container.entry) && OldEnough(container)) found_.containers.push_back(&container);
    }
  }

  bool SubjectIsOlder(const KnownContainer& newest) const {
    const ContainerIndex index = in_.plan.Find(newest.name);
    return index != kNoContainer && pod_.Subject(index) != &newest;
  }

  bool OldEnough(const KnownContainer& container) {
    const Duration age_min = in_.node.keep.age_min;
    if (age_min <= Duration::zero()) return true;
    // The runtime's clock is the machine's; where it was set back meanwhile, the age begins anew.
    const Duration age = std::max(in_.wall_now - container.created, Duration::zero());
    if (age >= age_min) return true;
    found_.look_at = std::min(found_.look_at, After(in_.now, age_min - age));
    return false;
  }

  bool Used(const KnownSandbox& sandbox) const {
    return std::ranges::any_of(pod_.containers, [&sandbox](const KnownContainer& container) {
      return container.sandbox == nullptr || *container.sandbox == *sandbox.id;
    });
  }

  const DecideInput& in_;
  const KnownPod& pod_;
  Surplus found_ = {};
};

}  // namespace

Surplus FindSurplus(const DecideInput& input, const KnownPod& pod) {
  return Search(input, pod).Run();
}

MaybeAction Tidy(const DecideInput& input, const KnownPod& pod, TidyWhat what, Steps& steps) {
  const Surplus surplus = FindSurplus(input, pod);
  steps.waits().Until(surplus.look_at);
  if (!surplus.containers.empty()) {
    if (auto action = steps.RemoveContainers(surplus.containers, KeepLogs::kNo)) return action;
  }
  if (what == TidyWhat::kContainers) return std::nullopt;
  return steps.RemoveDeadSandboxes(surplus.sandboxes);
}

}  // namespace denselet::sync
