#include "sync/spec/ip_preference.h"

#include <arpa/inet.h>

namespace denselet::sync {

std::optional<IpText> ReadIp(const std::string& text) {
  char out[INET6_ADDRSTRLEN];
  in_addr v4;
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) {
    return IpText{.text = inet_ntop(AF_INET, &v4, out, sizeof out)};
  }
  in6_addr v6;
  if (inet_pton(AF_INET6, text.c_str(), &v6) != 1) return std::nullopt;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    return IpText{.text = inet_ntop(AF_INET, &v6.s6_addr[12], out, sizeof out)};
  }
  return IpText{.ipv6 = true, .text = inet_ntop(AF_INET6, &v6, out, sizeof out)};
}

std::vector<std::string> IpsByPreference(const std::vector<std::string>& ips, bool prefers_ipv6) {
  std::vector<std::string> chosen;
  for (const bool ipv6 : {prefers_ipv6, !prefers_ipv6}) {
    for (const std::string& ip : ips) {
      const auto address = ReadIp(ip);
      if (!address || address->ipv6 != ipv6) continue;
      chosen.push_back(address->text);
      break;
    }
  }
  return chosen;
}

}  // namespace denselet::sync
