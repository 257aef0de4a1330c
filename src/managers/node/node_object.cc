#include "managers/node/node_object.h"

#include "kube/api/types.h"

namespace denselet::node {

namespace {

void AddTaint(kube::core::NodeSpec& spec, const NodeTaint& taint) {
  auto* added = spec.add_taints();
  added->set_key(taint.key);
  if (!taint.value.empty()) added->set_value(taint.value);
  added->set_effect(taint.effect);
}

void SetLabels(const NodeConfig& config, kube::meta::ObjectMeta& meta) {
  auto& all = *meta.mutable_labels();
  const std::string arch(GoArch());
  all[kHostnameLabel] = config.flags.hostname;
  all[kOsLabel] = all[kBetaOsLabel] = std::string(kGoOs);
  all[kArchLabel] = all[kBetaArchLabel] = arch;
  for (const auto& [name, value] : config.flags.labels) all[name] = value;
}

// True: it was not so.
bool Ensure(kube::meta::ObjectMeta& meta, const char* label, std::string_view value) {
  const auto found = meta.labels().find(label);
  if (found != meta.labels().end() && found->second == value) return false;
  (*meta.mutable_labels())[label] = std::string(value);
  return true;
}

}  // namespace

kube::core::Node InitialNode(const StatusParts& parts, NodeMemory& memory, NodeNotes& notes) {
  const NodeConfig& config = parts.config;
  kube::core::Node node;
  node.mutable_metadata()->set_name(config.flags.node_name);
  SetLabels(config, *node.mutable_metadata());
  if (config.controller_attach_detach) {
    (*node.mutable_metadata()->mutable_annotations())[kAttachDetachAnnotation] = "true";
  }
  for (const NodeTaint& taint : config.taints) AddTaint(*node.mutable_spec(), taint);
  if (config.flags.external_cloud_provider) {
    AddTaint(*node.mutable_spec(),
             {"node.cloudprovider.kubernetes.io/uninitialized", "true", "NoSchedule"});
  }
  if (!config.provider_id.empty()) node.mutable_spec()->set_providerid(config.provider_id);
  SetStatus(parts, node, memory, notes);
  return node;
}

bool UpdateNode(const StatusParts& parts, kube::core::Node& node, NodeMemory& memory,
                NodeNotes& notes) {
  const kube::core::NodeStatus before = node.status();
  bool changed = Ensure(*node.mutable_metadata(), kOsLabel, kGoOs);
  changed |= Ensure(*node.mutable_metadata(), kArchLabel, GoArch());
  SetStatus(parts, node, memory, notes);
  return changed || StatusDiffers(before, node.status());
}

}  // namespace denselet::node
