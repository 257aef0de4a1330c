#include "tests/sim/sim_loop.h"

#include <cerrno>
#include <utility>

#include "tests/sim/network.h"

namespace denselet::sim {

using reactor::IoDone;
using reactor::OpId;

SimLoop::SimLoop(const Clock& clock, const reactor::LoopOptions& options, Network& network)
    : EventLoop(clock, options), network_(network), ops_(options.operations_max) {}

SimLoop::~SimLoop() { Drop(); }

bool SimLoop::DropOperations() {
  if (ops_.empty()) return false;
  ops_.ForEach([this](SlotKey key, const Op& op) {
    if (!op.completed) network_.Forget(op.fd, Network::Waiter{this, OpId{key}});
  });
  for (const Completed& next : std::exchange(completed_, {})) {
    if (ops_.Find(next.key)->accepts && next.result >= 0) network_.Close(next.result);
  }
  const std::vector<Op> dropped = ops_.TakeAll();
  return true;
}

void SimLoop::Complete(OpId op, int32_t result) {
  Op* found = ops_.Find(op.key);
  if (found == nullptr || found->completed) return;
  found->completed = true;
  completed_.push_back({op.key, result});
}

void SimLoop::Wait(TimePoint) {
  WokeUp();
  activity().Rename("i/o callback");
  const size_t count = completed_.size();
  for (size_t i = 0; i < count; ++i) {
    const Completed next = completed_.front();
    completed_.pop_front();
    if (ops_.Find(next.key)->received) {
      RunReceived(next.key, next.result);
    } else {
      ops_.Remove(next.key)->done(next.result);
    }
  }
  RanCompletions(count);
}

void SimLoop::RunReceived(SlotKey key, int32_t result) {
  // Out of its slot while it runs: it may start operations, which moves slots.
  reactor::IoReceived received = std::move(ops_.Find(key)->received);
  if (result <= 0) {
    ops_.Remove(key);
    return received(result, {});
  }
  const auto buffer = std::move(ops_.Find(key)->buffer);
  received(result, std::span(*buffer).first(static_cast<size_t>(result)));
  Op& op = *ops_.Find(key);
  op.received = std::move(received);
  op.buffer = std::make_unique<std::array<std::byte, 4096>>();
  op.completed = false;
  if (op.cancelled) return Complete(OpId{key}, -ECANCELED);
  network_.Receive(op.fd, *op.buffer, Network::Waiter{this, OpId{key}});
}

template <class Begin>
OpId SimLoop::Start(int fd, IoDone done, Begin begin) {
  Op op{std::move(done), fd};
  const std::optional<SlotKey> key = ops_.Insert(std::move(op));
  if (!key) {
    // Insert takes the value only on success. NOLINTNEXTLINE(bugprone-use-after-move)
    Post([refused = std::move(op.done)]() mutable { refused(-EBUSY); });
    return {};
  }
  begin(Network::Waiter{this, OpId{*key}});
  return OpId{*key};
}

OpId SimLoop::Poll(int fd, uint32_t events, IoDone done) {
  return Start(fd, std::move(done), [&](Network::Waiter w) { network_.Poll(fd, events, w); });
}

OpId SimLoop::Read(int fd, std::span<std::byte> into, IoDone done) {
  return Receive(fd, into, std::move(done));
}

OpId SimLoop::Write(int fd, std::span<const std::byte> from, IoDone done) {
  return Send(fd, from, std::move(done));
}

OpId SimLoop::Receive(int fd, std::span<std::byte> into, IoDone done) {
  return Start(fd, std::move(done), [&](Network::Waiter w) { network_.Receive(fd, into, w); });
}

OpId SimLoop::ReceiveStream(int fd, reactor::IoReceived received) {
  auto buffer = std::make_unique<std::array<std::byte, 4096>>();
  const std::span<std::byte> into = *buffer;
  Op op{.done = {}, .fd = fd, .received = std::move(received), .buffer = std::move(buffer)};
  const std::optional<SlotKey> key = ops_.Insert(std::move(op));
  if (!key) {
    // Insert takes the value only on success. NOLINTNEXTLINE(bugprone-use-after-move)
    Post([refused = std::move(op.received)]() mutable { refused(-EBUSY, {}); });
    return {};
  }
  network_.Receive(fd, into, Network::Waiter{this, OpId{*key}});
  return OpId{*key};
}

OpId SimLoop::Send(int fd, std::span<const std::byte> from, IoDone done) {
  return Start(fd, std::move(done), [&](Network::Waiter w) { network_.Send(fd, from, w); });
}

OpId SimLoop::Accept(int fd, IoDone done) {
  return Start(fd, std::move(done), [&](Network::Waiter w) {
    ops_.Find(w.op.key)->accepts = true;
    network_.Accept(fd, w);
  });
}

OpId SimLoop::Connect(int fd, const sockaddr* address, socklen_t size, IoDone done) {
  return Start(fd, std::move(done),
               [&](Network::Waiter w) { network_.Connect(fd, address, size, w); });
}

int SimLoop::Socket(int domain, int type) { return network_.Socket(domain, type); }

int SimLoop::Listen(int fd, const sockaddr* address, socklen_t size, int backlog) {
  return network_.Listen(fd, address, size, backlog);
}

int SimLoop::LocalAddress(int fd, sockaddr_storage& address, socklen_t& size) {
  return network_.LocalAddress(fd, address, size);
}

int SimLoop::Shutdown(int fd, int how) { return network_.Shutdown(fd, how); }

void SimLoop::Close(int fd) { network_.Close(fd); }

void SimLoop::Cancel(OpId op) {
  Op* found = ops_.Find(op.key);
  if (found == nullptr) return;
  found->cancelled = true;
  if (found->completed) return;
  network_.Forget(found->fd, Network::Waiter{this, op});
  Complete(op, -ECANCELED);
}

}  // namespace denselet::sim
