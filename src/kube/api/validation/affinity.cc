#include <map>
#include <set>

#include "kube/api/codec/sorted.h"
#include "kube/api/validation/scheduling.h"
#include "kube/api/validation/selectors.h"

namespace denselet::kube {
namespace {

enum class LabelValues : uint8_t { kChecked, kAny };

void ValidateOperator(const core::NodeSelectorRequirement& requirement, const FieldPath& path,
                      FaultList& out) {
  const std::string& op = requirement.operator_();
  const FieldPath values = path / "values";
  if (op == "In" || op == "NotIn") {
    if (requirement.values().empty()) {
      out.Required(values, "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!requirement.values().empty()) {
      out.Forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else if (op == "Gt" || op == "Lt") {
    if (requirement.values_size() != 1) {
      out.Required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    out.Invalid(path / "operator", FaultValue::Named(op), "not a valid selector operator");
  }
}

void ValidateExpression(const core::NodeSelectorRequirement& requirement, LabelValues values,
                        const FieldPath& path, FaultList& out) {
  ValidateOperator(requirement, path, out);
  out.Invalid(path / "key", requirement.key(), CheckQualifiedName(requirement.key()));
  if (values == LabelValues::kAny) return;
  for (int i = 0; i < requirement.values_size(); ++i) {
    const std::string& value = requirement.values(i);
    out.Invalid((path / "values")[i], value, CheckLabelValue(value));
  }
}

void ValidateField(const core::NodeSelectorRequirement& requirement, const FieldPath& path,
                   FaultList& out) {
  if (!IsOneOf(requirement.operator_(), {"In", "NotIn"})) {
    out.Invalid(path / "operator", FaultValue::Named(requirement.operator_()),
                "not a valid selector operator");
  } else if (requirement.values_size() != 1) {
    out.Required(
        path / "values",
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  }
  if (requirement.key() != "metadata.name") {
    return out.Invalid(path / "key", requirement.key(), "not a valid field selector key");
  }
  for (int i = 0; i < requirement.values_size(); ++i) {
    const std::string& value = requirement.values(i);
    out.Invalid((path / "values")[i], value, CheckDns1123Subdomain(value));
  }
}

void ValidateTerm(const core::NodeSelectorTerm& term, LabelValues values, const FieldPath& path,
                  FaultList& out) {
  for (int i = 0; i < term.matchexpressions_size(); ++i) {
    ValidateExpression(term.matchexpressions(i), values, (path / "matchExpressions")[i], out);
  }
  for (int i = 0; i < term.matchfields_size(); ++i) {
    ValidateField(term.matchfields(i), (path / "matchFields")[i], out);
  }
}

void ValidateWeight(int32_t weight, const FieldPath& path, FaultList& out) {
  constexpr int32_t kWeightMax = 100;
  if (weight > 0 && weight <= kWeightMax) return;
  out.Invalid(path / "weight", weight, "must be in the range 1-100");
}

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

void ValidateNodeAffinity(const core::NodeAffinity& affinity, const FieldPath& path,
                          FaultList& out) {
  if (affinity.has_requiredduringschedulingignoredduringexecution()) {
    const auto& terms =
        affinity.requiredduringschedulingignoredduringexecution().nodeselectorterms();
    const FieldPath at = path / kRequired / "nodeSelectorTerms";
    if (terms.empty()) out.Required(at, "must have at least one node selector term");
    for (int i = 0; i < terms.size(); ++i)
      ValidateTerm(terms[i], LabelValues::kChecked, at[i], out);
  }
  const auto& preferred = affinity.preferredduringschedulingignoredduringexecution();
  for (int i = 0; i < preferred.size(); ++i) {
    const FieldPath at = (path / kPreferred)[i];
    ValidateWeight(preferred[i].weight(), at, out);
    ValidateTerm(preferred[i].preference(), LabelValues::kAny, at / "preference", out);
  }
}

void ValidatePodTerm(const core::PodAffinityTerm& term, const FieldPath& path, FaultList& out) {
  ValidateLabelSelector(term.labelselector(), path / "labelSelector", out);
  ValidateLabelSelector(term.namespaceselector(), path / "namespaceSelector", out);
  for (const std::string& name : term.namespaces()) {
    out.Invalid(path / "namespace", name, CheckDns1123Label(name));
  }
  ValidateLabelKeys(term.matchlabelkeys(), term.has_labelselector(), path / "matchLabelKeys", out);
  ValidateLabelKeys(term.mismatchlabelkeys(), term.has_labelselector(), path / "mismatchLabelKeys",
                    out);
  ValidateKeysNotInSelector(term.matchlabelkeys(), term.labelselector(), path, out);
  const std::set<std::string> mismatch(term.mismatchlabelkeys().begin(),
                                       term.mismatchlabelkeys().end());
  for (int i = 0; i < term.matchlabelkeys_size(); ++i) {
    if (!mismatch.contains(term.matchlabelkeys(i))) continue;
    out.Invalid((path / "matchLabelKeys")[i], term.matchlabelkeys(i),
                "exists in both matchLabelKeys and mismatchLabelKeys");
  }
  if (term.topologykey().empty()) out.Required(path / "topologyKey", "can not be empty");
  out.Invalid(path / "topologyKey", term.topologykey(), CheckQualifiedName(term.topologykey()));
}

// PodAffinity and PodAntiAffinity have the same fields.
template <class PodAffinity>
void ValidatePodAffinity(const PodAffinity& affinity, const FieldPath& path, FaultList& out) {
  const auto& required = affinity.requiredduringschedulingignoredduringexecution();
  for (int i = 0; i < required.size(); ++i) {
    ValidatePodTerm(required[i], (path / kRequired)[i], out);
  }
  const auto& preferred = affinity.preferredduringschedulingignoredduringexecution();
  for (int i = 0; i < preferred.size(); ++i) {
    const FieldPath at = (path / kPreferred)[i];
    ValidateWeight(preferred[i].weight(), at, out);
    ValidatePodTerm(preferred[i].podaffinityterm(), at / "podAffinityTerm", out);
  }
}

}  // namespace

void ValidateKeysNotInSelector(const google::protobuf::RepeatedPtrField<std::string>& keys,
                               const meta::LabelSelector& selector, const FieldPath& path,
                               FaultList& out) {
  std::map<std::string, int> index;
  for (int i = 0; i < keys.size(); ++i) index[keys[i]] = i;
  std::set<std::string> seen;
  for (const auto* label : Sorted(selector.matchlabels())) seen.insert(label->first);
  for (const auto& expression : selector.matchexpressions()) {
    const auto at = index.find(expression.key());
    if (!seen.insert(expression.key()).second && at != index.end()) {
      out.Invalid(path[at->second], expression.key(),
                  "exists in both matchLabelKeys and labelSelector");
    }
  }
}

void ValidateAffinity(const core::Affinity& affinity, const FieldPath& path, FaultList& out) {
  ValidateNodeAffinity(affinity.nodeaffinity(), path / "nodeAffinity", out);
  ValidatePodAffinity(affinity.podaffinity(), path / "podAffinity", out);
  ValidatePodAffinity(affinity.podantiaffinity(), path / "podAntiAffinity", out);
}

}  // namespace denselet::kube
