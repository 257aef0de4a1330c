// A unix socket that one process listens on, for its owner's eyes only (mode 0600), at a path that
// others know.
//
// Nobody ever sees a socket at the path that does not listen, or with another mode: it is made
// beside and moved there. What a process left that died is replaced; a socket that somebody listens
// on is not, nor is a file of another kind. A lock beside the path (PATH.lock) tells two that start
// at once apart.
//
// Owned by main, which opens it before there is a server; nothing here waits. Destroyed, it removes
// the path, if that is still its own.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "reactor/file_lock.h"
#include "reactor/net/address.h"
#include "reactor/unique_fd.h"

namespace denselet::net {

class LocalSocket {
 public:
  // kAlreadyExists: somebody listens there, or something else is there. kInvalid: too long a path.
  static Result<LocalSocket> Open(const std::string& path);

  LocalSocket(LocalSocket&& other) noexcept;
  LocalSocket& operator=(LocalSocket&&) = delete;
  ~LocalSocket();

  const Address& address() const { return address_; }
  // The listening socket, once; who takes it closes it.
  int Take() { return fd_.Release(); }

 private:
  LocalSocket(std::string path, const Address& address, reactor::FileLock lock)
      : path_(std::move(path)), address_(address), lock_(std::move(lock)) {}

  Status Listen();

  std::string path_;  // empty: nothing to remove
  Address address_;
  reactor::FileLock lock_;
  reactor::UniqueFd fd_ = {};
  uint64_t device_ = 0, inode_ = 0;  // of what is ours at the path
};

}  // namespace denselet::net
