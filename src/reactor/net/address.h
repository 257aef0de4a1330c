// Where a socket listens or connects to: an IP address and port, or a path.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace denselet::net {

class Address {
 public:
  // "127.0.0.1", "::1", "fe80::1%2" (the scope as a number).
  static Result<Address> Ip(std::string_view ip, uint16_t port);
  static Result<Address> Unix(std::string_view path);
  // "127.0.0.1:80", "[::1]:80", "unix:/run/x.sock".
  static Result<Address> Parse(std::string_view text);
  static Result<Address> From(const sockaddr_storage& storage, socklen_t size);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }
  int family() const { return storage_.ss_family; }
  uint16_t port() const;         // 0 of a path
  std::string ToString() const;  // as Parse reads it

  friend bool operator==(const Address& a, const Address& b) {
    return a.ToString() == b.ToString();
  }

 private:
  Address() = default;

  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

}  // namespace denselet::net
