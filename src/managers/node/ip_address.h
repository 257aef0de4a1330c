// An IP address as Kubernetes sees one: no port, no scope, and an IPv4 address is the same thing
// when it is written into an IPv6 one. Prints as Go prints it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sockaddr;

namespace denselet::node {

enum class IpFamily : uint8_t { kIpv4, kIpv6 };

class IpAddress {
 public:
  using Bytes = std::array<uint8_t, 16>;

  // "10.0.0.1", "010.0.0.1" (decimal, as Kubernetes has always read it), "2001:db8::1".
  static std::optional<IpAddress> Parse(std::string_view text);
  static IpAddress V4(std::array<uint8_t, 4> bytes);
  static IpAddress V6(const Bytes& bytes) { return IpAddress(bytes); }
  // Nothing: of another family.
  static std::optional<IpAddress> From(const sockaddr* address);

  IpFamily family() const;
  bool IsUnspecified() const;
  bool IsLoopback() const;
  bool IsMulticast() const;
  bool IsLinkLocalUnicast() const;
  // Fit to be reached by: none of the above, and no broadcast.
  bool IsGlobalUnicast() const;

  std::string ToString() const;

  friend bool operator==(const IpAddress&, const IpAddress&) = default;

 private:
  explicit IpAddress(const Bytes& bytes) : bytes_(bytes) {}

  Bytes bytes_;
};

}  // namespace denselet::node
