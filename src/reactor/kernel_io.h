// The calls on sockets that are the same for both real loops.
#pragma once

#include "reactor/api/io.h"

namespace denselet::reactor {

class KernelIo : public Io {
 public:
  int Socket(int domain, int type) override;
  int Listen(int fd, const sockaddr* address, socklen_t size, int backlog) override;
  int LocalAddress(int fd, sockaddr_storage& address, socklen_t& size) override;
  int Shutdown(int fd, int how) override;
  void Close(int fd) override;

 protected:
  // For socket(2), so that it is born as Adopt would make it.
  virtual int socket_flags() const = 0;
};

}  // namespace denselet::reactor
