#include "kube/client/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/base64.h"
#include "base/quoted.h"

namespace denselet::kube {
namespace {

constexpr size_t kShownBytesMax = 300;

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return lower;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

// ---- addresses

// Four bytes, also of an IPv4 address that is written as an IPv6 one; or sixteen.
using IpBytes = std::vector<uint8_t>;

std::optional<IpBytes> ParseIp(std::string_view text) {
  const std::string ip(text);
  std::array<uint8_t, 16> bytes;
  if (::inet_pton(AF_INET, ip.c_str(), bytes.data()) == 1)
    return IpBytes(bytes.begin(), bytes.begin() + 4);
  if (::inet_pton(AF_INET6, ip.c_str(), bytes.data()) != 1) return std::nullopt;
  constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(kMapped.begin(), kMapped.end(), bytes.begin())) {
    return IpBytes(bytes.begin() + 12, bytes.end());
  }
  return IpBytes(bytes.begin(), bytes.end());
}

bool IsLoopback(const IpBytes& ip) {
  if (ip.size() == 4) return ip[0] == 127;
  return std::all_of(ip.begin(), ip.end() - 1, [](uint8_t b) { return b == 0; }) && ip.back() == 1;
}

struct Cidr {
  IpBytes network;
  size_t bits = 0;

  bool Contains(const IpBytes& ip) const {
    if (ip.size() != network.size()) return false;
    const size_t whole = bits / 8;
    if (!std::equal(network.begin(), network.begin() + static_cast<ptrdiff_t>(whole), ip.begin())) {
      return false;
    }
    if (bits % 8 == 0) return true;
    const auto mask = static_cast<uint8_t>(0xff << (8 - bits % 8));
    return (network[whole] & mask) == (ip[whole] & mask);
  }
};

std::optional<Cidr> ParseCidr(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  auto network = ParseIp(text.substr(0, slash));
  const std::string_view length = text.substr(slash + 1);
  size_t bits = 0;
  const auto [end, error] = std::from_chars(length.begin(), length.end(), bits);
  if (!network || error != std::errc() || end != length.end() || length.empty()) {
    return std::nullopt;
  }
  if (bits > network->size() * 8) return std::nullopt;
  return Cidr{*std::move(network), bits};
}

// ---- entries of NO_PROXY

struct HostAndPort {
  std::string_view host;
  std::string_view port;  // empty: any
};

// "[::1]:443", "10.0.0.1:443", "x.test:443", or all of it a host, with one colon or many.
HostAndPort Split(std::string_view entry) {
  if (entry.starts_with('[')) {
    const size_t end = entry.find("]:");
    if (end == std::string_view::npos) return {entry, {}};
    return {entry.substr(1, end - 1), entry.substr(end + 2)};
  }
  const size_t colon = entry.find(':');
  if (colon == std::string_view::npos || entry.find(':', colon + 1) != std::string_view::npos) {
    return {entry, {}};
  }
  return {entry.substr(0, colon), entry.substr(colon + 1)};
}

bool MatchesDomain(std::string_view domain, std::string_view host) {
  if (domain.starts_with("*.")) domain.remove_prefix(1);
  if (domain.starts_with('.')) return host.ends_with(domain);
  return host == domain || host.ends_with("." + std::string(domain));
}

bool Matches(std::string_view entry, std::string_view host, const std::optional<IpBytes>& ip,
             const std::string& port) {
  if (entry == "*") return true;
  if (const auto cidr = ParseCidr(entry)) return ip && cidr->Contains(*ip);
  const HostAndPort wanted = Split(entry);
  if (wanted.host.empty()) return false;
  if (!wanted.port.empty() && wanted.port != port) return false;
  if (const auto wanted_ip = ParseIp(wanted.host)) return ip == wanted_ip;
  return MatchesDomain(wanted.host, host);
}

// ---- URLs

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    uint8_t byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), byte, 16);
    if (digits.size() != 2 || error != std::errc() || end != digits.end()) return std::nullopt;
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

Error NotAProxy(ErrorCode code, std::string_view shown, std::string_view why) {
  return Error(code, "proxy " + Quoted(shown, kShownBytesMax) + ": " + std::string(why));
}

std::string_view Variable(std::span<const std::string> environment, std::string_view name) {
  // As getenv does: of two the first.
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
      return std::string_view(entry).substr(name.size() + 1);
    }
  }
  return {};
}

}  // namespace

bool IsProxied(std::string_view no_proxy, std::string_view host, uint16_t port) {
  const std::string name = ToLower(Trimmed(host));
  if (name == "localhost") return false;
  const std::optional<IpBytes> ip = ParseIp(name);
  if (ip && IsLoopback(*ip)) return false;
  const std::string port_text = std::to_string(port);
  const std::string entries = ToLower(no_proxy);
  std::string_view rest = entries;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view entry = Trimmed(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (!entry.empty() && Matches(entry, name, ip, port_text)) return false;
  }
  return true;
}

Result<Proxy> ParseProxy(std::string_view url) {
  std::string_view rest = url;
  std::string scheme = "http";
  if (const size_t end = rest.find("://"); end != std::string_view::npos) {
    scheme = ToLower(rest.substr(0, end));
    rest.remove_prefix(end + 3);
  }
  Proxy proxy;
  std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  std::string_view user_info;
  const size_t at = authority.rfind('@');
  if (at != std::string_view::npos) {
    user_info = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  const std::string shown = scheme + "://" + std::string(authority);
  if (scheme != "http") {
    return NotAProxy(ErrorCode::kUnsupported, shown, "only proxies of http are supported");
  }
  Result<ServerUrl> server = ParseServerUrl(shown);
  if (!server) return NotAProxy(ErrorCode::kInvalid, shown, server.error().message());
  proxy.url = *std::move(server);
  if (at == std::string_view::npos) return proxy;
  const size_t colon = std::min(user_info.find(':'), user_info.size());
  const auto user = PercentDecoded(user_info.substr(0, colon));
  const auto password = PercentDecoded(user_info.substr(std::min(colon + 1, user_info.size())));
  if (!user || !password) {
    return NotAProxy(ErrorCode::kInvalid, shown, "the user's name or password is not escaped well");
  }
  proxy.headers.Add("Proxy-Authorization", "Basic " + Base64Encode(*user + ":" + *password));
  return proxy;
}

Result<std::optional<Proxy>> ProxyFromEnvironment(std::span<const std::string> environment,
                                                  const ServerUrl& server) {
  using Names = std::array<std::string_view, 2>;
  const Names names = server.scheme == "https" ? Names{"HTTPS_PROXY", "https_proxy"}
                                               : Names{"HTTP_PROXY", "http_proxy"};
  std::string_view name = names[0], value = Variable(environment, names[0]);
  if (value.empty()) name = names[1], value = Variable(environment, names[1]);
  if (value.empty()) return std::optional<Proxy>();
  std::string_view no_proxy = Variable(environment, "NO_PROXY");
  if (no_proxy.empty()) no_proxy = Variable(environment, "no_proxy");
  if (!IsProxied(no_proxy, server.host, server.port)) return std::optional<Proxy>();
  Result<Proxy> proxy = ParseProxy(value);
  if (!proxy) return proxy.error().With("environment variable", name);
  return std::optional<Proxy>(*std::move(proxy));
}

}  // namespace denselet::kube
