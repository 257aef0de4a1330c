#include "reactor/net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>

namespace denselet::net {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";

Error Bad(std::string_view what, std::string_view text) {
  return Error(ErrorCode::kInvalid, std::string(what)).With("address", text);
}

template <class Number>
bool ParseNumber(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<Address> Address::Ip(std::string_view ip, uint16_t port) {
  Address address;
  const size_t percent = ip.find('%');
  const std::string host(ip.substr(0, percent));
  auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage_);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage_);
  // A NUL inside would end the text early for inet_pton.
  if (host.find('\0') != std::string::npos) return Bad("has a NUL byte", host.c_str());
  if (percent == std::string_view::npos && ::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    address.size_ = sizeof v4;
    return address;
  }
  if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    if (percent != std::string_view::npos &&
        !ParseNumber(ip.substr(percent + 1), v6.sin6_scope_id)) {
      return Bad("the scope behind % is not a number", ip);
    }
    address.size_ = sizeof v6;
    return address;
  }
  return Bad("not an IP address", ip);
}

Result<Address> Address::Unix(std::string_view path) {
  Address address;
  auto& un = reinterpret_cast<sockaddr_un&>(address.storage_);
  if (path.empty()) return Bad("the path is empty", path);
  if (path.find('\0') != std::string_view::npos) return Bad("has a NUL byte", path.substr(0, 0));
  if (path.size() >= sizeof un.sun_path) {
    return Bad("the path is longer than " + std::to_string(sizeof un.sun_path - 1) + " bytes",
               path);
  }
  un.sun_family = AF_UNIX;
  std::memcpy(un.sun_path, path.data(), path.size());
  address.size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

Result<Address> Address::Parse(std::string_view text) {
  if (text.starts_with(kUnixPrefix)) return Unix(text.substr(kUnixPrefix.size()));
  const size_t colon = text.rfind(':');
  uint16_t port = 0;
  if (colon == std::string_view::npos || !ParseNumber(text.substr(colon + 1), port)) {
    return Bad("no port behind the last colon", text);
  }
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find(':') != std::string_view::npos) {
    return Bad("an IPv6 address stands in brackets before its port", text);
  }
  return Ip(host, port);
}

Result<Address> Address::From(const sockaddr_storage& storage, socklen_t size) {
  Address address;
  std::memcpy(&address.storage_, &storage, size);
  address.size_ = size;
  return address;
}

uint16_t Address::port() const {
  switch (family()) {
    case AF_INET:
      return ntohs(reinterpret_cast<const sockaddr_in&>(storage_).sin_port);
    case AF_INET6:
      return ntohs(reinterpret_cast<const sockaddr_in6&>(storage_).sin6_port);
    default:
      return 0;
  }
}

std::string Address::ToString() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  switch (family()) {
    case AF_INET: {
      const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage_);
      ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
      return std::string(text.data()) + ":" + std::to_string(port());
    }
    case AF_INET6: {
      const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage_);
      ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
      const std::string scope = v6.sin6_scope_id == 0 ? "" : "%" + std::to_string(v6.sin6_scope_id);
      return "[" + std::string(text.data()) + scope + "]:" + std::to_string(port());
    }
    case AF_UNIX:
      return std::string(kUnixPrefix) + reinterpret_cast<const sockaddr_un&>(storage_).sun_path;
    default:
      return "";
  }
}

}  // namespace denselet::net
