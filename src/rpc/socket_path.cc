#include "rpc/socket_path.h"

#include <sys/un.h>

namespace denselet::rpc {
namespace {

constexpr std::string_view kScheme = "unix:";

}  // namespace

Result<std::string> SocketPath(std::string_view address) {
  std::string_view path = address;
  if (path.starts_with(kScheme)) {
    path.remove_prefix(kScheme.size());
    if (path.starts_with("//")) path.remove_prefix(2);
  }
  const auto invalid = [address](const char* why) {
    return Error(ErrorCode::kInvalid, why).With("endpoint", std::string(address.substr(0, 256)));
  };
  if (!path.starts_with('/')) return invalid("not the absolute path of a unix socket");
  if (path.find('\0') != path.npos) return invalid("a NUL byte in the path");
  if (path.size() >= sizeof(sockaddr_un::sun_path)) return invalid("the path is too long");
  return std::string(path);
}

}  // namespace denselet::rpc
