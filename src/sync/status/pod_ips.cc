#include "sync/status/pod_ips.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kube/api/types.h"
#include "sync/spec/ip_preference.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

std::vector<std::string> OfSandbox(const StatusInput& input, const core::PodStatus& old) {
  const auto& sandboxes = input.seen.sandboxes;
  const auto ready = [](const ObservedSandbox& each) { return each.state == SandboxState::kReady; };
  if (!sandboxes.empty() && ready(sandboxes.front()) && !sandboxes.front().ips.empty()) {
    return IpsByPreference(sandboxes.front().ips, input.node.prefers_ipv6);
  }
  if (std::ranges::any_of(sandboxes, ready)) return {};
  std::vector<std::string> told;
  for (const auto& ip : old.podips()) told.push_back(ip.ip());
  return told;
}

// The node may have become one of two families since.
std::vector<std::string> OfNode(const StatusInput& input, const core::PodStatus& old) {
  const std::vector<std::string>& hosts = input.node.host_ips;
  std::vector<std::string> ips;
  for (const auto& ip : old.podips()) ips.push_back(ip.ip());
  if (ips.empty() && !hosts.empty()) ips.push_back(hosts.front());
  if (ips.size() == 1 && hosts.size() == 2) {
    const auto mine = ReadIp(ips.front());
    const auto second = ReadIp(hosts.back());
    if (mine && second && mine->ipv6 != second->ipv6) ips.push_back(hosts.back());
  }
  return ips;
}

}  // namespace

void SetAddresses(const StatusInput& input, const core::PodStatus& old, core::PodStatus& out) {
  const std::vector<std::string>& hosts = input.node.host_ips;
  if (!hosts.empty()) {
    out.set_hostip(hosts.front());
    for (const std::string& ip : hosts) out.add_hostips()->set_ip(ip);
  } else if (!old.hostip().empty()) {
    out.set_hostip(old.hostip());
    *out.mutable_hostips() = old.hostips();
  }
  const bool of_node = input.plan.network == NetworkMode::kNode;
  for (const std::string& ip : of_node ? OfNode(input, old) : OfSandbox(input, old)) {
    out.add_podips()->set_ip(ip);
  }
  if (out.podips_size() > 0) out.set_podip(out.podips(0).ip());
}

}  // namespace denselet::sync
