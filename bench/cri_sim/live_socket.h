// A socket's file may be left over from one that is gone, or be somebody's who still serves.
#pragma once

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/result.h"
#include "reactor/unique_fd.h"

namespace denselet::cri_sim {

// Fails where no socket can be made, and when somebody serves there: to take its place would leave
// it unreachable.
inline Status CheckIsFree(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return Error(ErrorCode::kInvalid, "the path of the socket is too long: " + path);
  }
  if (path.find("://") != path.npos) {
    return Error(ErrorCode::kInvalid, "wanted the path of a socket, not a URL: " + path);
  }
  const size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "." : (slash == 0 ? "/" : path.substr(0, slash));
  struct stat there {};
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    return Error::FromErrno(errno, "make a socket in " + folder);
  }
  if (::lstat(path.c_str(), &there) == 0 && !S_ISSOCK(there.st_mode)) {
    return Error(ErrorCode::kInvalid, "there is something else than a socket: " + path);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const reactor::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return Ok();
  const int connected =
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (connected != 0 && errno != EAGAIN) return Ok();  // EAGAIN: so many wait there already
  return Error(ErrorCode::kAlreadyExists, "somebody serves on " + path + " already");
}

}  // namespace denselet::cri_sim
