#include "sync/status/pod_phase.h"

#include <algorithm>

#include "kube/api/types.h"
#include "sync/spec/pod_traits.h"
#include "sync/status/status_lookup.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

struct Counts {
  // Of init containers.
  int pending = 0;
  int failed_for_good = 0;
  // Of sidecars.
  int sidecars_pending = 0;
  // Of sidecars and regular containers.
  int unknown = 0, running = 0, waiting = 0;
  // Of regular containers.
  int stopped = 0, stopped_for_good = 0, succeeded = 0;
};

class Counter {
 public:
  Counter(const StatusInput& input, const core::PodStatus& status) : in_(input), status_(status) {}

  Counts Run() {
    for (const ContainerPlan& plan : in_.plan.containers) {
      const core::ContainerStatus* status = FindStatus(status_, plan.name);
      switch (plan.kind) {
        case ContainerKind::kInit:
          AddInit(plan, status);
          break;
        case ContainerKind::kSidecar:
          AddSidecar(status);
          break;
        case ContainerKind::kRegular:
          AddRegular(plan, status);
          break;
        case ContainerKind::kEphemeral:
          break;
      }
    }
    return counts_;
  }

 private:
  bool ForGood(const ContainerPlan& plan, const core::ContainerStateTerminated& ended) const {
    return !RestartsAfterExit(in_.plan, plan, ended.exitcode()) &&
           ended.reason() != "RestartingAllContainers";
  }

  // How it ended, if that is what counts of it: it has ended, or waits to be started again.
  static const core::ContainerStateTerminated* EndOf(const core::ContainerStatus& status) {
    if (status.state().has_running()) return nullptr;
    if (status.state().has_terminated()) return &status.state().terminated();
    if (!status.state().has_waiting() || !status.laststate().has_terminated()) return nullptr;
    return &status.laststate().terminated();
  }

  void AddInit(const ContainerPlan& plan, const core::ContainerStatus* status) {
    const auto* ended = status ? EndOf(*status) : nullptr;
    if (!ended) {
      ++counts_.pending;
    } else if (ended->exitcode() != 0 && ForGood(plan, *ended)) {
      ++counts_.failed_for_good;
    }
  }

  // Those that ended do not count.
  void AddSidecar(const core::ContainerStatus* status) {
    if (!status) {
      ++counts_.unknown;
    } else if (status->state().has_running()) {
      if (!status->started()) ++counts_.sidecars_pending;
      ++counts_.running;
    } else if (!EndOf(*status)) {
      ++counts_.sidecars_pending;
      ++(status->state().has_waiting() ? counts_.waiting : counts_.unknown);
    }
  }

  void AddRegular(const ContainerPlan& plan, const core::ContainerStatus* status) {
    if (!status) {
      ++counts_.unknown;
    } else if (status->state().has_running()) {
      ++counts_.running;
    } else if (const auto* ended = EndOf(*status)) {
      ++counts_.stopped;
      if (ForGood(plan, *ended)) ++counts_.stopped_for_good;
      if (status->state().has_terminated() && ended->exitcode() == 0) ++counts_.succeeded;
    } else {
      ++(status->state().has_waiting() ? counts_.waiting : counts_.unknown);
    }
  }

  const StatusInput& in_;
  const core::PodStatus& status_;
  Counts counts_ = {};
};

// Sidecars that restart do not make a pod pending that was initialized in its present sandbox.
bool WasInitialized(const StatusInput& input) {
  if (input.seen.sandboxes.empty()) return false;
  const ObservedSandbox& sandbox = input.seen.sandboxes.front();
  if (sandbox.state != SandboxState::kReady) return false;
  return std::ranges::any_of(input.seen.containers, [&](const ObservedContainer& container) {
    const ContainerIndex index = input.plan.Find(container.name);
    return index != kNoContainer && container.sandbox == sandbox.id &&
           input.plan.containers[index].kind == ContainerKind::kRegular;
  });
}

std::string_view PhaseName(PodOutcome outcome) {
  return outcome == PodOutcome::kSucceeded ? "Succeeded" : "Failed";
}

}  // namespace

std::string_view PhaseOfContainers(const StatusInput& input, const core::PodStatus& status) {
  const Counts n = Counter(input, status).Run();
  if (n.failed_for_good > 0) return "Failed";
  const bool initializing = n.pending > 0 || (n.sidecars_pending > 0 && !WasInitialized(input));
  if (initializing || n.waiting > 0 || n.unknown > 0) return "Pending";
  if (n.running > 0) return "Running";
  if (n.stopped == 0) return "Pending";
  // A static pod that was removed ends without a last word.
  const bool ends = input.ends && !IsStaticPod(input.pod);
  if (!ends && n.stopped != n.stopped_for_good) return "Running";
  return n.stopped == n.succeeded ? "Succeeded" : "Failed";
}

void SetPhase(const StatusInput& input, const core::PodStatus& old, core::PodStatus& out) {
  const core::PodStatus& api = input.pod.status();
  std::string phase(PhaseOfContainers(input, out));
  if (!IsTerminalPhase(phase) && IsTerminalPhase(old.phase())) phase = old.phase();
  if (!IsTerminalPhase(phase) && IsTerminalPhase(api.phase())) phase = api.phase();
  if (phase == old.phase()) {
    const auto first = [](const std::string& a, const std::string& b) { return a.empty() ? b : a; };
    out.set_reason(first(old.reason(), api.reason()));
    out.set_message(first(old.message(), api.message()));
  }
  // One that has done its work still runs while its sidecars do.
  const bool decided =
      input.ends || (input.ending && input.ending->reason != EndReason::kCompleted);
  if (input.ending && input.ending->outcome && decided) phase = PhaseName(*input.ending->outcome);
  if (input.ending && !input.ending->status_reason.empty()) {
    out.set_reason(input.ending->status_reason);
    out.set_message(input.ending->status_message);
  }
  // What the API server has as ended stays ended in that way.
  if (IsTerminalPhase(api.phase())) phase = api.phase();
  out.set_phase(phase);
}

}  // namespace denselet::sync
