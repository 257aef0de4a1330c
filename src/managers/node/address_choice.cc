#include "managers/node/address_choice.h"

#include <optional>
#include <string>

#include "kube/api/types.h"

namespace denselet::node {

namespace {

constexpr const char* kProvidedIp = "alpha.kubernetes.io/provided-node-ip";

void Add(kube::core::NodeStatus& status, const char* type, std::string address) {
  auto* added = status.add_addresses();
  added->set_type(type);
  added->set_address(std::move(address));
}

// Given by flag: the first, and the second. "0.0.0.0" and "::" only say which family is wanted.
std::optional<IpAddress> Given(const NodeFlags& flags, size_t index) {
  if (flags.node_ips.size() <= index || flags.node_ips[index].IsUnspecified()) return std::nullopt;
  return flags.node_ips[index];
}

void Annotate(const NodeFlags& flags, kube::core::Node& node) {
  const std::optional<IpAddress> first = Given(flags, 0);
  if (!flags.external_cloud_provider || !first) {
    node.mutable_metadata()->mutable_annotations()->erase(kProvidedIp);
    return;
  }
  std::string text = first->ToString();
  if (const auto second = Given(flags, 1)) text += "," + second->ToString();
  (*node.mutable_metadata()->mutable_annotations())[kProvidedIp] = text;
}

Result<IpAddress> Find(const NodeFlags& flags, const NetworkFacts& network) {
  if (const auto ip = IpAddress::Parse(flags.hostname)) return *ip;
  const IpFamily preferred =
      flags.node_ips.empty() ? IpFamily::kIpv4 : flags.node_ips.front().family();
  std::optional<IpAddress> other;
  for (const IpAddress& ip : network.of_node_name) {
    if (const Status valid = ValidateNodeIp(network, ip); !valid) continue;
    if (ip.family() == preferred) return ip;
    if (!other) other = ip;
  }
  if (other) return *other;
  return ChooseHostAddress(network, preferred);
}

}  // namespace

bool NeedsNameService(const NodeFlags& flags) {
  if (Given(flags, 0) || IpAddress::Parse(flags.hostname)) return false;
  return !flags.external_cloud_provider || !flags.node_ips.empty();
}

Status SetAddresses(const NodeFlags& flags, const NetworkFacts& network, kube::core::Node& node) {
  const std::optional<IpAddress> first = Given(flags, 0);
  const std::optional<IpAddress> second = Given(flags, 1);
  if (first) {
    const Status valid = ValidateNodeIp(network, *first);
    if (!valid) return valid.error().With("failed to validate nodeIP");
  }
  if (second) {
    const Status valid = ValidateNodeIp(network, *second);
    if (!valid) return valid.error().With("failed to validate secondaryNodeIP");
  }
  Annotate(flags, node);
  kube::core::NodeStatus& status = *node.mutable_status();
  if (flags.external_cloud_provider) {
    // What the provider has set counts more than what can be seen here.
    if (!status.addresses().empty()) return Ok();
    if (flags.node_ips.empty()) {
      Add(status, "Hostname", flags.hostname);
      return Ok();
    }
  }
  Result<IpAddress> ip = first ? Result<IpAddress>(*first) : Find(flags, network);
  if (!ip) return ip.error().With("can't get ip address of node", flags.node_name);
  status.clear_addresses();
  Add(status, "InternalIP", ip->ToString());
  if (first && second) Add(status, "InternalIP", second->ToString());
  Add(status, "Hostname", flags.hostname);
  return Ok();
}

}  // namespace denselet::node
