#include "sync/status/status_end.h"

#include <algorithm>

#include "base/check.h"
#include "kube/api/types.h"
#include "sync/spec/pod_traits.h"
#include "sync/status/status_lookup.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

void SetUnknownEnd(core::ContainerStatus& status) {
  if (status.state().has_terminated()) return;
  status.mutable_state()->Clear();
  auto& ended = *status.mutable_state()->mutable_terminated();
  ended.set_reason("ContainerStatusUnknown");
  ended.set_message("The container could not be located when the pod was terminated");
  ended.set_exitcode(137);
}

bool Completed(const core::ContainerState& state) {
  return state.has_terminated() && state.terminated().exitcode() == 0;
}

// Whether there is any sign that regular containers were started: then those that nobody knows of
// have failed.
bool WasInitialized(const core::Pod& pod, const core::PodStatus& status) {
  if (pod.spec().initcontainers().empty()) return true;
  for (const core::ContainerStatus& container : status.containerstatuses()) {
    if (container.laststate().has_terminated() || !container.state().has_waiting()) return true;
  }
  if (status.initcontainerstatuses().empty()) return false;
  const core::ContainerStatus& last = *status.initcontainerstatuses().rbegin();
  if (IsSidecarOf(pod, last.name())) return last.state().has_running() && last.started();
  return Completed(last.laststate()) || Completed(last.state());
}

// All but those at the end that were never started; the first one in any case.
int BegunInitContainers(const core::PodStatus& status) {
  int begun = status.initcontainerstatuses_size();
  while (begun > 1) {
    const core::ContainerStatus& last = status.initcontainerstatuses(begun - 1);
    if (!last.state().has_waiting() || last.laststate().has_terminated()) break;
    --begun;
  }
  return begun;
}

}  // namespace

void EndStatus(const core::Pod& pod, core::PodStatus& out) {
  if (WasInitialized(pod, out)) {
    for (core::ContainerStatus& status : *out.mutable_containerstatuses()) SetUnknownEnd(status);
  }
  const int begun = BegunInitContainers(out);
  for (int i = 0; i < begun; ++i) SetUnknownEnd(*out.mutable_initcontainerstatuses(i));
  if (!IsStaticPod(pod) && !IsTerminalPhase(out.phase())) out.set_phase("Failed");
}

Status CheckContainerTransitions(const StatusInput& input, const core::PodStatus& old,
                                 const core::PodStatus& out) {
  if (input.plan.restart_policy == RestartPolicy::kAlways) return Ok();
  for (const ContainerPlan& plan : input.plan.containers) {
    if (plan.kind == ContainerKind::kSidecar || plan.kind == ContainerKind::kEphemeral) continue;
    const bool all_restart = std::ranges::any_of(plan.restart_rules, [](const RestartRule& rule) {
      return rule.action == RestartRule::Action::kRestartAllContainers;
    });
    if (all_restart) return Ok();
  }
  for (const ContainerPlan& plan : input.plan.containers) {
    if (plan.kind == ContainerKind::kSidecar || plan.kind == ContainerKind::kEphemeral) continue;
    const core::ContainerStatus* before = FindStatus(old, plan.name);
    const core::ContainerStatus* after = FindStatus(out, plan.name);
    if (!before || !after || !before->state().has_terminated()) continue;
    const int32_t exit_code = before->state().terminated().exitcode();
    const bool on_failure =
        exit_code != 0 && input.plan.restart_policy == RestartPolicy::kOnFailure;
    if (on_failure || RestartsAfterExit(input.plan, plan, exit_code)) continue;
    ENSURE(after->state().has_terminated(),
           "a container that ended for good is shown as not ended: " + plan.name);
  }
  return Ok();
}

}  // namespace denselet::sync
