// Addresses of pods and nodes, and which of them goes first.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace denselet::sync {

struct IpText {
  bool ipv6 = false;
  std::string text = {};  // canonical
};

// Nothing: it is no address.
std::optional<IpText> ReadIp(const std::string& text);

// The first of each family, the node's family first.
std::vector<std::string> IpsByPreference(const std::vector<std::string>& ips, bool prefers_ipv6);

}  // namespace denselet::sync
