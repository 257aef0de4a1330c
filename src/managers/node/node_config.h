// What flags and KubeletConfiguration say about the node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/api/fwd.h"
#include "kube/api/values/quantity.h"
#include "managers/node/ip_address.h"

namespace denselet::node {

using ResourceList = std::map<std::string, kube::Quantity, std::less<>>;

// A threshold of evictionHard: so much, or a part of what there is.
struct EvictionThreshold {
  std::optional<kube::Quantity> quantity = {};
  float fraction = 0;  // where there is no quantity

  // "100Mi", "5%". kInvalid: neither.
  static Result<EvictionThreshold> Parse(std::string_view text);
  kube::Quantity Of(const kube::Quantity& capacity) const;
};

// What is measured of the kubelet's eviction signals (pressure.h).
enum class PressureSignal : uint8_t {
  kMemoryAvailable,
  kNodeFsAvailable,
  kNodeFsInodesFree,
  kPidAvailable,
};
inline constexpr size_t kPressureSignals = 4;

// Of evictionHard or evictionSoft: for the node's condition it is the same which.
struct PressureThreshold {
  PressureSignal signal;
  EvictionThreshold value;
};

struct NodeTaint {
  std::string key;
  std::string value;
  std::string effect;
};

// What is no part of KubeletConfiguration: flags, and what the program knows of itself.
struct NodeFlags {
  std::string node_name = {};
  std::string hostname = {};                       // or --hostname-override
  std::vector<IpAddress> node_ips = {};            // --node-ip: one, or one of each family
  bool external_cloud_provider = false;            // --cloud-provider=external
  std::map<std::string, std::string> labels = {};  // --node-labels
  std::string kubelet_version = {};
  std::vector<std::string> declared_features = {};  // sorted
};

struct NodeConfig {
  NodeFlags flags = {};

  bool register_node = true;
  std::vector<NodeTaint> taints = {};
  std::string provider_id = {};
  bool controller_attach_detach = true;
  bool local_storage_isolation = true;

  int32_t port = 10250;  // of the agent's API; 0: nobody listens
  int32_t pods_max = 110;
  int32_t pods_per_core_max = 0;  // 0: no limit
  int32_t images_max = 50;        // -1: no limit
  ResourceList system_reserved = {};
  ResourceList kube_reserved = {};
  std::optional<EvictionThreshold> memory_eviction = {};
  std::optional<EvictionThreshold> storage_eviction = {};
  std::vector<PressureThreshold> pressure_thresholds = {};
  Duration pressure_transition_period = Minutes(5);

  Duration status_update_interval = Seconds(10);
  Duration status_report_interval = Minutes(5);
  int32_t lease_duration_seconds = 40;

  // Of a request of the heartbeat.
  Duration HeartbeatTimeMax() const {
    return std::min<Duration>(status_update_interval, Seconds(lease_duration_seconds));
  }
};

// From a configuration with its defaults set. kInvalid names the field that is wrong.
Result<NodeConfig> MakeNodeConfig(const kube::config::KubeletConfiguration& configuration,
                                  NodeFlags flags);

// As Go calls the machine's architecture: "amd64", "arm64".
std::string_view GoArch();
inline constexpr std::string_view kGoOs = "linux";

}  // namespace denselet::node
