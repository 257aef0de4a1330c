#include "managers/status/merge_status.h"

#include <algorithm>
#include <string_view>

#include "kube/api/codec/json_same.h"
#include "kube/api/types.h"
#include "kube/api/validation/pod_parts.h"

namespace denselet::managers {
namespace {

namespace core = kube::core;
using Containers = google::protobuf::RepeatedPtrField<core::ContainerStatus>;
using sync::IsOwnCondition;
using sync::IsTerminalPhase;
using sync::kDisruptionTarget;

core::PodCondition* Find(core::PodStatus& status, std::string_view type) {
  for (core::PodCondition& condition : *status.mutable_conditions()) {
    if (condition.type() == type) return &condition;
  }
  return nullptr;
}

const core::PodCondition* Find(const core::PodStatus& status, std::string_view type) {
  for (const core::PodCondition& condition : status.conditions()) {
    if (condition.type() == type) return &condition;
  }
  return nullptr;
}

bool IsTrue(const core::PodStatus& status, std::string_view type) {
  const core::PodCondition* condition = Find(status, type);
  return condition && condition->status() == "True";
}

void SetTransition(core::PodCondition& condition, const core::PodStatus& before, WallTime now) {
  const core::PodCondition* old = Find(before, condition.type());
  if (old && old->status() == condition.status()) {
    *condition.mutable_lasttransitiontime() = old->lasttransitiontime();
    return;
  }
  condition.mutable_lasttransitiontime()->set_seconds(ToTimestamp(now).seconds);
  condition.mutable_lasttransitiontime()->set_nanos(0);
}

// A pod that has ended is not ready, also where its status was made before that was known.
void ForceNotReady(const core::Pod& shown, WallTime now, core::PodStatus& merged) {
  if (!IsTrue(merged, "Ready") && !IsTrue(merged, "ContainersReady")) return;
  for (const std::string_view type : {"ContainersReady", "Ready"}) {
    core::PodCondition* condition = Find(merged, type);
    if (!condition) condition = merged.add_conditions();
    condition->Clear();
    condition->set_type(std::string(type));
    condition->set_status("False");
    condition->set_reason(merged.phase() == "Failed" ? "PodFailed" : "PodCompleted");
    const int64_t generation = shown.metadata().generation();
    if (generation != 0) condition->set_observedgeneration(generation);
    SetTransition(*condition, shown.status(), now);
  }
}

bool IsMirror(const core::Pod& shown) {
  return shown.metadata().annotations().contains(std::string(kube::kMirrorAnnotation));
}

bool TellsAnEnd(const core::ContainerStatus& container) {
  return container.state().has_terminated() || container.laststate().has_terminated();
}

// Restarts are not taken back, and the last end that was told stays until there is another. The
// server may show more than we know: what an agent before us had sent arrived late, or we began
// without the server, and the runtime has forgotten containers since.
void KeepTold(const Containers& before, Containers& merged) {
  for (core::ContainerStatus& container : merged) {
    const auto old = std::ranges::find(before, container.name(), &core::ContainerStatus::name);
    if (old == before.end()) continue;
    if (old->restartcount() > container.restartcount()) {
      container.set_restartcount(old->restartcount());
    }
    if (!TellsAnEnd(*old) || TellsAnEnd(container)) continue;
    *container.mutable_laststate()->mutable_terminated() =
        old->state().has_terminated() ? old->state().terminated() : old->laststate().terminated();
  }
}

bool SurelyDiffers(const Containers& a, const Containers& b) {
  return !std::ranges::equal(
      a, b, [](const core::ContainerStatus& x, const core::ContainerStatus& y) {
        return x.name() == y.name() && x.ready() == y.ready() &&
               x.containerid() == y.containerid() && x.restartcount() == y.restartcount() &&
               x.state().has_running() == y.state().has_running() &&
               x.state().waiting().reason() == y.state().waiting().reason();
      });
}

// What changes most, looked at before anything is written to be compared.
bool SurelyDiffers(const core::PodStatus& a, const core::PodStatus& b) {
  if (a.phase() != b.phase() || a.reason() != b.reason() || a.message() != b.message() ||
      a.conditions_size() != b.conditions_size()) {
    return true;
  }
  for (const core::PodCondition& condition : a.conditions()) {
    const core::PodCondition* const other = Find(b, condition.type());
    if (!other || other->status() != condition.status() || other->reason() != condition.reason()) {
      return true;
    }
  }
  return SurelyDiffers(a.initcontainerstatuses(), b.initcontainerstatuses()) ||
         SurelyDiffers(a.containerstatuses(), b.containerstatuses()) ||
         SurelyDiffers(a.ephemeralcontainerstatuses(), b.ephemeralcontainerstatuses());
}

core::PodStatus Sorted(const core::PodStatus& status) {
  core::PodStatus sorted = status;
  std::stable_sort(sorted.mutable_conditions()->pointer_begin(),
                   sorted.mutable_conditions()->pointer_end(),
                   [](const auto* a, const auto* b) { return a->type() < b->type(); });
  return sorted;
}

// Whether a container is on its way without a word that people should read.
bool IsUneventful(const core::ContainerStatus& container, bool init) {
  if (container.restartcount() > 0 || container.laststate().has_terminated()) return false;
  const core::ContainerState& state = container.state();
  if (state.has_running()) return true;
  if (state.has_terminated()) return init && state.terminated().exitcode() == 0;
  const std::string& reason = state.waiting().reason();
  return state.waiting().message().empty() &&
         (reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing");
}

bool IsOrdinaryStart(const core::Pod& shown, const core::PodStatus& merged) {
  if (merged.phase() != "Pending" || !merged.reason().empty() || !merged.message().empty()) {
    return false;
  }
  // A pod that once ran does not start.
  const std::string& before = shown.status().phase();
  if (!before.empty() && before != "Pending") return false;
  const auto all = [](const auto& containers, bool init) {
    return std::ranges::all_of(
        containers, [init](const auto& container) { return IsUneventful(container, init); });
  };
  return all(merged.initcontainerstatuses(), true) && all(merged.containerstatuses(), false) &&
         all(merged.ephemeralcontainerstatuses(), false);
}

}  // namespace

core::PodStatus MergeStatus(const core::Pod& shown, const core::PodStatus& ours,
                            sync::MayRun may_run, WallTime now) {
  const core::PodStatus& before = shown.status();
  core::PodStatus merged = ours;
  const bool ends = !IsTerminalPhase(before.phase()) && IsTerminalPhase(ours.phase());
  merged.clear_conditions();
  for (const core::PodCondition& condition : before.conditions()) {
    if (!IsOwnCondition(condition.type())) *merged.add_conditions() = condition;
  }
  for (const core::PodCondition& condition : ours.conditions()) {
    if (IsOwnCondition(condition.type())) *merged.add_conditions() = condition;
    // Told with the end and not before: until then it may be that the pod ends in another way.
    if (condition.type() != kDisruptionTarget || !ends || may_run == sync::MayRun::kYes) continue;
    core::PodCondition* place = Find(merged, kDisruptionTarget);
    if (!place) place = merged.add_conditions();
    *place = condition;
    SetTransition(*place, before, now);
  }
  KeepTold(before.initcontainerstatuses(), *merged.mutable_initcontainerstatuses());
  KeepTold(before.containerstatuses(), *merged.mutable_containerstatuses());
  KeepTold(before.ephemeralcontainerstatuses(), *merged.mutable_ephemeralcontainerstatuses());
  // Not ours.
  *merged.mutable_resourceclaimstatuses() = before.resourceclaimstatuses();
  *merged.mutable_nodeallocatableresourceclaimstatuses() =
      before.nodeallocatableresourceclaimstatuses();
  merged.clear_extendedresourceclaimstatus();
  if (before.has_extendedresourceclaimstatus()) {
    *merged.mutable_extendedresourceclaimstatus() = before.extendedresourceclaimstatus();
  }
  merged.set_nominatednodename(before.nominatednodename());

  if (ends && may_run == sync::MayRun::kYes) {
    merged.set_phase(before.phase());
    merged.set_reason(before.reason());
    merged.set_message(before.message());
  }
  if (before.observedgeneration() > merged.observedgeneration()) {
    merged.set_observedgeneration(before.observedgeneration());
  }
  // What has ended does not come back to life. But a mirror may show how its static pod ended in
  // the life before this one: that pod may come back before its mirror is gone.
  if (IsTerminalPhase(before.phase()) && !IsMirror(shown)) merged.set_phase(before.phase());
  // A pod begins once: a late word of an agent before us may have told when.
  if (before.has_starttime()) *merged.mutable_starttime() = before.starttime();
  if (IsTerminalPhase(merged.phase())) ForceNotReady(shown, now, merged);
  return merged;
}

bool SameStatus(const core::PodStatus& a, const core::PodStatus& b) {
  if (SurelyDiffers(a, b)) return false;
  // To JSON, and so to a patch, a zero and nothing are the same.
  if (kube::SameJson(a, b)) return true;
  const bool same_order = std::ranges::equal(a.conditions(), b.conditions(), {},
                                             &core::PodCondition::type, &core::PodCondition::type);
  return !same_order && kube::SameJson(Sorted(a), Sorted(b));
}

Urgency UrgencyOf(const core::Pod& shown, const core::PodStatus& merged) {
  if (shown.metadata().has_deletiontimestamp() || IsTerminalPhase(merged.phase())) {
    return Urgency::kEnd;
  }
  if (IsTrue(shown.status(), "Ready") != IsTrue(merged, "Ready")) return Urgency::kReadiness;
  return IsOrdinaryStart(shown, merged) ? Urgency::kMayWait : Urgency::kNormal;
}

}  // namespace denselet::managers
