#include "sync/admission/node_view.h"

#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "kube/api/values/quantity.h"

namespace denselet::sync {

NodeView ReadNodeView(const kube::core::Node& node) {
  NodeView view{.name = node.metadata().name()};
  for (const auto* label : kube::Sorted(node.metadata().labels())) {
    view.labels[label->first] = label->second;
  }
  for (const auto& taint : node.spec().taints()) {
    view.taints.push_back({taint.key(), taint.value(), taint.effect()});
  }
  for (const auto* entry : kube::Sorted(node.status().allocatable())) {
    const auto quantity = kube::Quantity::Parse(entry->second.string());
    if (!quantity) continue;
    if (entry->first == "pods") view.pods_max = quantity->Units();
    // Also what it has none of: a resource that is known and used up is not a missing one.
    if (IsCountedResource(entry->first)) {
      view.allocatable[entry->first] =
          entry->first == "cpu" ? quantity->Milli() : quantity->Units();
    }
  }
  view.supplemental_groups_policy = node.status().features().supplementalgroupspolicy();
  return view;
}

}  // namespace denselet::sync
