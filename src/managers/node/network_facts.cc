#include "managers/node/network_facts.h"

#include <algorithm>
#include <array>
#include <optional>

namespace denselet::node {

namespace {

std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::vector<std::string_view> Fields(std::string_view line) {
  std::vector<std::string_view> fields;
  constexpr std::string_view kBlanks = " \t\r";
  for (;;) {
    const size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return fields;
    line.remove_prefix(begin);
    const size_t end = std::min(line.find_first_of(kBlanks), line.size());
    fields.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

bool IsHex(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

bool IsZero(std::string_view hex) { return hex.find_first_not_of('0') == hex.npos; }

Error BadRoute(std::string_view line) {
  return Error(ErrorCode::kCorrupt, "not a line of a routing table: " + std::string(line));
}

const NetworkInterface* Find(const NetworkFacts& network, std::string_view name) {
  const auto found = std::ranges::find(network.interfaces, name, &NetworkInterface::name);
  return found == network.interfaces.end() ? nullptr : &*found;
}

std::optional<IpAddress> GlobalAddress(const NetworkInterface& interface, IpFamily family) {
  const auto found = std::ranges::find_if(interface.addresses, [family](const IpAddress& ip) {
    return ip.family() == family && ip.IsGlobalUnicast();
  });
  if (found == interface.addresses.end()) return std::nullopt;
  return *found;
}

// Of the first interface that fits.
template <class Fits>
std::optional<IpAddress> GlobalAddressOf(const NetworkFacts& network, IpFamily family, Fits fits) {
  for (const NetworkInterface& interface : network.interfaces) {
    if (!interface.up || !fits(interface)) continue;
    if (const auto ip = GlobalAddress(interface, family)) return ip;
  }
  return std::nullopt;
}

Result<IpAddress> ChooseByRoutes(const NetworkFacts& network,
                                 const std::array<IpFamily, 2>& families) {
  if (network.routes.empty()) {
    return Error(ErrorCode::kNotFound,
                 "no default routes found in \"/proc/net/route\" or \"/proc/net/ipv6_route\"");
  }
  for (const IpFamily family : families) {
    for (const DefaultRoute& route : network.routes) {
      if (route.family != family) continue;
      const NetworkInterface* interface = Find(network, route.interface);
      if (interface == nullptr) {
        return Error(ErrorCode::kNotFound, "no such network interface: " + route.interface);
      }
      if (interface->up) {
        if (const auto ip = GlobalAddress(*interface, family)) return *ip;
      }
      // Where interfaces have link-local addresses only, the machine's own is on the loopback one.
      if (const auto ip = GlobalAddressOf(
              network, family, [](const NetworkInterface& each) { return each.loopback; })) {
        return *ip;
      }
    }
  }
  return Error(ErrorCode::kNotFound, "unable to select an IP from default routes.");
}

}  // namespace

Result<std::vector<DefaultRoute>> ParseIpv4Routes(std::string_view text) {
  std::vector<DefaultRoute> routes;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (line.starts_with("Iface")) continue;
    const std::vector<std::string_view> fields = Fields(line);
    if (fields.empty()) continue;
    if (fields.size() < 3 || !IsHex(fields[1], 8) || !IsHex(fields[2], 8)) return BadRoute(line);
    if (IsZero(fields[1])) routes.push_back({std::string(fields[0]), IpFamily::kIpv4});
  }
  return routes;
}

Result<std::vector<DefaultRoute>> ParseIpv6Routes(std::string_view text) {
  std::vector<DefaultRoute> routes;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    const std::vector<std::string_view> fields = Fields(line);
    if (fields.empty()) continue;
    if (fields.size() < 10 || !IsHex(fields[0], 32) || !IsHex(fields[4], 32)) {
      return BadRoute(line);
    }
    // Without a gateway: the one that goes nowhere.
    if (!IsZero(fields[0]) || IsZero(fields[4])) continue;
    routes.push_back({std::string(fields[9]), IpFamily::kIpv6});
  }
  return routes;
}

Result<IpAddress> ChooseHostAddress(const NetworkFacts& network, IpFamily preferred) {
  const IpFamily other = preferred == IpFamily::kIpv4 ? IpFamily::kIpv6 : IpFamily::kIpv4;
  if (network.routes_known) return ChooseByRoutes(network, {preferred, other});
  if (network.interfaces.empty()) {
    return Error(ErrorCode::kNotFound, "no interfaces found on host.");
  }
  for (const IpFamily family : {preferred, other}) {
    const auto ip = GlobalAddressOf(network, family, [](const NetworkInterface& each) {
      return !each.loopback && !each.point_to_point;
    });
    if (ip) return *ip;
  }
  return Error(ErrorCode::kNotFound,
               "no acceptable interface with global unicast address found on host");
}

Status ValidateNodeIp(const NetworkFacts& network, const IpAddress& ip) {
  const auto invalid = [](const char* why) {
    return Error(ErrorCode::kInvalid, std::string("nodeIP can't be ") + why);
  };
  if (ip.IsLoopback()) return invalid("loopback address");
  if (ip.IsMulticast()) return invalid("a multicast address");
  if (ip.IsLinkLocalUnicast()) return invalid("a link-local unicast address");
  if (ip.IsUnspecified()) return invalid("an all zeros address");
  for (const NetworkInterface& interface : network.interfaces) {
    if (std::ranges::find(interface.addresses, ip) != interface.addresses.end()) return Ok();
  }
  return Error(ErrorCode::kNotFound,
               "node IP: \"" + ip.ToString() + "\" not found in the host's network interfaces");
}

}  // namespace denselet::node
