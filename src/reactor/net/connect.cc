#include "reactor/net/connect.h"

#include <cerrno>
#include <utility>

namespace denselet::net {
namespace {

// A unix socket whose listener's queue is full tells nobody when there is room.
constexpr Duration kRetryDelay = Milliseconds(10);

// Owned by the callbacks of its operation and of its timers; gone with the last of them.
class Attempt : public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(reactor::Loop& loop, const Address& address, reactor::Done<std::unique_ptr<Socket>> done)
      : loop_(loop), address_(address), done_(std::move(done)) {}
  ~Attempt() {
    if (fd_ >= 0) loop_.io().Close(fd_);
  }

  void Start(const Context& context) {
    if (context.cancel.cancelled()) return FailLater(Cancelled());
    if (context.Expired(loop_.Now())) return FailLater(TooLate());
    fd_ = loop_.io().Socket(address_.family(), SOCK_STREAM);
    if (fd_ < 0) return FailLater(Error::FromErrno(-fd_, "socket"));
    if (context.deadline != kNever) {
      deadline_ =
          loop_.Arm(context.deadline, [self = shared_from_this()] { self->Stop(TooLate()); });
    }
    cancel_ = context.cancel.OnCancel([self = shared_from_this()] { self->Stop(Cancelled()); });
    Try();
  }

 private:
  static Error Cancelled() { return Error(ErrorCode::kCancelled, "nobody waits for it any more"); }
  static Error TooLate() {
    return Error(ErrorCode::kDeadlineExceeded, "no answer before the deadline");
  }

  void Try() {
    op_ =
        loop_.io().Connect(fd_, address_.get(), address_.size(),
                           [self = shared_from_this()](int32_t result) { self->OnResult(result); });
  }

  void OnResult(int32_t result) {
    if (result == -EAGAIN && !ended_) {
      retry_ =
          loop_.Arm(After(loop_.Now(), kRetryDelay), [self = shared_from_this()] { self->Try(); });
      return;
    }
    if (ended_) return;
    if (result < 0) return End(Error::FromErrno(-result, "connect"));
    End(std::make_unique<Socket>(loop_, std::exchange(fd_, -1)));
  }

  // The operation's own callback comes later and finds the attempt ended.
  void Stop(const Error& reason) {
    if (ended_) return;
    loop_.io().Cancel(op_);
    ended_ = true;
    // Not inside CancelSource::Cancel, which is a call of the user's.
    loop_.Post([self = shared_from_this(), reason] {
      self->ended_ = false;
      self->End(reason);
    });
  }

  void FailLater(const Error& reason) {
    loop_.Post([self = shared_from_this(), reason] { self->End(reason); });
  }

  void End(Result<std::unique_ptr<Socket>> result) {
    ended_ = true;
    loop_.Disarm(deadline_);
    loop_.Disarm(retry_);
    // Its callback holds this object.
    const CancelRegistration last = std::move(cancel_);
    if (!result) result = result.error().With("connect to", address_.ToString());
    auto done = std::move(done_);
    done(std::move(result));
  }

  reactor::Loop& loop_;
  const Address address_;
  reactor::Done<std::unique_ptr<Socket>> done_;
  int fd_ = -1;
  reactor::OpId op_;
  reactor::TimerId deadline_, retry_;
  CancelRegistration cancel_;
  bool ended_ = false;
};

}  // namespace

void Connect(reactor::Loop& loop, const Context& context, const Address& address,
             reactor::Done<std::unique_ptr<Socket>> done) {
  std::make_shared<Attempt>(loop, address, std::move(done))->Start(context);
}

}  // namespace denselet::net
