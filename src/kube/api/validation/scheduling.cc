#include "kube/api/validation/scheduling.h"

#include <set>

#include "kube/api/validation/selectors.h"

namespace denselet::kube {
namespace {

void ValidateTolerationValue(const core::Toleration& toleration, const FieldPath& path,
                             FaultList& out) {
  const std::string& op = toleration.operator_();
  if (op == "Equal" || op.empty()) {
    const NameFaults faults = CheckLabelValue(toleration.value());
    if (!faults.empty()) out.Invalid(path / "operator", toleration.value(), Join(faults, ";"));
  } else if (op == "Exists") {
    if (toleration.value().empty()) return;
    out.Invalid(path / "operator", toleration.value(),
                "value must be empty when `operator` is 'Exists'");
  } else if (op == "Lt" || op == "Gt") {
    // They need the gate TaintTolerationComparisonOperators, which is off.
    out.NotSupported(path / "operator", FaultValue::Named(op), {"Equal", "Exists", "Lt", "Gt"});
  } else {
    out.NotSupported(path / "operator", FaultValue::Named(op), {"Equal", "Exists"});
  }
}

void ValidatePositive(int64_t value, const FieldPath& path, FaultList& out) {
  if (value <= 0) out.Invalid(path, value, kNotPositive);
}

void ValidateSpread(const core::TopologySpreadConstraint& constraint, const FieldPath& path,
                    FaultList& out) {
  if (constraint.has_mindomains()) {
    ValidatePositive(constraint.mindomains(), path / "minDomains", out);
    if (constraint.whenunsatisfiable() != "DoNotSchedule") {
      out.Invalid(path / "minDomains", constraint.mindomains(),
                  "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " +
                      constraint.whenunsatisfiable());
    }
  }
  if (constraint.has_nodeaffinitypolicy()) {
    CheckSupported(path / "nodeAffinityPolicy", constraint.nodeaffinitypolicy(),
                   {"Honor", "Ignore"}, out);
  }
  if (constraint.has_nodetaintspolicy()) {
    CheckSupported(path / "nodeTaintsPolicy", constraint.nodetaintspolicy(), {"Honor", "Ignore"},
                   out);
  }
  ValidateLabelKeys(constraint.matchlabelkeys(), constraint.has_labelselector(),
                    path / "matchLabelKeys", out);
  ValidateKeysNotInSelector(constraint.matchlabelkeys(), constraint.labelselector(), path, out);
  ValidateLabelSelector(constraint.labelselector(), path / "labelSelector", out);
}

bool IsRepeated(const core::PodSpec& spec, int at) {
  const auto& constraint = spec.topologyspreadconstraints(at);
  for (int i = at + 1; i < spec.topologyspreadconstraints_size(); ++i) {
    const auto& other = spec.topologyspreadconstraints(i);
    if (other.topologykey() == constraint.topologykey() &&
        other.whenunsatisfiable() == constraint.whenunsatisfiable()) {
      return true;
    }
  }
  return false;
}

}  // namespace

void ValidateTolerations(const google::protobuf::RepeatedPtrField<core::Toleration>& tolerations,
                         const FieldPath& path, FaultList& out) {
  for (int i = 0; i < tolerations.size(); ++i) {
    const auto& toleration = tolerations[i];
    if (!toleration.key().empty()) {
      out.Invalid(path[i] / "key", toleration.key(), CheckQualifiedName(toleration.key()));
    } else if (toleration.operator_() != "Exists") {
      out.Invalid(path[i] / "operator", FaultValue::Named(toleration.operator_()),
                  "operator must be Exists when `key` is empty, which means \"match all values and "
                  "all keys\"");
    }
    if (toleration.has_tolerationseconds() && toleration.effect() != "NoExecute") {
      out.Invalid(path[i] / "effect", FaultValue::Named(toleration.effect()),
                  "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    ValidateTolerationValue(toleration, path[i], out);
    if (!toleration.effect().empty()) {
      CheckSupported(path[i] / "effect", toleration.effect(),
                     {"NoSchedule", "PreferNoSchedule", "NoExecute"}, out);
    }
  }
}

void ValidateTopologySpread(const core::PodSpec& spec, const FieldPath& path, FaultList& out) {
  for (int i = 0; i < spec.topologyspreadconstraints_size(); ++i) {
    const auto& constraint = spec.topologyspreadconstraints(i);
    ValidatePositive(constraint.maxskew(), path[i] / "maxSkew", out);
    if (constraint.topologykey().empty()) out.Required(path[i] / "topologyKey", "can not be empty");
    CheckSupported(path[i] / "whenUnsatisfiable", constraint.whenunsatisfiable(),
                   {"DoNotSchedule", "ScheduleAnyway"}, out);
    if (IsRepeated(spec, i)) {
      out.Duplicate(path[i] / "{topologyKey, whenUnsatisfiable}",
                    "{" + constraint.topologykey() + ", " + constraint.whenunsatisfiable() + "}");
    }
    ValidateSpread(constraint, path[i], out);
  }
}

void ValidateGates(const core::PodSpec& spec, const FieldPath& spec_path, FaultList& out) {
  for (int i = 0; i < spec.readinessgates_size(); ++i) {
    const std::string& type = spec.readinessgates(i).conditiontype();
    out.Invalid((spec_path / "readinessGates")[i] / "conditionType", type,
                CheckQualifiedName(type));
  }
  std::set<std::string> names;
  for (int i = 0; i < spec.schedulinggates_size(); ++i) {
    const std::string& name = spec.schedulinggates(i).name();
    const FieldPath path = (spec_path / "schedulingGates")[i];
    out.Invalid(path, name, CheckQualifiedName(name));
    if (!names.insert(name).second) out.Duplicate(path, name);
  }
}

void ValidateSchedulingGroup(const core::PodSchedulingGroup& group, const FieldPath& path,
                             FaultList& out) {
  const FieldPath name_path = path / "podGroupName";
  if (!group.has_podgroupname()) {
    return out.Invalid(name_path, FaultValue::Raw("null"), "must specify one of: `podGroupName`");
  }
  out.Invalid(name_path, group.podgroupname(), CheckDns1123Subdomain(group.podgroupname()));
}

}  // namespace denselet::kube
