// What the node says it can do, so that API server and scheduler need not guess it from its
// version. Known once at start.
//
// A pure function, on any thread.
#pragma once

#include <string>
#include <vector>

namespace denselet::node {

// Feature gates, with their defaults, and what the runtime can do.
struct FeatureGates {
  bool extend_web_sockets_to_kubelet = true;
  bool in_place_pod_level_resources_vertical_scaling = true;
  bool in_place_pod_vertical_scaling_init_containers = true;
  bool restart_all_containers_on_container_exits = true;
  bool container_restart_rules = true;
  bool user_namespaces_host_network_support = false;
  bool runtime_has_user_namespaces_host_network = false;
};

// Sorted.
inline std::vector<std::string> DeclaredFeatures(const FeatureGates& gates) {
  std::vector<std::string> names;
  const auto add = [&names](bool on, const char* name) {
    if (on) names.emplace_back(name);
  };
  add(gates.extend_web_sockets_to_kubelet, "ExtendWebSocketsToKubelet");
  add(gates.in_place_pod_level_resources_vertical_scaling,
      "InPlacePodLevelResourcesVerticalScaling");
  add(gates.in_place_pod_vertical_scaling_init_containers,
      "InPlacePodVerticalScalingInitContainers");
  add(gates.restart_all_containers_on_container_exits && gates.container_restart_rules,
      "RestartAllContainersOnContainerExits");
  add(gates.user_namespaces_host_network_support && gates.runtime_has_user_namespaces_host_network,
      "UserNamespacesHostNetworkSupport");
  return names;
}

}  // namespace denselet::node
