#include "managers/node/reconcile.h"

#include <string>
#include <vector>

#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "kube/api/values/quantity.h"
#include "managers/node/node_object.h"
#include "managers/node/node_resources.h"

namespace denselet::node {

namespace {

using QuantityMap = google::protobuf::Map<std::string, kube::resource::Quantity>;

constexpr const char* kReconciledLabels[] = {kHostnameLabel,
                                             "topology.kubernetes.io/zone",
                                             "topology.kubernetes.io/region",
                                             "failure-domain.beta.kubernetes.io/zone",
                                             "failure-domain.beta.kubernetes.io/region",
                                             "node.kubernetes.io/instance-type",
                                             "beta.kubernetes.io/instance-type",
                                             kOsLabel,
                                             kArchLabel,
                                             kBetaOsLabel,
                                             kBetaArchLabel};

bool ReconcileLabels(const kube::meta::ObjectMeta& initial, kube::meta::ObjectMeta& existing) {
  bool changed = false;
  for (const char* label : kReconciledLabels) {
    const auto wanted = initial.labels().find(label);
    if (wanted == initial.labels().end()) continue;
    auto& labels = *existing.mutable_labels();
    const auto found = labels.find(label);
    const std::string value = found == labels.end() ? "" : found->second;
    if (value != wanted->second) changed = true;
    // One without a value is none.
    if (wanted->second.empty()) {
      labels.erase(label);
    } else {
      labels[label] = wanted->second;
    }
  }
  return changed;
}

bool ReconcileAttachDetach(const kube::meta::ObjectMeta& initial,
                           kube::meta::ObjectMeta& existing) {
  const auto wanted = initial.annotations().find(kAttachDetachAnnotation);
  const auto found = existing.annotations().find(kAttachDetachAnnotation);
  const bool is_wanted = wanted != initial.annotations().end();
  const bool is_there = found != existing.annotations().end();
  const std::string value = is_wanted ? wanted->second : "";
  if (value == (is_there ? found->second : "")) return false;
  if (is_wanted) {
    (*existing.mutable_annotations())[kAttachDetachAnnotation] = value;
  } else {
    existing.mutable_annotations()->erase(kAttachDetachAnnotation);
  }
  return true;
}

bool FillEmpty(const QuantityMap& initial, QuantityMap& existing) {
  if (!existing.empty() || initial.empty()) return false;
  existing = initial;
  return true;
}

bool ResetExtended(kube::core::NodeStatus& status) {
  std::vector<std::string> names;
  for (const auto* entry : kube::Sorted(status.capacity())) {
    if (IsExtendedResource(entry->first)) names.push_back(entry->first);
  }
  for (const std::string& name : names) {
    (*status.mutable_capacity())[name].set_string("0");
    (*status.mutable_allocatable())[name].set_string("0");
  }
  return !names.empty();
}

bool SameQuantity(const kube::resource::Quantity& a, const kube::resource::Quantity& b) {
  const Result<kube::Quantity> x = kube::Quantity::Parse(a.string());
  const Result<kube::Quantity> y = kube::Quantity::Parse(b.string());
  return x && y ? *x == *y : a.string() == b.string();
}

// True: it was another, or none.
bool Copy(const QuantityMap& from, const std::string& name, QuantityMap& to) {
  const auto wanted = from.find(name);
  if (wanted == from.end()) return false;
  const auto found = to.find(name);
  if (found != to.end() && SameQuantity(found->second, wanted->second)) return false;
  to[name] = wanted->second;
  return true;
}

bool ReconcileHugePages(const kube::core::NodeStatus& initial, kube::core::NodeStatus& existing) {
  bool changed = false;
  for (const auto* entry : kube::Sorted(initial.capacity())) {
    const std::string& name = entry->first;
    if (!IsHugePageResource(name)) continue;
    changed |= Copy(initial.capacity(), name, *existing.mutable_capacity());
    changed |= Copy(initial.allocatable(), name, *existing.mutable_allocatable());
  }
  std::vector<std::string> gone;
  for (const auto* entry : kube::Sorted(existing.capacity())) {
    const std::string& name = entry->first;
    if (IsHugePageResource(name) && !initial.capacity().contains(name)) gone.push_back(name);
  }
  for (const std::string& name : gone) {
    existing.mutable_capacity()->erase(name);
    existing.mutable_allocatable()->erase(name);
  }
  return changed || !gone.empty();
}

}  // namespace

bool ReconcileNode(const kube::core::Node& initial, ExtendedResources extended,
                   kube::core::Node& existing) {
  bool changed = ReconcileAttachDetach(initial.metadata(), *existing.mutable_metadata());
  changed |= ReconcileLabels(initial.metadata(), *existing.mutable_metadata());
  kube::core::NodeStatus& status = *existing.mutable_status();
  changed |= FillEmpty(initial.status().capacity(), *status.mutable_capacity());
  changed |= FillEmpty(initial.status().allocatable(), *status.mutable_allocatable());
  if (extended == ExtendedResources::kReset) changed |= ResetExtended(status);
  changed |= ReconcileHugePages(initial.status(), status);
  return changed;
}

}  // namespace denselet::node
