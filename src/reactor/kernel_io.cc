#include "reactor/kernel_io.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace denselet::reactor {
namespace {

int ResultOf(int returned) { return returned < 0 ? -errno : returned; }

}  // namespace

int KernelIo::Socket(int domain, int type) {
  const int fd = ResultOf(::socket(domain, type | SOCK_CLOEXEC | socket_flags(), 0));
  if (fd < 0) return fd;
  // We send whole messages; what waits for more only adds delay. Accepted sockets inherit it.
  const int on = 1;
  if (domain != AF_UNIX && type == SOCK_STREAM) {
    (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return fd;
}

int KernelIo::Listen(int fd, const sockaddr* address, socklen_t size, int backlog) {
  // A server that is restarted must get its port back although old connections linger.
  const int on = 1;
  if (address->sa_family != AF_UNIX)
    (void)::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd, address, size) != 0) return -errno;
  return ResultOf(::listen(fd, backlog));
}

int KernelIo::LocalAddress(int fd, sockaddr_storage& address, socklen_t& size) {
  size = sizeof address;
  return ResultOf(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size));
}

int KernelIo::Shutdown(int fd, int how) { return ResultOf(::shutdown(fd, how)); }

void KernelIo::Close(int fd) { ::close(fd); }

}  // namespace denselet::reactor
