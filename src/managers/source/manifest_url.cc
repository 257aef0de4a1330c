#include "managers/source/manifest_url.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/quoted.h"
#include "reactor/net/http/message.h"

namespace denselet::managers {
namespace {

constexpr size_t kQuotedBytesMax = 300;

// The whole of it would show the password that may stand in it.
Error NotAUrl(std::string_view url, std::string_view why) {
  const size_t at = url.find('@');
  const std::string_view shown = at == std::string_view::npos ? url : url.substr(at + 1);
  return Error(ErrorCode::kInvalid,
               "URL " + Quoted(shown, kQuotedBytesMax) + ": " + std::string(why));
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexDigit(text[i + 1]), low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

// Splits "host", "host:port", "[v6]:port"; an error in words, or null.
const char* ReadHost(std::string_view authority, ManifestUrl& url) {
  std::string_view port;
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos) return "a bracket is not closed";
    url.host = authority.substr(1, end - 1);
    port = authority.substr(end + 1);
    if (!port.empty() && port[0] != ':') return "not a host and a port";
  } else {
    const size_t colon = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (url.host.empty()) return "there is no host";
  if (!port.empty()) port.remove_prefix(1);
  if (port.empty()) return nullptr;
  const auto [end, error] = std::from_chars(port.begin(), port.end(), url.port);
  if (error != std::errc() || end != port.end() || url.port == 0) {
    return "the port is no number from 1 to 65535";
  }
  return nullptr;
}

Result<ManifestUrl> Parse(std::string_view url, bool secure, std::string_view rest) {
  ManifestUrl parsed{.secure = secure,
                     .host = {},
                     .port = uint16_t(secure ? 443 : 80),
                     .target = {},
                     .user_info = {}};
  rest = rest.substr(0, rest.find('#'));
  const size_t path = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view authority = rest.substr(0, path);
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    const auto user_info = PercentDecoded(authority.substr(0, at));
    if (!user_info) return NotAUrl(url, "the user cannot be read");
    parsed.user_info = *user_info;
    authority.remove_prefix(at + 1);
  }
  if (const char* why = ReadHost(authority, parsed)) return NotAUrl(url, why);
  if (!net::IsAuthority(parsed.Authority())) return NotAUrl(url, "not a host and a port");
  parsed.target = rest.substr(path);
  if (!parsed.target.starts_with('/')) parsed.target.insert(0, "/");
  if (!net::IsRequestTarget(parsed.target)) return NotAUrl(url, "the path cannot be sent");
  return parsed;
}

}  // namespace

std::string ManifestUrl::Authority() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  std::string authority = is_v6 ? "[" + host + "]" : host;
  if (port != (secure ? 443 : 80)) authority += ":" + std::to_string(port);
  return authority;
}

Result<ManifestUrl> ParseManifestUrl(std::string_view url) {
  const size_t scheme_end = std::min(url.find("://"), url.size());
  const std::string_view scheme = url.substr(0, scheme_end);
  const bool secure = net::EqualsIgnoringCase(scheme, "https");
  if (scheme_end == url.size() || (!secure && !net::EqualsIgnoringCase(scheme, "http"))) {
    return NotAUrl(url, "neither http nor https");
  }
  return Parse(url, secure, url.substr(scheme_end + 3));
}

Result<ManifestUrl> FollowLocation(const ManifestUrl& base, std::string_view location) {
  // A scheme stands before everything else; later it is a part of the query.
  const size_t colon = location.find("://");
  if (colon != std::string_view::npos && colon < location.find_first_of("/?#")) {
    return ParseManifestUrl(location);
  }
  if (location.starts_with("//")) return Parse(location, base.secure, location.substr(2));
  ManifestUrl next = base;
  location = location.substr(0, location.find('#'));
  const std::string_view path = std::string_view(base.target).substr(0, base.target.find('?'));
  if (location.starts_with('/')) {
    next.target = location;
  } else if (location.starts_with('?')) {
    next.target = std::string(path) + std::string(location);
  } else {
    next.target = std::string(path.substr(0, path.rfind('/') + 1)) + std::string(location);
  }
  if (!net::IsRequestTarget(next.target)) return NotAUrl(location, "the path cannot be sent");
  return next;
}

}  // namespace denselet::managers
