#include "reactor/epoll_loop.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace denselet::reactor {
namespace {

constexpr int kEventsPerWait = 256;
constexpr size_t kReceiveBufferBytes = 64 * 1024;
// In the place of a result: a ReceiveStream may have something to receive.
constexpr int32_t kMayReceive = INT32_MIN;

// poll(2)'s and epoll(7)'s bits are the same numbers for what we use.
static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLPRI == POLLPRI);
static_assert(EPOLLERR == POLLERR && EPOLLHUP == POLLHUP);

int32_t ResultOf(ssize_t returned) {
  return static_cast<int32_t>(returned < 0 ? -errno : returned);
}

bool WouldBlock(int32_t result) { return result == -EAGAIN || result == -EWOULDBLOCK; }

// Rounded up: waking before a timer is due would spin until it is.
int TimeoutMillis(TimePoint now, TimePoint until) {
  if (until == kNever) return -1;
  if (until <= now) return 0;
  const auto millis = std::chrono::ceil<Milliseconds>(until - now).count();
  return static_cast<int>(std::min<int64_t>(millis, INT32_MAX));
}

}  // namespace

Result<std::unique_ptr<EventLoop>> EpollLoop::Make(const Clock& clock, const LoopOptions& options) {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return Error::FromErrno(errno, "epoll_create1");
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return Error::FromErrno(errno, "eventfd");
  epoll_event event{.events = EPOLLIN, .data = {.fd = wake.get()}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.get(), &event) != 0) {
    return Error::FromErrno(errno, "epoll_ctl");
  }
  return std::unique_ptr<EventLoop>(
      new EpollLoop(clock, options, std::move(epoll), std::move(wake)));
}

EpollLoop::EpollLoop(const Clock& clock, const LoopOptions& options, UniqueFd epoll, UniqueFd wake)
    : EventLoop(clock, options),
      epoll_(std::move(epoll)),
      wake_(std::move(wake)),
      ops_(options.operations_max),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(kReceiveBufferBytes)) {}

EpollLoop::~EpollLoop() { Drop(); }

bool EpollLoop::DropOperations() {
  if (ops_.empty()) return false;
  for (const Finished& finished : std::exchange(finished_, {})) {
    // What was accepted and not told yet belongs to nobody.
    const Op* op = ops_.Find(finished.key);
    if (op != nullptr && op->kind == Kind::kAccept && finished.result >= 0) {
      ::close(finished.result);
    }
  }
  waiters_.clear();
  // Into a place of its own: callbacks' destructors may start operations.
  const std::vector<Op> dropped = ops_.TakeAll();
  return true;
}

void EpollLoop::Adopt(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags >= 0 && (flags & O_NONBLOCK) == 0) ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

OpId EpollLoop::Poll(int fd, uint32_t events, IoDone done) {
  return Start({.kind = Kind::kPoll, .fd = fd, .events = events, .done = std::move(done)});
}

OpId EpollLoop::Read(int fd, std::span<std::byte> into, IoDone done) {
  return Start({.kind = Kind::kRead,
                .fd = fd,
                .events = EPOLLIN,
                .data = into.data(),
                .size = into.size(),
                .done = std::move(done)});
}

OpId EpollLoop::Write(int fd, std::span<const std::byte> from, IoDone done) {
  return Start({.kind = Kind::kWrite,
                .fd = fd,
                .events = EPOLLOUT,
                .data = const_cast<std::byte*>(from.data()),
                .size = from.size(),
                .done = std::move(done)});
}

OpId EpollLoop::Receive(int fd, std::span<std::byte> into, IoDone done) {
  return Start({.kind = Kind::kReceive,
                .fd = fd,
                .events = EPOLLIN,
                .data = into.data(),
                .size = into.size(),
                .done = std::move(done)});
}

OpId EpollLoop::ReceiveStream(int fd, IoReceived received) {
  return Start(
      {.kind = Kind::kReceiveStream, .fd = fd, .events = EPOLLIN, .received = std::move(received)});
}

OpId EpollLoop::Send(int fd, std::span<const std::byte> from, IoDone done) {
  return Start({.kind = Kind::kSend,
                .fd = fd,
                .events = EPOLLOUT,
                .data = const_cast<std::byte*>(from.data()),
                .size = from.size(),
                .done = std::move(done)});
}

OpId EpollLoop::Accept(int fd, IoDone done) {
  return Start({.kind = Kind::kAccept, .fd = fd, .events = EPOLLIN, .done = std::move(done)});
}

OpId EpollLoop::Connect(int fd, const sockaddr* address, socklen_t size, IoDone done) {
  CHECK(size <= sizeof(sockaddr_storage));
  auto copy = std::make_unique<sockaddr_storage>();
  std::memcpy(copy.get(), address, size);
  return Start({.kind = Kind::kConnect,
                .fd = fd,
                .events = EPOLLOUT,
                .size = size,
                .address = std::move(copy),
                .done = std::move(done)});
}

OpId EpollLoop::Start(Op op) {
  const int fd = op.fd;
  const std::optional<SlotKey> key = ops_.Insert(std::move(op));
  if (!key) {
    // Insert takes the value only on success. NOLINTNEXTLINE(bugprone-use-after-move)
    Post([refused = std::move(op)]() mutable {
      refused.received ? refused.received(-EBUSY, {}) : refused.done(-EBUSY);
    });
    return {};
  }
  int32_t result = 0;
  if (fd < 0) {
    Finish(*key, -EBADF);
  } else if (ops_.Find(*key)->kind == Kind::kReceiveStream && !HasWaiterFor(fd, EPOLLIN)) {
    // Looked at once before it waits: a connection that is closed with the first answer in hand, or
    // that comes with a request, is then spared a registration.
    finished_.push_back({*key, kMayReceive});
  } else if (!HasWaiterFor(fd, ops_.Find(*key)->events) && Try(*ops_.Find(*key), 0, result)) {
    Finish(*key, result);
  } else {
    AddWaiter(*key, fd);
  }
  return OpId{*key};
}

// Then a newcomer may not try at once: operations of one kind on one descriptor keep their order.
bool EpollLoop::HasWaiterFor(int fd, uint32_t events) {
  const auto index = static_cast<size_t>(fd);
  if (index >= waiters_.size()) return false;
  const std::vector<SlotKey>& waiting = waiters_[index].ops;
  return std::any_of(waiting.begin(), waiting.end(),
                     [&](SlotKey key) { return (ops_.Find(key)->events & events) != 0; });
}

bool EpollLoop::Try(Op& op, uint32_t ready_events, int32_t& result) {
  switch (op.kind) {
    case Kind::kPoll: {
      pollfd poll{.fd = op.fd, .events = static_cast<short>(op.events), .revents = 0};
      result = ResultOf(::poll(&poll, 1, 0));
      if (result > 0) result = poll.revents & POLLNVAL ? -EBADF : poll.revents;
      return result != 0;
    }
    case Kind::kRead:
      result = ResultOf(::read(op.fd, op.data, op.size));
      return !WouldBlock(result);
    case Kind::kWrite:
      result = ResultOf(::write(op.fd, op.data, op.size));
      return !WouldBlock(result);
    case Kind::kReceive:
      result = ResultOf(::recv(op.fd, op.data, op.size, MSG_DONTWAIT));
      return !WouldBlock(result);
    case Kind::kReceiveStream:
      result = kMayReceive;
      return ready_events != 0;
    case Kind::kSend:
      result = ResultOf(::send(op.fd, op.data, op.size, MSG_DONTWAIT | MSG_NOSIGNAL));
      return !WouldBlock(result);
    case Kind::kAccept:
      result = ResultOf(::accept4(op.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      return !WouldBlock(result);
    case Kind::kConnect:
      return TryConnect(op, ready_events, result);
  }
  return true;
}

bool EpollLoop::TryConnect(Op& op, uint32_t ready_events, int32_t& result) {
  if (!op.connecting) {
    op.connecting = true;
    result = ResultOf(::connect(op.fd, reinterpret_cast<const sockaddr*>(op.address.get()),
                                static_cast<socklen_t>(op.size)));
    // A unix socket whose listener's queue is full says EAGAIN and tells nobody when there is
    // room: the caller tries again, as it does for ECONNREFUSED.
    if (result != -EINPROGRESS) return true;
    // Within this machine it is done by now; asking costs less than a registration.
    pollfd poll{.fd = op.fd, .events = POLLOUT, .revents = 0};
    if (::poll(&poll, 1, 0) > 0) ready_events = static_cast<uint32_t>(poll.revents);
  }
  if (ready_events == 0) return false;
  result = 0;
  if ((ready_events & (EPOLLERR | EPOLLHUP)) == 0) return true;  // connected
  int error = 0;
  socklen_t size = sizeof error;
  result = ResultOf(::getsockopt(op.fd, SOL_SOCKET, SO_ERROR, &error, &size));
  if (result == 0) result = -error;
  return true;
}

void EpollLoop::Finish(SlotKey key, int32_t result) {
  Op& op = *ops_.Find(key);
  op.finished = true;
  op.waiting = false;
  finished_.push_back({key, result});
}

void EpollLoop::AddWaiter(SlotKey key, int fd) {
  const auto index = static_cast<size_t>(fd);
  if (index >= waiters_.size()) waiters_.resize(index + 1);
  // The number may be another file's since.
  if (waiters_[index].ops.empty()) waiters_[index].standing = 0;
  waiters_[index].ops.push_back(key);
  ops_.Find(key)->waiting = true;
  if (const int error = ArmDescriptor(fd); error != 0) {
    RemoveWaiter(key, fd);
    Finish(key, -error);
  }
}

void EpollLoop::RemoveWaiter(SlotKey key, int fd) {
  if (!std::exchange(ops_.Find(key)->waiting, false)) return;
  Waiters& waiters = waiters_[static_cast<size_t>(fd)];
  std::erase(waiters.ops, key);
  if (ops_.Find(key)->kind != Kind::kReceiveStream) return;
  // Without waiters it stays registered: mostly the close comes next. If not, it is taken out when
  // the kernel speaks of it again.
  if (!waiters.ops.empty()) ArmDescriptor(fd);
}

void EpollLoop::Close(int fd) {
  if (static_cast<size_t>(fd) < waiters_.size()) {
    waiters_[static_cast<size_t>(fd)].registered = false;
  }
  KernelIo::Close(fd);
}

// One shot, but for a ReceiveStream, which is served again and again: a descriptor whose waiters
// are gone stays registered but silent, and the next wait costs one call. One that was closed since
// has lost its registration (and the number may be another file's now): then it is added anew.
int EpollLoop::ArmDescriptor(int fd) {
  Waiters& waiters = waiters_[static_cast<size_t>(fd)];
  epoll_event event{.events = 0, .data = {.fd = fd}};
  bool stands = false;
  for (const SlotKey key : waiters.ops) {
    const Op& op = *ops_.Find(key);
    event.events |= op.events;
    stands |= op.kind == Kind::kReceiveStream;
  }
  if (stands && waiters.standing == event.events) return 0;
  waiters.standing = stands ? event.events : 0;
  if (!stands) event.events |= EPOLLONESHOT;
  const int first = waiters.registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  int error = ::epoll_ctl(epoll_.get(), first, fd, &event) == 0 ? 0 : errno;
  if (error == ENOENT || error == EEXIST) {
    const int second = error == ENOENT ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    error = ::epoll_ctl(epoll_.get(), second, fd, &event) == 0 ? 0 : errno;
  }
  waiters.registered = error == 0;
  return error;
}

void EpollLoop::OnReady(int fd, uint32_t events) {
  const auto index = static_cast<size_t>(fd);
  if (index >= waiters_.size()) return;
  std::vector<SlotKey>& waiting = waiters_[index].ops;
  std::erase_if(waiting, [&](SlotKey key) {
    Op& op = *ops_.Find(key);
    if ((events & (op.events | EPOLLERR | EPOLLHUP)) == 0) return false;
    int32_t result = 0;
    if (!Try(op, events, result)) return false;
    if (op.kind == Kind::kReceiveStream) {
      finished_.push_back({key, kMayReceive});
      return false;
    }
    Finish(key, result);
    return true;
  });
  if (!waiting.empty()) {
    ArmDescriptor(fd);
  } else if (waiters_[index].standing != 0) {
    // Nobody wants it, and it would be reported again and again.
    waiters_[index].standing = 0;
    waiters_[index].registered = false;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  }
}

void EpollLoop::Cancel(OpId id) {
  Op* op = ops_.Find(id.key);
  if (op == nullptr || op->finished) return;
  if (op->running) {
    op->cancelled = true;
    return;
  }
  RemoveWaiter(id.key, op->fd);
  Finish(id.key, -ECANCELED);
}

void EpollLoop::Wait(TimePoint until) {
  std::array<epoll_event, kEventsPerWait> events;
  const int timeout = finished_.empty() ? TimeoutMillis(LastReading(), until) : 0;
  const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsPerWait, timeout);
  WokeUp();
  activity().Rename("i/o callback");
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    if (event.data.fd == wake_.get()) {
      uint64_t ignored = 0;
      (void)!::read(wake_.get(), &ignored, sizeof ignored);
    } else {
      OnReady(event.data.fd, event.events);
    }
  }
  RanCompletions(RunFinished());
}

size_t EpollLoop::RunFinished() {
  // Callbacks start further operations, which may finish at once: those wait for the next turn.
  const std::vector<Finished> batch = std::exchange(finished_, {});
  for (const Finished& finished : batch) {
    if (finished.result == kMayReceive) {
      RunReceived(finished.key);
      continue;
    }
    std::optional<Op> op = ops_.Remove(finished.key);
    op->received ? op->received(finished.result, {}) : op->done(finished.result);
  }
  return batch.size();
}

void EpollLoop::RunReceived(SlotKey key) {
  Op* op = ops_.Find(key);
  if (op == nullptr || op->finished) return;  // cancelled since
  const ssize_t got = ::recv(op->fd, buffer_.get(), kReceiveBufferBytes, MSG_DONTWAIT);
  const int32_t result = ResultOf(got);
  if (!WouldBlock(result)) {
    if (result <= 0) return EndReceive(key, result);
    // Out of its slot while it runs: it may start operations, which moves slots.
    op->running = true;
    IoReceived received = std::move(op->received);
    received(result, {buffer_.get(), static_cast<size_t>(result)});
    op = ops_.Find(key);
    op->received = std::move(received);
    op->running = false;
    if (op->cancelled) return EndReceive(key, -ECANCELED);
  }
  if (!op->waiting) AddWaiter(key, op->fd);
}

void EpollLoop::EndReceive(SlotKey key, int32_t result) {
  RemoveWaiter(key, ops_.Find(key)->fd);
  ops_.Remove(key)->received(result, {});
}

void EpollLoop::WakeUp() {
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

}  // namespace denselet::reactor
