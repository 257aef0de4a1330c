// The I/O operations of a loop, in the shape that io_uring gives them and that epoll and the
// simulator can imitate: start, and be called back once with what the system call would have
// returned.
//
// A descriptor is shown to Adopt once before its first operation: io_uring wants it blocking (it
// waits in the kernel), epoll wants it non-blocking (it tries and waits for readiness). One reading
// and one writing operation at a time on a descriptor: of two of a kind the kernel may serve either
// first.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/slot_map.h"
#include "base/unique_function.h"

namespace denselet::reactor {

// Names an operation under way. A default one, or one that has called back, names nothing.
struct OpId {
  SlotKey key;
  friend bool operator==(const OpId&, const OpId&) = default;
};

// The system call's result: zero or more, or a negative errno.
using IoDone = UniqueFunction<void(int32_t result)>;
// Again and again, with the bytes that came; `data` is valid during the call. The last call has a
// result of zero or less and no data.
using IoReceived = UniqueFunction<void(int32_t result, std::span<const std::byte> data)>;

class Io {
 public:
  virtual ~Io() = default;

  // Operations under way at once are bounded (Options::operations_max of the loop). One that does
  // not fit is refused by its own callback, with -EBUSY.

  // Sets the descriptor's mode as this loop needs it.
  virtual void Adopt(int fd) = 0;

  // Once, when one of `events` (POLLIN, POLLOUT, POLLPRI; errors always) holds; the result is the
  // set that does.
  virtual OpId Poll(int fd, uint32_t events, IoDone done) = 0;

  // Streams: pipes, sockets, eventfd. Waits until there is something to read or room to
  // write.
  virtual OpId Read(int fd, std::span<std::byte> into, IoDone done) = 0;
  virtual OpId Write(int fd, std::span<const std::byte> from, IoDone done) = 0;

  // Sockets.
  virtual OpId Receive(int fd, std::span<std::byte> into, IoDone done) = 0;
  virtual OpId Send(int fd, std::span<const std::byte> from, IoDone done) = 0;
  // What comes, as it comes, in memory of the loop's own: a connection that is silent holds none.
  // Ends once: with 0 when the peer sends no more, with an error, or with -ECANCELED after Cancel;
  // bytes that had arrived by then may still come before that. Until then it is the descriptor's
  // reading operation.
  virtual OpId ReceiveStream(int fd, IoReceived received) = 0;
  // The result is a new descriptor, adopted and close-on-exec.
  virtual OpId Accept(int fd, IoDone done) = 0;
  // `address` is copied.
  virtual OpId Connect(int fd, const sockaddr* address, socklen_t size, IoDone done) = 0;

  // Sockets are made and ended here too, because the simulator's are not the kernel's. Nothing here
  // blocks; results are those of the system calls, zero or more, or a negative errno.
  virtual int Socket(int domain, int type) = 0;  // adopted and close-on-exec
  virtual int Listen(int fd, const sockaddr* address, socklen_t size, int backlog) = 0;
  virtual int LocalAddress(int fd, sockaddr_storage& address, socklen_t& size) = 0;
  virtual int Shutdown(int fd, int how) = 0;
  virtual void Close(int fd) = 0;  // with no operation on it under way

  // Asks for the end of an operation. It calls back all the same, once: with -ECANCELED, or with
  // its result if it was quicker. An id that names nothing is ignored.
  virtual void Cancel(OpId op) = 0;
};

}  // namespace denselet::reactor
