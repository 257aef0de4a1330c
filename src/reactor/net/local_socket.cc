#include "reactor/net/local_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

namespace denselet::net {
namespace {

constexpr int kBacklog = 64;  // few ask at once; more wait
constexpr mode_t kMode = 0600;

// Nothing: nobody is there.
std::optional<struct stat> LookAt(const std::string& path) {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0) return std::nullopt;
  return found;
}

reactor::UniqueFd NewSocket(int more_flags) {
  return reactor::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | more_flags, 0));
}

// Does the socket at that address answer? One whose line is full does, too.
Result<bool> SomebodyListens(const Address& address) {
  const reactor::UniqueFd fd = NewSocket(SOCK_NONBLOCK);
  if (!fd) return Error::FromErrno(errno, "make a socket");
  if (::connect(fd.get(), address.get(), address.size()) == 0 || errno == EAGAIN) return true;
  if (errno == ECONNREFUSED || errno == ENOENT) return false;
  return Error::FromErrno(errno, "ask who listens on " + address.ToString());
}

// What is at the path may be replaced.
Status CheckPlace(const std::string& path, const Address& address) {
  const auto found = LookAt(path);
  if (!found) return Ok();
  if (!S_ISSOCK(found->st_mode)) {
    return Error(ErrorCode::kAlreadyExists, "there is something that is no socket")
        .With("listen on " + address.ToString());
  }
  const Result<bool> alive = SomebodyListens(address);
  if (!alive) return alive.error();
  if (!*alive) return Ok();
  return Error(ErrorCode::kAlreadyExists, "somebody listens there already")
      .With("listen on " + address.ToString());
}

}  // namespace

Result<LocalSocket> LocalSocket::Open(const std::string& path) {
  const Result<Address> address = Address::Unix(path);
  if (!address) return address.error();
  Result<std::optional<reactor::FileLock>> lock = reactor::FileLock::Try(path + ".lock");
  if (!lock) return lock.error();
  if (!*lock) {
    return Error(ErrorCode::kAlreadyExists, "another process has its lock")
        .With("listen on " + address->ToString());
  }
  if (const Status free = CheckPlace(path, *address); !free) return free.error();
  LocalSocket socket(path, *address, *std::exchange(*lock, std::nullopt));
  if (const Status listens = socket.Listen(); !listens) return listens.error();
  return socket;
}

LocalSocket::LocalSocket(LocalSocket&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      address_(other.address_),
      lock_(std::move(other.lock_)),
      fd_(std::move(other.fd_)),
      device_(other.device_),
      inode_(other.inode_) {}

LocalSocket::~LocalSocket() {
  if (path_.empty() || inode_ == 0) return;
  const auto found = LookAt(path_);
  if (found && found->st_dev == device_ && found->st_ino == inode_) (void)::unlink(path_.c_str());
}

Status LocalSocket::Listen() {
  const std::string beside = path_ + ".new";
  const Result<Address> there = Address::Unix(beside);
  if (!there) return there.error();
  const auto fail = [&](const char* what) {
    return Error::FromErrno(errno, std::string(what) + " " + beside);
  };
  // We have the lock: it is what one of us left that was killed right here.
  if (const auto old = LookAt(beside); old && S_ISSOCK(old->st_mode)) {
    (void)::unlink(beside.c_str());
  }
  fd_ = NewSocket(0);
  if (!fd_) return fail("make a socket for");
  // Before it has a name: the name is born with this mode.
  if (::fchmod(fd_.get(), kMode) != 0) return fail("set the mode of");
  if (::bind(fd_.get(), there->get(), there->size()) != 0) return fail("bind");
  const auto made = LookAt(beside);
  if (!made || ::listen(fd_.get(), kBacklog) != 0 || ::rename(beside.c_str(), path_.c_str()) != 0) {
    const Error error = fail("listen on");
    (void)::unlink(beside.c_str());
    return error;
  }
  device_ = made->st_dev;
  inode_ = made->st_ino;
  return Ok();
}

}  // namespace denselet::net
