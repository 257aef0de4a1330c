// The loop on io_uring: one ring, one issuing thread, completions run only when that thread asks
// (deferred task run), so that nothing interrupts a turn. Older kernels get the next best form of
// the ring; see uring_loop.cc.
#pragma once

#include <memory>

#include "reactor/event_loop.h"
#include "reactor/kernel_io.h"
#include "reactor/unique_fd.h"

struct io_uring_sqe;

namespace denselet::reactor {

class UringLoop final : public EventLoop, private KernelIo {
 public:
  // kUnsupported when this kernel has no io_uring that will do, or forbids it. The calling thread
  // becomes the ring's only issuer: make the loop on the thread that runs it.
  static Result<std::unique_ptr<EventLoop>> Make(const Clock& clock, const LoopOptions& options);
  ~UringLoop() override;

  Io& io() override { return *this; }
  std::string_view backend_name() const override { return "uring"; }
  size_t operations() const override { return ops_.size(); }

 private:
  struct Op {
    IoDone done;
    std::unique_ptr<sockaddr_storage>
        address;  // of a connect: the kernel reads it when the entry is submitted
    // Of a ReceiveStream.
    IoReceived received = {};
    int fd = -1;
    bool cancelled = false;
    bool in_kernel = true;   // not while its callback runs and the kernel has nothing of it
    bool came_once = false;  // something was received
    bool accepts = false;    // its result is a descriptor
  };
  struct Completion {
    uint64_t data;
    int32_t result;
    uint32_t flags;
  };

  struct Ring;

  UringLoop(const Clock& clock, const LoopOptions& options, std::unique_ptr<Ring> ring,
            UniqueFd wake);

  // EventLoop
  void Wait(TimePoint until) override;
  bool DropOperations() override;
  bool HasCompletions() const override;
  void WakeUp() override;
  void WakeUpOther(EventLoop& sleeper) override;
  int message_ring_fd() const override;

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
  int socket_flags() const override { return 0; }

  // A submission entry; when the queue is full, what is in it is submitted first.
  io_uring_sqe* Entry();
  // Keeps the callback, lets `prepare` fill an entry, and names both with one key.
  template <class Prepare>
  OpId Start(IoDone done, Prepare prepare, std::unique_ptr<sockaddr_storage> address = nullptr);
  // Of a ReceiveStream: asks the kernel for more; one completion of it.
  void ArmReceive(SlotKey key);
  void RunReceived(SlotKey key, const Completion& completion);
  void HandReceived(SlotKey key, std::span<const std::byte> data);
  void EndReceive(SlotKey key, int32_t result);
  void ArmWake();
  void OnWake(const Completion& completion);
  void Submit(TimePoint until);
  size_t RunCompletions();
  void CancelEverything();
  void CloseAccepted();

  const std::unique_ptr<Ring> ring_;
  const UniqueFd wake_;
  bool wake_by_read_ = false;
  uint64_t wake_value_ = 0;
  SlotMap<Op> ops_;
  std::vector<EventLoop*> woken_;  // loops that were sent a message, by the number in its user data
};

}  // namespace denselet::reactor
