#include "tests/sim/core/status_checks.h"

#include <algorithm>

#include "kube/api/types.h"

namespace denselet::sim {
namespace {

using kube::core::ContainerStatus;
using kube::core::PodStatus;

// A read that was lost, its repetition, and a turn for the status.
constexpr Duration kOnItsWay = Seconds(20);

PodStatus Parse(const std::string& bytes) {
  PodStatus status;
  CHECK(status.ParseFromString(bytes));
  return status;
}

const ContainerStatus* Find(const PodStatus& status, const std::string& name) {
  for (const ContainerStatus& container : status.containerstatuses()) {
    if (container.name() == name) return &container;
  }
  return nullptr;
}

}  // namespace

bool StatusChecks::RunsInTheRuntime(const PodUid& pod) {
  return std::ranges::any_of(core_.model().Read(pod).containers, [](const auto& container) {
    return container.state == sync::ContainerState::kRunning;
  });
}

void StatusChecks::OnStatus(const sync::PodStatusUpdate& update) {
  const PodUid uid(std::string(update.pod->hot().uid));
  const auto parsed = std::make_shared<const PodStatus>(Parse(update.status));
  const PodStatus& status = *parsed;
  Told& told = told_[uid];
  if (update.version <= told.version) core_.Problem(uid.value() + ": an older status is told");
  // One that goes on from what a mirror shows does not go on from the one before.
  if (told.version != 0 && told.mirror == update.mirror) CheckBack(uid, told, status);
  const bool quiet = update.may_run == sync::MayRun::kNo;
  if (quiet && RunsInTheRuntime(uid)) {
    core_.Problem(uid.value() + ": told to be at its end while a container runs");
  }
  if (update.finished == sync::Finished::kYes && !quiet) {
    core_.Problem(uid.value() + ": finished, and may run");
  }
  if (update.finished == sync::Finished::kYes && !update.pod->hot().IsStatic() &&
      !sync::IsTerminalPhase(status.phase())) {
    core_.Problem(uid.value() + ": finished in phase " + status.phase());
  }
  told = {update.version, parsed, quiet, update.mirror};
}

// Within one life of the agent and of the pod.
void StatusChecks::CheckBack(const PodUid& pod, const Told& before, const PodStatus& now) {
  const PodStatus& then = *before.status;
  if (before.quiet && sync::IsTerminalPhase(then.phase()) && now.phase() != then.phase()) {
    core_.Problem(pod.value() + ": from " + then.phase() + " back to " + now.phase());
  }
  if (then.has_starttime() && now.starttime().seconds() != then.starttime().seconds()) {
    core_.Problem(pod.value() + ": its start time moved");
  }
  for (const ContainerStatus& container : now.containerstatuses()) {
    const ContainerStatus* old = Find(then, container.name());
    if (old != nullptr && container.restartcount() < old->restartcount()) {
      core_.Problem(pod.value() + ": fewer restarts of " + container.name() + " than before");
    }
  }
}

std::string StatusChecks::NotTrue() {
  for (const auto& [uid, told] : told_) {
    const sync::PodWorker* const worker = core_.Worker(uid);
    if (worker == nullptr || !worker->wish()) continue;
    const PodStatus& status = *told.status;
    const sync::ObservedPod there_now = core_.model().Read(uid);
    const auto& there = there_now.containers;
    for (const ContainerStatus& container : status.containerstatuses()) {
      // What changed a moment ago may still be on its way.
      const auto lately = [&](const std::optional<WallTime>& at) {
        return at && core_.world().clock().WallNow() - *at < kOnItsWay;
      };
      const bool changes = std::ranges::any_of(there, [&](const auto& seen) {
        return seen.name == container.name() && (lately(seen.started) || lately(seen.finished));
      });
      if (changes) continue;
      const bool runs = std::ranges::any_of(there, [&](const auto& seen) {
        return seen.name == container.name() && seen.state == sync::ContainerState::kRunning;
      });
      if (runs != container.state().has_running()) {
        return uid.value() + ": " + container.name() + (runs ? " runs" : " does not run") +
               " and its status does not tell";
      }
    }
  }
  return "";
}

}  // namespace denselet::sim
