// The loop on epoll, for kernels that lack or forbid io_uring. An operation tries its system call
// at once; when that would block, it waits for readiness and tries again.
#pragma once

#include <memory>
#include <vector>

#include "reactor/event_loop.h"
#include "reactor/kernel_io.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor {

class EpollLoop final : public EventLoop, private KernelIo {
 public:
  static Result<std::unique_ptr<EventLoop>> Make(const Clock& clock, const LoopOptions& options);
  ~EpollLoop() override;

  Io& io() override { return *this; }
  std::string_view backend_name() const override { return "epoll"; }
  size_t operations() const override { return ops_.size(); }

 private:
  enum class Kind : uint8_t {
    kPoll,
    kRead,
    kWrite,
    kReceive,
    kReceiveStream,
    kSend,
    kAccept,
    kConnect
  };

  struct Op {
    Kind kind;
    bool connecting = false;  // the connect was started; readiness tells how it ended
    bool finished = false;    // its result stands in the ready list
    bool waiting = false;     // among the waiters of its descriptor
    bool running = false;     // in its callback, of a ReceiveStream
    bool cancelled = false;   // while running: ends when that has returned
    int fd;
    uint32_t events;  // what it waits for
    std::byte* data = nullptr;
    size_t size = 0;
    std::unique_ptr<sockaddr_storage> address = nullptr;  // of a connect
    IoDone done = {};
    IoReceived received = {};  // of a ReceiveStream
  };

  // The operations that wait on one descriptor, oldest first.
  struct Waiters {
    std::vector<SlotKey> ops;
    // Events that the kernel reports until told otherwise: while a ReceiveStream is there. Zero: it
    // reports once.
    uint32_t standing = 0;
    // Probably registered: what to try first. One that was closed elsewhere is not any more.
    bool registered = false;
  };

  EpollLoop(const Clock& clock, const LoopOptions& options, UniqueFd epoll, UniqueFd wake);

  // EventLoop
  void Wait(TimePoint until) override;
  bool HasCompletions() const override { return !finished_.empty(); }
  bool DropOperations() override;
  void WakeUp() override;

  // Io
  void Adopt(int fd) override;
  OpId Poll(int fd, uint32_t events, IoDone done) override;
  OpId Read(int fd, std::span<std::byte> into, IoDone done) override;
  OpId Write(int fd, std::span<const std::byte> from, IoDone done) override;
  OpId Receive(int fd, std::span<std::byte> into, IoDone done) override;
  OpId ReceiveStream(int fd, IoReceived received) override;
  OpId Send(int fd, std::span<const std::byte> from, IoDone done) override;
  OpId Accept(int fd, IoDone done) override;
  OpId Connect(int fd, const sockaddr* address, socklen_t size, IoDone done) override;
  void Cancel(OpId op) override;
  void Close(int fd) override;
  int socket_flags() const override { return SOCK_NONBLOCK; }

  OpId Start(Op op);
  // One try of the system call: its result, or nothing when it would block.
  static bool Try(Op& op, uint32_t ready_events, int32_t& result);
  static bool TryConnect(Op& op, uint32_t ready_events, int32_t& result);
  bool HasWaiterFor(int fd, uint32_t events);
  void Finish(SlotKey key, int32_t result);
  void AddWaiter(SlotKey key, int fd);
  void RemoveWaiter(SlotKey key, int fd);
  int ArmDescriptor(int fd);
  void OnReady(int fd, uint32_t events);
  size_t RunFinished();
  void RunReceived(SlotKey key);
  void EndReceive(SlotKey key, int32_t result);

  const UniqueFd epoll_;
  const UniqueFd wake_;
  SlotMap<Op> ops_;
  std::vector<Waiters> waiters_;  // by descriptor
  struct Finished {
    SlotKey key;
    int32_t result;
  };
  std::vector<Finished> finished_;  // at most one for each operation, two for a ReceiveStream
  // Where ReceiveStream receives.
  const std::unique_ptr<std::byte[]> buffer_;
};

}  // namespace denselet::reactor
