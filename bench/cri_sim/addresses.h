// An address in 127.0.0.0/8 for every pod. Given back ones are used again as late as possible, so
// that a probe of a dead pod does not soon find another.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace denselet::cri_sim {

struct Ipv4 {
  uint32_t bits = 0;  // host order; 0: none

  bool any() const { return bits != 0; }
  std::string ToString() const {
    if (bits == 0) return {};
    return std::to_string(bits >> 24) + "." + std::to_string(bits >> 16 & 255) + "." +
           std::to_string(bits >> 8 & 255) + "." + std::to_string(bits & 255);
  }
  friend bool operator==(Ipv4, Ipv4) = default;
};

class Addresses {
 public:
  static constexpr uint32_t kFirst = 127u << 24 | 1u << 16 | 1;       // 127.1.0.1
  static constexpr uint32_t kLast = 127u << 24 | 254u << 16 | 65534;  // 127.254.255.254

  std::optional<Ipv4> Take() {
    if (next_ <= kLast) return Ipv4{next_++};
    if (free_.empty()) return std::nullopt;
    const Ipv4 ip{free_.front()};
    free_.pop_front();
    return ip;
  }
  void GiveBack(Ipv4 ip) { free_.push_back(ip.bits); }

 private:
  uint32_t next_ = kFirst;
  std::deque<uint32_t> free_;  // bounded by kLast - kFirst
};

}  // namespace denselet::cri_sim
