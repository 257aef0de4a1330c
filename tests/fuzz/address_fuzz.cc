// Any text is either refused with a reason or is an address that fits its family, is written down
// in one way and read again as the same.
#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/check.h"
#include "reactor/net/address.h"

namespace denselet::net {
namespace {

void CheckSize(const Address& address) {
  switch (address.family()) {
    case AF_INET:
      CHECK(address.size() == sizeof(sockaddr_in));
      return;
    case AF_INET6:
      CHECK(address.size() == sizeof(sockaddr_in6));
      return;
    default:
      CHECK(address.family() == AF_UNIX);
      CHECK(address.size() > offsetof(sockaddr_un, sun_path) + 1);
      CHECK(address.size() <= sizeof(sockaddr_un));
      CHECK(address.port() == 0);
  }
}

// Byte by byte: operator== compares what is printed.
bool Same(const Address& a, const Address& b) {
  return a.size() == b.size() && std::memcmp(a.get(), b.get(), a.size()) == 0;
}

void CheckCopy(const Address& address) {
  sockaddr_storage storage{};
  std::memcpy(&storage, address.get(), address.size());
  const auto copy = Address::From(storage, address.size());
  CHECK(copy && Same(*copy, address) && *copy == address);
}

}  // namespace
}  // namespace denselet::net

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace denselet;
  using namespace denselet::net;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto address = Address::Parse(text);
  if (!address) {
    CHECK(address.error().code() == ErrorCode::kInvalid);
    CHECK(!address.error().message().empty());
    return 0;
  }
  CheckSize(*address);
  const std::string printed = address->ToString();
  const auto again = Address::Parse(printed);
  CHECK(again && Same(*again, *address) && again->ToString() == printed);
  CHECK(!text.starts_with("unix:") || printed == text);
  CheckCopy(*address);
  return 0;
}
