// What the machine's network looks like, as far as the choice of the node's address goes:
// interfaces and default routes.
//
// Pure functions, on any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "managers/node/ip_address.h"

namespace denselet::node {

struct NetworkInterface {
  std::string name;
  bool up = false;
  bool loopback = false;
  bool point_to_point = false;
  std::vector<IpAddress> addresses = {};  // in the kernel's order
};

struct DefaultRoute {
  std::string interface;
  IpFamily family = IpFamily::kIpv4;

  friend bool operator==(const DefaultRoute&, const DefaultRoute&) = default;
};

struct NetworkFacts {
  std::vector<NetworkInterface> interfaces = {};
  // Nothing there, not even a file that lists them: interfaces decide.
  bool routes_known = false;
  std::vector<DefaultRoute> routes = {};
  std::vector<IpAddress> of_node_name = {};  // what the name service says
};

// Of /proc/net/route and /proc/net/ipv6_route. kCorrupt: not what the kernel writes.
Result<std::vector<DefaultRoute>> ParseIpv4Routes(std::string_view text);
Result<std::vector<DefaultRoute>> ParseIpv6Routes(std::string_view text);

// The address by which others reach this machine: of the interface that a default route names, in
// the family that is preferred if there is one.
Result<IpAddress> ChooseHostAddress(const NetworkFacts& network, IpFamily preferred);

// Is it an address of this machine that others can use?
Status ValidateNodeIp(const NetworkFacts& network, const IpAddress& ip);

}  // namespace denselet::node
