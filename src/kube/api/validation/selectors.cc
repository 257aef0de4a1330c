#include "kube/api/validation/selectors.h"

#include "kube/api/codec/sorted.h"
#include "kube/api/validation/names.h"

namespace denselet::kube {
namespace {

void ValidateRequirement(const meta::LabelSelectorRequirement& requirement, const FieldPath& path,
                         FaultList& out) {
  const std::string& op = requirement.operator_();
  if (op == "In" || op == "NotIn") {
    if (requirement.values().empty()) {
      out.Required(path / "values", "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!requirement.values().empty()) {
      out.Forbidden(path / "values",
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else {
    out.Invalid(path / "operator", FaultValue::Named(op), "not a valid selector operator");
  }
  out.Invalid(path / "key", requirement.key(), CheckQualifiedName(requirement.key()));
  for (int i = 0; i < requirement.values_size(); ++i) {
    const std::string& value = requirement.values(i);
    out.Invalid((path / "values")[i], value, CheckLabelValue(value));
  }
}

}  // namespace

void ValidateLabels(const TextMap& labels, const FieldPath& path, FaultList& out) {
  for (const auto* label : Sorted(labels)) {
    out.Invalid(path, label->first, CheckQualifiedName(label->first));
    out.Invalid(path, label->second, CheckLabelValue(label->second));
  }
}

bool IsAnnotationsSizeExceeded(const TextMap& annotations) {
  size_t size = 0;
  for (const auto* annotation : Sorted(annotations)) {
    size += annotation->first.size() + annotation->second.size();
  }
  return size > kAnnotationsSizeMax;
}

void ValidateAnnotations(const TextMap& annotations, const FieldPath& path, FaultList& out) {
  for (const auto* annotation : Sorted(annotations)) {
    out.Invalid(path, annotation->first, CheckQualifiedName(ToLower(annotation->first)));
  }
  if (IsAnnotationsSizeExceeded(annotations)) out.TooLong(path, kAnnotationsSizeMax);
}

void ValidateLabelSelector(const meta::LabelSelector& selector, const FieldPath& path,
                           FaultList& out) {
  ValidateLabels(selector.matchlabels(), path / "matchLabels", out);
  for (int i = 0; i < selector.matchexpressions_size(); ++i) {
    ValidateRequirement(selector.matchexpressions(i), (path / "matchExpressions")[i], out);
  }
}

}  // namespace denselet::kube
