#include "reactor/net/listener.h"

#include <cerrno>
#include <utility>

namespace denselet::net {
namespace {

constexpr int kBacklog = 4096;  // the kernel has its own limit below this (net.core.somaxconn)

// When a connection cannot be taken for want of descriptors or memory: it waits in the queue.
constexpr Duration kRetryDelay = Milliseconds(100);

bool IsShortage(int32_t result) {
  return result == -EMFILE || result == -ENFILE || result == -ENOBUFS || result == -ENOMEM ||
         result == -EBUSY;
}

}  // namespace

struct Listener::Core {
  // Made in place: a copy would close the descriptor too.
  Core(reactor::Io& its_io, int its_fd) : io(its_io), fd(its_fd) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core() { io.Close(fd); }

  reactor::Io& io;
  const int fd;
  Listener* owner = nullptr;
};

Result<std::unique_ptr<Listener>> Listener::Open(reactor::Loop& loop, const Address& address,
                                                 OnAccept accept) {
  reactor::Io& io = loop.io();
  const auto fail = [&](int error) {
    return Error::FromErrno(-error, "listen on " + address.ToString());
  };
  const int fd = io.Socket(address.family(), SOCK_STREAM);
  if (fd < 0) return fail(fd);
  auto core = std::make_shared<Core>(io, fd);
  if (const int error = io.Listen(fd, address.get(), address.size(), kBacklog); error < 0) {
    return fail(error);
  }
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (const int error = io.LocalAddress(fd, storage, size); error < 0) return fail(error);
  const Address bound = *Address::From(storage, size);
  auto listener =
      std::unique_ptr<Listener>(new Listener(loop, std::move(core), bound, std::move(accept)));
  listener->Accept();
  return listener;
}

std::unique_ptr<Listener> Listener::Adopt(reactor::Loop& loop, int fd, const Address& address,
                                          OnAccept accept) {
  loop.io().Adopt(fd);
  auto listener = std::unique_ptr<Listener>(
      new Listener(loop, std::make_shared<Core>(loop.io(), fd), address, std::move(accept)));
  listener->Accept();
  return listener;
}

Listener::Listener(reactor::Loop& loop, std::shared_ptr<Core> core, const Address& address,
                   OnAccept accept)
    : loop_(loop), core_(std::move(core)), address_(address), accept_(std::move(accept)) {
  core_->owner = this;
}

Listener::~Listener() {
  core_->owner = nullptr;
  loop_.Disarm(retry_);
  loop_.io().Cancel(op_);
}

void Listener::Hold() {
  held_ = true;
  loop_.Disarm(retry_);
  if (accepting_) loop_.io().Cancel(op_);
}

void Listener::Resume() {
  held_ = false;
  if (!accepting_) Accept();
}

void Listener::Accept() {
  accepting_ = true;
  op_ = loop_.io().Accept(core_->fd, [core = core_](int32_t result) {
    if (core->owner != nullptr) {
      core->owner->OnAccepted(result);
    } else if (result >= 0) {
      core->io.Close(result);
    }
  });
}

void Listener::OnAccepted(int32_t result) {
  accepting_ = false;
  if (!held_ && IsShortage(result)) {
    retry_ = loop_.Arm(After(loop_.Now(), kRetryDelay), [this] { Accept(); });
  } else if (!held_) {
    Accept();  // also after an error: those are about the connection that was to be taken
  }
  if (result >= 0) accept_(std::make_unique<Socket>(loop_, result));
}

}  // namespace denselet::net
