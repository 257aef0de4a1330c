// The simulated loop: the turn of a real one, on virtual time and with simulated sockets. It never
// sleeps; the World decides which loop has its next turn and when time goes on.
#pragma once

#include <array>
#include <deque>
#include <memory>

#include "reactor/api/io.h"
#include "reactor/event_loop.h"

namespace denselet::sim {

class Network;

class SimLoop final : public reactor::EventLoop, private reactor::Io {
 public:
  SimLoop(const Clock& clock, const reactor::LoopOptions& options, Network& network);
  ~SimLoop() override;

  Io& io() override { return *this; }
  std::string_view backend_name() const override { return "simulated"; }
  size_t operations() const override { return ops_.size(); }

  // When there is something to do.
  TimePoint NextTurn() const { return completed_.empty() ? NextWork() : clock_.Now(); }
  bool Runnable() const { return NextTurn() <= clock_.Now(); }
  void Turn() {
    ReadClockAgain();
    RunTurn(clock_.Now());
  }

  // By the network, between turns: ends an operation. One that has ended already is left alone.
  void Complete(reactor::OpId op, int32_t result);

 private:
  struct Op {
    reactor::IoDone done;
    int fd;
    bool completed = false;
    bool cancelled = false;
    bool accepts = false;  // its result is a descriptor
    // Of a ReceiveStream.
    reactor::IoReceived received = {};
    std::unique_ptr<std::array<std::byte, 4096>> buffer = {};
  };
  struct Completed {
    SlotKey key;
    int32_t result;
  };

  void Wait(TimePoint until) override;
  bool DropOperations() override;
  void WakeUp() override {}  // the World asks Runnable()

  void Adopt(int) override {}
  reactor::OpId Poll(int fd, uint32_t events, reactor::IoDone done) override;
  reactor::OpId Read(int fd, std::span<std::byte> into, reactor::IoDone done) override;
  reactor::OpId Write(int fd, std::span<const std::byte> from, reactor::IoDone done) override;
  reactor::OpId Receive(int fd, std::span<std::byte> into, reactor::IoDone done) override;
  reactor::OpId ReceiveStream(int fd, reactor::IoReceived received) override;
  reactor::OpId Send(int fd, std::span<const std::byte> from, reactor::IoDone done) override;
  reactor::OpId Accept(int fd, reactor::IoDone done) override;
  reactor::OpId Connect(int fd, const sockaddr* address, socklen_t size,
                        reactor::IoDone done) override;
  int Socket(int domain, int type) override;
  int Listen(int fd, const sockaddr* address, socklen_t size, int backlog) override;
  int LocalAddress(int fd, sockaddr_storage& address, socklen_t& size) override;
  int Shutdown(int fd, int how) override;
  void Close(int fd) override;
  void Cancel(reactor::OpId op) override;

  void RunReceived(SlotKey key, int32_t result);

  // Keeps the callback and lets `begin` tell the network, which may complete it at once.
  template <class Begin>
  reactor::OpId Start(int fd, reactor::IoDone done, Begin begin);

  Network& network_;
  SlotMap<Op> ops_;
  std::deque<Completed> completed_;
};

}  // namespace denselet::sim
