#include "reactor/net/tls/tls_connect.h"

#include <utility>

#include "reactor/net/tls/tls_handshake.h"
#include "reactor/net/tls/tls_settings.h"

namespace denselet::net {
namespace {

Error Cancelled() { return Error(ErrorCode::kCancelled, "nobody waits for it any more"); }
Error TooLate() {
  return Error(ErrorCode::kDeadlineExceeded, "the handshake did not end before the deadline");
}

}  // namespace

TlsHandshake::TlsHandshake(reactor::Loop& loop, std::unique_ptr<Stream> below,
                           std::shared_ptr<TlsSettings> settings, std::string server_name,
                           reactor::Done<std::unique_ptr<TlsStream>> done)
    : loop_(loop),
      time_max_(settings->handshake_time_max),
      verified_(settings->verification == TlsVerification::kFull),
      server_name_(server_name),
      stream_(new TlsStream(loop, std::move(below), std::move(settings), std::move(server_name))),
      done_(std::move(done)) {}

void TlsHandshake::Start(const Context& context) {
  if (Status status = TryStart(context); !status) EndLater(std::move(status));
}

Status TlsHandshake::TryStart(const Context& caller) {
  const Context context = caller.WithTimeout(loop_.Now(), time_max_);
  if (context.cancel.cancelled()) return Cancelled();
  if (context.Expired(loop_.Now())) return TooLate();
  const auto kind = ClassifyServerName(server_name_);
  if (!kind) return kind.error();
  if (*kind == ServerNameKind::kNone && verified_) {
    return Error(ErrorCode::kInvalid, "there is no server name to verify");
  }
  deadline_ =
      loop_.Arm(context.deadline, [self = shared_from_this()] { self->EndLater(TooLate()); });
  cancel_ = context.cancel.OnCancel([self = shared_from_this()] { self->EndLater(Cancelled()); });
  return stream_->Start(*this, *kind);
}

// In a turn of its own: neither inside a call of the user's, nor of the stream's, which the user
// may want to destroy when it hears the answer. What comes first counts.
void TlsHandshake::EndLater(Status status) {
  if (std::exchange(ending_, true)) return;
  auto self = shared_from_this();  // the timer may have been the last to hold it
  loop_.Disarm(deadline_);
  loop_.Post([self = std::move(self), status = std::move(status)] { self->End(status); });
}

void TlsHandshake::End(Status status) {
  // Its callback holds this object.
  const CancelRegistration last = std::move(cancel_);
  auto stream = std::move(stream_);
  auto done = std::move(done_);
  if (status) return done(std::move(stream));
  stream.reset();
  done(status.error().With("TLS with", server_name_));
}

void TlsConnect(reactor::Loop& loop, const Context& context, std::unique_ptr<Stream> below,
                TlsClient& client, std::string server_name,
                reactor::Done<std::unique_ptr<TlsStream>> done) {
  std::make_shared<TlsHandshake>(loop, std::move(below), client.settings(), std::move(server_name),
                                 std::move(done))
      ->Start(context);
}

}  // namespace denselet::net
