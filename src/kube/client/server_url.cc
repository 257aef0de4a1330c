#include <charconv>

#include "kube/client/kubeconfig.h"
#include "reactor/net/http/message.h"

namespace denselet::kube {
namespace {

Error NotAServer(std::string_view url, std::string_view why) {
  return Error(ErrorCode::kInvalid, "server \"" + std::string(url) + "\": " + std::string(why));
}

}  // namespace

std::string ServerUrl::Authority() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<ServerUrl> ParseServerUrl(std::string_view url) {
  ServerUrl server;
  std::string_view rest = url;
  if (const size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
    server.scheme = rest.substr(0, scheme);
    rest.remove_prefix(scheme + 3);
  } else {
    server.scheme = "https";
  }
  if (server.scheme != "https" && server.scheme != "http") {
    return NotAServer(url, "neither https nor http");
  }
  server.port = server.scheme == "https" ? 443 : 80;
  const size_t slash = std::min(rest.find('/'), rest.size());
  server.path = rest.substr(slash);
  while (server.path.ends_with('/')) server.path.pop_back();
  std::string_view authority = rest.substr(0, slash);
  if (authority.find('@') != std::string_view::npos) {
    return NotAServer(url, "a user name belongs into the user's part");
  }
  std::string_view port;
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos) return NotAServer(url, "a bracket is not closed");
    server.host = authority.substr(1, end - 1);
    port = authority.substr(end + 1);
    if (!port.empty() && port[0] != ':') return NotAServer(url, "not a host and a port");
  } else {
    const size_t colon = std::min(authority.find(':'), authority.size());
    server.host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (!port.empty()) port.remove_prefix(1);
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.begin(), port.end(), server.port);
    if (error != std::errc() || end != port.end() || server.port == 0) {
      return NotAServer(url, "the port is no number from 1 to 65535");
    }
  }
  if (server.host.empty()) return NotAServer(url, "there is no host");
  if (!net::IsAuthority(server.Authority())) return NotAServer(url, "not a host and a port");
  if (!server.path.empty() && !net::IsRequestTarget(server.path)) {
    return NotAServer(url, "the path cannot be sent");
  }
  return server;
}

}  // namespace denselet::kube
