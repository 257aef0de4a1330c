#include "kube/api/validation/ip_address.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "kube/api/validation/names.h"

namespace denselet::kube {
namespace {

struct Address {
  std::vector<uint8_t> bytes;  // 4 or 16
  bool leading_zeros = false;  // once read as decimal by some and as octal by others
};

std::optional<Address> ParseIpv4(std::string_view text) {
  const auto parts = Split(text, '.');
  if (parts.size() != 4) return std::nullopt;
  Address address;
  for (const std::string_view part : parts) {
    int number = 0;
    for (const char c : part) {
      if (c < '0' || c > '9') return std::nullopt;
      number = std::min(number * 10 + (c - '0'), 256);
    }
    if (part.empty() || number > 255) return std::nullopt;
    address.leading_zeros = address.leading_zeros || (part.size() > 1 && part[0] == '0');
    address.bytes.push_back(static_cast<uint8_t>(number));
  }
  return address;
}

std::optional<int> ParseHex(std::string_view text) {
  int number = 0;
  for (const char c : text) {
    int digit = 16;
    if (c >= '0' && c <= '9') digit = c - '0';
    if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
    if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
    if (digit == 16) return std::nullopt;
    number = std::min(number * 16 + digit, 0x10000);
  }
  if (text.empty() || number > 0xffff) return std::nullopt;
  return number;
}

// Groups between colons; the last may be an IPv4 address.
std::optional<Address> ParseGroups(std::string_view text) {
  Address address;
  if (text.empty()) return address;
  const auto groups = Split(text, ':');
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i + 1 == groups.size() && groups[i].find('.') != groups[i].npos) {
      const auto last = ParseIpv4(groups[i]);
      if (!last) return std::nullopt;
      address.bytes.insert(address.bytes.end(), last->bytes.begin(), last->bytes.end());
      address.leading_zeros = address.leading_zeros || last->leading_zeros;
      continue;
    }
    const auto number = ParseHex(groups[i]);
    if (!number) return std::nullopt;
    address.leading_zeros = address.leading_zeros || groups[i].size() > 4;
    address.bytes.push_back(static_cast<uint8_t>(*number >> 8));
    address.bytes.push_back(static_cast<uint8_t>(*number & 0xff));
  }
  return address;
}

std::optional<Address> ParseIpv6(std::string_view text) {
  constexpr size_t kSize = 16;
  const size_t gap = text.find("::");
  if (gap == text.npos) {
    auto address = ParseGroups(text);
    if (!address || address->bytes.size() != kSize) return std::nullopt;
    return address;
  }
  if (text.substr(0, gap).find('.') != text.npos) return std::nullopt;
  auto address = ParseGroups(text.substr(0, gap));
  const auto rest = ParseGroups(text.substr(gap + 2));
  if (!address || !rest || address->bytes.size() + rest->bytes.size() >= kSize) return std::nullopt;
  address->bytes.resize(kSize - rest->bytes.size());
  address->bytes.insert(address->bytes.end(), rest->bytes.begin(), rest->bytes.end());
  address->leading_zeros = address->leading_zeros || rest->leading_zeros;
  return address;
}

bool IsMappedIpv4(const Address& address) {
  constexpr std::array<uint8_t, 12> kPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return address.bytes.size() == 16 &&
         std::ranges::equal(
             kPrefix, std::vector<uint8_t>(address.bytes.begin(), address.bytes.begin() + 12));
}

}  // namespace

void ValidateIpAddress(const std::string& text, const FieldPath& path, FaultList& out) {
  const auto address = text.find(':') == text.npos ? ParseIpv4(text) : ParseIpv6(text);
  if (!address) {
    out.Invalid(path, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  } else if (address->leading_zeros) {
    out.Invalid(path, text, "must not have leading 0s");
  } else if (IsMappedIpv4(*address)) {
    out.Invalid(path, text, "must not be an IPv4-mapped IPv6 address");
  }
}

}  // namespace denselet::kube
