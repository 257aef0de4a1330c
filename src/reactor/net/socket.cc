#include "reactor/net/socket.h"

#include <cerrno>
#include <utility>

namespace denselet::net {
namespace {

// A connection that is silent keeps no more memory than this for what it once sent.
constexpr size_t kKeptBytes = 256;

std::string_view Text(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

}  // namespace

struct Socket::Core {
  // Made in place: a copy would close the descriptor too.
  Core(reactor::Io& its_io, int its_fd, Socket* its_owner)
      : io(its_io), fd(its_fd), owner(its_owner) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core() { io.Close(fd); }

  reactor::Io& io;
  const int fd;
  Socket* owner;        // null: closed
  std::string sending;  // the kernel reads from it
  size_t sent = 0;      // of it
};

Socket::Socket(reactor::Loop& loop, int fd)
    : loop_(loop), core_(std::make_shared<Core>(loop.io(), fd, this)) {}

int Socket::fd() const { return core_ == nullptr ? -1 : core_->fd; }

Socket::~Socket() {
  Close();
  if (self_ != nullptr) *self_ = nullptr;
}

void Socket::TellLater(void (Socket::*task)()) {
  if (self_ == nullptr) self_ = std::make_shared<Socket*>(this);
  loop_.Post([self = self_, task] {
    if (*self != nullptr) ((*self)->*task)();
  });
}

void Socket::Use(StreamUser& user) {
  const bool another = std::exchange(user_, &user) != &user;
  if (another) end_told_ = false;
  if (broken_) return TellLater(&Socket::TellBroken);
  if (held_) return Resume();
  if (another && receive_result_) TellLater(&Socket::Deliver);
}

void Socket::Resume() {
  if (!held_ || core_ == nullptr) return;
  held_ = false;
  // What came before is told in a turn of its own; nothing new is received until then, so that the
  // order is kept.
  if (early_.empty() && (!receive_result_ || *receive_result_ == -ECANCELED)) {
    receive_result_.reset();
    if (!receiving_) StartReceive();
    return;
  }
  TellLater(&Socket::Deliver);
}

void Socket::Hold() {
  held_ = true;
  if (receiving_) loop_.io().Cancel(receive_);
}

void Socket::StartReceive() {
  receiving_ = true;
  receive_ = core_->io.ReceiveStream(
      core_->fd, [core = core_](int32_t result, std::span<const std::byte> data) {
        if (core->owner != nullptr) core->owner->OnReceive(result, data);
      });
}

void Socket::OnReceive(int32_t result, std::span<const std::byte> data) {
  if (result > 0) {
    if (held_ || !early_.empty()) {
      early_.append(Text(data));
    } else {
      user_->OnReceived(data);
    }
    return;
  }
  receiving_ = false;
  receive_result_ = result;
  if (!held_ && early_.empty()) Deliver();
}

// What was received while held, then how receiving ended.
void Socket::Deliver() {
  if (held_ || core_ == nullptr) return;
  if (!early_.empty()) {
    const std::string early = std::exchange(early_, {});
    user_->OnReceived(std::as_bytes(std::span(early)));
    if (core_ == nullptr || held_) return;
  }
  if (receiving_) return;
  if (!receive_result_ || *receive_result_ == -ECANCELED) {
    receive_result_.reset();
    return StartReceive();
  }
  if (*receive_result_ == 0) {
    if (!std::exchange(end_told_, true)) user_->OnReceiveEnd();
    return;
  }
  Break(*receive_result_, "receive");
}

void Socket::Send(std::string data) {
  if (broken_) lost_bytes_ += data.size();
  if (core_ == nullptr || end_wanted_ || data.empty()) return;
  if (!core_->sending.empty()) {
    if (waiting_.empty()) {
      waiting_ = std::move(data);
    } else {
      waiting_ += data;
    }
    return;
  }
  core_->sending = std::move(data);
  StartSend();
}

void Socket::SendEnd() {
  if (core_ == nullptr || end_wanted_) return;
  end_wanted_ = true;
  if (core_->sending.empty()) core_->io.Shutdown(core_->fd, SHUT_WR);
}

size_t Socket::unsent() const {
  return core_ == nullptr ? lost_bytes_ : core_->sending.size() - core_->sent + waiting_.size();
}

void Socket::StartSend() {
  const std::span<const char> rest = std::span(core_->sending).subspan(core_->sent);
  send_ = core_->io.Send(core_->fd, std::as_bytes(rest), [core = core_](int32_t result) {
    if (core->owner != nullptr) core->owner->OnSent(result);
  });
}

void Socket::OnSent(int32_t result) {
  if (result < 0) return Break(result, "send");
  const size_t before = unsent();
  core_->sent += static_cast<size_t>(result);
  const bool room = before > kRoomBytes && unsent() <= kRoomBytes;
  if (core_->sent < core_->sending.size()) {
    StartSend();
  } else {
    NextSend();
  }
  if (room && user_ != nullptr) user_->OnRoom();
  if (core_ != nullptr && user_ != nullptr && unsent() == 0) user_->OnSent();
}

void Socket::NextSend() {
  core_->sent = 0;
  core_->sending.clear();
  std::swap(core_->sending, waiting_);
  if (waiting_.capacity() > kKeptBytes) std::string().swap(waiting_);  // `= {}` would keep it
  if (!core_->sending.empty()) return StartSend();
  if (end_wanted_) core_->io.Shutdown(core_->fd, SHUT_WR);
}

void Socket::Break(int32_t result, const char* doing) {
  lost_bytes_ = unsent();
  Close();
  // -EBUSY: the loop has as many operations under way as it may.
  const Error reason = result == -EBUSY
                           ? Error(ErrorCode::kOverloaded, "too many operations under way")
                           : Error::FromErrno(-result, doing);
  broken_ = reason;
  if (user_ != nullptr) TellBroken();
}

void Socket::TellBroken() {
  if (!broken_) return;  // closed since
  const Error reason = *std::exchange(broken_, std::nullopt);
  user_->OnBroken(reason);
}

void Socket::Close() {
  broken_.reset();
  if (core_ == nullptr) return;
  core_->owner = nullptr;
  if (receiving_) core_->io.Cancel(receive_);
  core_->io.Cancel(send_);
  core_.reset();
}

}  // namespace denselet::net
