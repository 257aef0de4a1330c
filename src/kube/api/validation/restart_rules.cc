#include "kube/api/validation/restart_rules.h"

#include <set>

namespace denselet::kube {
namespace {

constexpr int kRulesMax = 20;
constexpr int kExitCodesMax = 255;

void ValidateRule(const core::ContainerRestartRule& rule, const FieldPath& path, FaultList& out) {
  CheckSupported(path / "action", rule.action(), {"Restart", "RestartAllContainers"}, out);
  if (!rule.has_exitcodes()) return out.Required(path / "exitCodes", "must be specified");
  const FieldPath codes = path / "exitCodes";
  CheckSupported(codes / "operator", rule.exitcodes().operator_(), {"In", "NotIn"}, out);
  if (rule.exitcodes().values_size() > kExitCodesMax) {
    out.TooMany(codes / "values", rule.exitcodes().values_size(), kExitCodesMax);
  }
}

}  // namespace

void RequireRestartPolicy(const FieldPath& path, FaultList& out) {
  out.Required(path / "restartPolicy", "must specify restartPolicy when restart rules are used");
}

void ValidateRestartRules(const core::Container& container, const FieldPath& path, FaultList& out) {
  const auto& rules = container.restartpolicyrules();
  if (container.has_restartpolicy()) {
    CheckSupported(path / "restartPolicy", container.restartpolicy(),
                   {"Always", "Never", "OnFailure"}, out);
  } else if (!rules.empty()) {
    RequireRestartPolicy(path, out);
  }
  if (rules.size() > kRulesMax) out.TooMany(path / "restartPolicyRules", rules.size(), kRulesMax);
  for (int i = 0; i < rules.size(); ++i) {
    ValidateRule(rules[i], (path / "restartPolicyRules")[i], out);
  }
}

// Most faults name the list and not its entry, as upstream's do.
void ValidateResizePolicy(const core::Container& container, const std::string& pod_restart_policy,
                          const FieldPath& path, FaultList& out) {
  std::set<std::string> names;
  for (int i = 0; i < container.resizepolicy_size(); ++i) {
    const std::string& name = container.resizepolicy(i).resourcename();
    const std::string& policy = container.resizepolicy(i).restartpolicy();
    if (!names.insert(name).second) out.Duplicate(path[i], FaultValue::Named(name));
    if (name.empty())
      out.Required(path);
    else
      CheckSupported(path, name, {"cpu", "memory"}, out);
    if (policy.empty())
      out.Required(path);
    else
      CheckSupported(path, policy, {"NotRequired", "RestartContainer"}, out);
    if (pod_restart_policy == "Never" && policy != "NotRequired") {
      out.Invalid(path, FaultValue::Named(policy),
                  "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  }
}

}  // namespace denselet::kube
