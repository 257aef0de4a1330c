// Who is started again: the container's rules, its policy, the pod's policy, in that order.
#include <algorithm>

#include "sync/decide/pod_plan.h"

namespace denselet::sync {
namespace {

bool Matches(const RestartRule& rule, int32_t exit_code) {
  const bool listed = std::ranges::find(rule.values, exit_code) != rule.values.end();
  switch (rule.exit_codes) {
    case RestartRule::Operator::kIn:
      return listed;
    case RestartRule::Operator::kNotIn:
      return !listed;
    case RestartRule::Operator::kOther:
      return false;
  }
  return false;
}

// The first rule that matches decides; null: none does.
const RestartRule* FindRule(const ContainerPlan& container, int32_t exit_code) {
  const auto found = std::ranges::find_if(
      container.restart_rules, [&](const RestartRule& rule) { return Matches(rule, exit_code); });
  return found == container.restart_rules.end() ? nullptr : &*found;
}

}  // namespace

bool RestartsAfterExit(const PodPlan& pod, const ContainerPlan& container, int32_t exit_code) {
  if (container.restart_policy) {
    const RestartRule* rule = FindRule(container, exit_code);
    if (rule && rule->action != RestartRule::Action::kOther) return true;
  }
  switch (container.restart_policy.value_or(pod.restart_policy)) {
    case RestartPolicy::kAlways:
      return true;
    case RestartPolicy::kOnFailure:
      return exit_code != 0;
    case RestartPolicy::kNever:
      return false;
  }
  return true;
}

bool RestartsAllAfterExit(const ContainerPlan& container, int32_t exit_code) {
  const RestartRule* rule = FindRule(container, exit_code);
  return rule && rule->action == RestartRule::Action::kRestartAllContainers;
}

bool RestartsAfterKill(const PodPlan& pod, const ContainerPlan& container) {
  return container.restart_policy.value_or(pod.restart_policy) != RestartPolicy::kNever;
}

}  // namespace denselet::sync
