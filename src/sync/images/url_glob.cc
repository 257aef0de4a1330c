#include "sync/images/url_glob.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace denselet::sync {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int HexOf(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> Unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || HexOf(text[i + 1]) < 0 || HexOf(text[i + 2]) < 0) {
      return std::nullopt;
    }
    out += static_cast<char>(HexOf(text[i + 1]) * 16 + HexOf(text[i + 2]));
    i += 2;
  }
  return out;
}

bool IsIpv6(std::string_view text) {
  in6_addr address = {};
  return inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
}

bool IsHost(std::string_view host) {
  constexpr std::string_view kMarks = "-_.~!$&'()*+,;=:[]<>\"";
  const bool known = std::ranges::all_of(host, [&](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80 || kMarks.find(c) != kMarks.npos;
  });
  if (!known) return false;
  std::string_view port;
  if (const size_t open = host.find('['); open != host.npos) {
    const size_t close = host.rfind(']');
    if (open != 0 || close == host.npos || !IsIpv6(host.substr(1, close - 1))) return false;
    port = host.substr(close + 1);
  } else if (const size_t colon = host.find(':'); colon != host.npos) {
    port = host.substr(colon);
  }
  return port.empty() || (port.front() == ':' && std::ranges::all_of(port.substr(1), IsDigit));
}

// Name and port; one without a port is all name.
std::pair<std::string_view, std::string_view> Split(std::string_view host) {
  const size_t colon = host.rfind(':');
  if (colon == host.npos) return {host, {}};
  if (host.starts_with('[')) {
    const size_t close = host.find(']');
    if (close == host.npos || close + 1 != colon) return {host, {}};
    return {host.substr(1, close - 1), host.substr(colon + 1)};
  }
  if (host.find_first_of(":[]") != colon) return {host, {}};
  return {host.substr(0, colon), host.substr(colon + 1)};
}

std::vector<std::string_view> Parts(std::string_view name) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t dot = name.find('.', begin);
    parts.push_back(name.substr(begin, dot == name.npos ? dot : dot - begin));
    if (dot == name.npos) return parts;
    begin = dot + 1;
  }
}

}  // namespace

bool MatchesPattern(std::string_view pattern, std::string_view text) {
  // Where to go on when the last '*' has to take one more.
  std::string_view star_pattern, star_text;
  bool has_star = false;
  while (true) {
    if (pattern.starts_with('*')) {
      pattern.remove_prefix(1);
      has_star = true;
      star_pattern = pattern;
      star_text = text;
      continue;
    }
    if (pattern.empty() && text.empty()) return true;
    if (!pattern.empty() && !text.empty() && pattern.front() == text.front()) {
      pattern.remove_prefix(1);
      text.remove_prefix(1);
      continue;
    }
    if (!has_star || star_text.empty()) return false;
    star_text.remove_prefix(1);
    pattern = star_pattern;
    text = star_text;
  }
}

std::optional<UrlGlob> UrlGlob::Parse(std::string_view text) {
  const bool has_control = std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (has_control) return std::nullopt;
  text = text.substr(0, text.find('#'));
  text = text.substr(0, text.find('?'));
  const size_t slash = text.find('/');
  std::string_view host = text.substr(0, slash);
  if (const size_t user = host.rfind('@'); user != host.npos) host.remove_prefix(user + 1);
  if (!IsHost(host)) return std::nullopt;
  UrlGlob url{.host = std::string(host)};
  if (slash == text.npos) return url;
  std::optional<std::string> path = Unescaped(text.substr(slash));
  if (!path) return std::nullopt;
  url.path = *std::move(path);
  return url;
}

bool UrlGlob::Matches(const UrlGlob& target) const {
  const auto [name, port] = Split(host);
  const auto [target_name, target_port] = Split(target.host);
  if (port != target_port || !target.path.starts_with(path)) return false;
  const std::vector<std::string_view> parts = Parts(name);
  const std::vector<std::string_view> target_parts = Parts(target_name);
  return std::ranges::equal(parts, target_parts, MatchesPattern);
}

}  // namespace denselet::sync
