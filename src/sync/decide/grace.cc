#include "sync/decide/grace.h"

#include <algorithm>

#include "sync/decide/pod_state.h"

namespace denselet::sync {
namespace {

std::optional<int64_t> ProbeGrace(const ContainerPlan& container, KillReason reason) {
  switch (reason) {
    case KillReason::kStartupProbe:
      return container.startup_grace_seconds;
    case KillReason::kLivenessProbe:
      return container.liveness_grace_seconds;
    case KillReason::kNone:
    case KillReason::kChanged:
    case KillReason::kPostStartFailed:
    case KillReason::kUnknownState:
    case KillReason::kDuplicate:
    case KillReason::kRestartAll:
    case KillReason::kPodStops:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Seconds KillGrace(const PodPlan& plan, const ContainerPlan& container, KillReason reason) {
  if (reason == KillReason::kRestartAll) return Seconds(0);
  if (plan.deletion_grace_seconds) return Seconds(*plan.deletion_grace_seconds);
  if (!plan.termination_grace_seconds) return kMinimumGrace;
  return Seconds(ProbeGrace(container, reason).value_or(*plan.termination_grace_seconds));
}

Seconds GraceLeft(Seconds grace, TimePoint began, TimePoint now) {
  const Seconds passed = std::chrono::duration_cast<Seconds>(std::max(now - began, Duration(0)));
  return std::max(grace - passed, Seconds(0));
}

int64_t ShrinkGrace(int64_t before, const PodPlan& plan, std::optional<int64_t> asked_for) {
  int64_t grace = before;
  bool said = false;
  for (const std::optional<int64_t>& wish : {plan.deletion_grace_seconds, asked_for}) {
    if (!wish || (grace != 0 && *wish >= grace)) continue;
    grace = *wish;
    said = true;
  }
  if (!said && grace == 0) grace = plan.termination_grace_seconds.value_or(0);
  return std::max<int64_t>(grace, 1);
}

}  // namespace denselet::sync
