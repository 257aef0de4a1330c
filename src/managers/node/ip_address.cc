#include "managers/node/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace denselet::node {

namespace {

constexpr std::array<uint8_t, 12> kV4InV6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::optional<std::array<uint8_t, 4>> ParseV4(std::string_view text) {
  std::array<uint8_t, 4> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) {
      if (text.empty() || text.front() != '.') return std::nullopt;
      text.remove_prefix(1);
    }
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes[i]);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  if (!text.empty()) return std::nullopt;
  return bytes;
}

// The longest run of two zero groups or more, the first of equals; [8, 8) when there is none.
struct Run {
  size_t begin = 8, end = 8;
};
Run LongestZeros(const std::array<uint16_t, 8>& groups) {
  Run best;
  for (size_t i = 0; i < groups.size(); ++i) {
    size_t end = i;
    while (end < groups.size() && groups[end] == 0) ++end;
    if (end - i >= 2 && end - i > best.end - best.begin) best = {i, end};
    if (end > i) i = end;
  }
  return best;
}

std::string Hex(uint16_t number) {
  char text[4];
  const auto end = std::to_chars(text, text + sizeof text, number, 16).ptr;
  return std::string(text, end);
}

}  // namespace

std::optional<IpAddress> IpAddress::Parse(std::string_view text) {
  if (text.find(':') == std::string_view::npos) {
    const auto v4 = ParseV4(text);
    if (!v4) return std::nullopt;
    return V4(*v4);
  }
  Bytes bytes{};
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  if (inet_pton(AF_INET6, std::string(text).c_str(), bytes.data()) != 1) return std::nullopt;
  return IpAddress(bytes);
}

IpAddress IpAddress::V4(std::array<uint8_t, 4> bytes) {
  Bytes whole{};
  std::ranges::copy(kV4InV6, whole.begin());
  std::ranges::copy(bytes, whole.begin() + kV4InV6.size());
  return IpAddress(whole);
}

std::optional<IpAddress> IpAddress::From(const sockaddr* address) {
  if (address == nullptr) return std::nullopt;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    std::array<uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
    return V4(bytes);
  }
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, address, sizeof v6);
    Bytes bytes{};
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return IpAddress(bytes);
  }
  return std::nullopt;
}

IpFamily IpAddress::family() const {
  return std::equal(kV4InV6.begin(), kV4InV6.end(), bytes_.begin()) ? IpFamily::kIpv4
                                                                    : IpFamily::kIpv6;
}

bool IpAddress::IsUnspecified() const {
  return std::all_of(bytes_.begin() + (family() == IpFamily::kIpv4 ? 12 : 0), bytes_.end(),
                     [](uint8_t byte) { return byte == 0; });
}

bool IpAddress::IsLoopback() const {
  if (family() == IpFamily::kIpv4) return bytes_[12] == 127;
  return bytes_[15] == 1 &&
         std::all_of(bytes_.begin(), bytes_.end() - 1, [](uint8_t byte) { return byte == 0; });
}

bool IpAddress::IsMulticast() const {
  if (family() == IpFamily::kIpv4) return (bytes_[12] & 0xf0) == 0xe0;
  return bytes_[0] == 0xff;
}

bool IpAddress::IsLinkLocalUnicast() const {
  if (family() == IpFamily::kIpv4) return bytes_[12] == 169 && bytes_[13] == 254;
  return bytes_[0] == 0xfe && (bytes_[1] & 0xc0) == 0x80;
}

bool IpAddress::IsGlobalUnicast() const {
  const bool broadcast =
      family() == IpFamily::kIpv4 &&
      std::all_of(bytes_.begin() + 12, bytes_.end(), [](uint8_t byte) { return byte == 0xff; });
  return !broadcast && !IsUnspecified() && !IsLoopback() && !IsMulticast() && !IsLinkLocalUnicast();
}

std::string IpAddress::ToString() const {
  std::string text;
  if (family() == IpFamily::kIpv4) {
    for (size_t i = 12; i < 16; ++i) {
      if (i > 12) text += '.';
      text += std::to_string(bytes_[i]);
    }
    return text;
  }
  std::array<uint16_t, 8> groups{};
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i] = static_cast<uint16_t>(bytes_[2 * i] << 8 | bytes_[2 * i + 1]);
  }
  const Run zeros = LongestZeros(groups);
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i == zeros.begin) {
      text += "::";
      i = zeros.end - 1;
      continue;
    }
    if (i > 0 && i != zeros.end) text += ':';
    text += Hex(groups[i]);
  }
  return text;
}

}  // namespace denselet::node
