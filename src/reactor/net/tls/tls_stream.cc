#include "reactor/net/tls/tls_stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "reactor/net/tls/tls_callbacks.h"
#include "reactor/net/tls/tls_failure.h"
#include "reactor/net/tls/tls_handshake.h"
#include "reactor/net/tls/tls_settings.h"
#include "reactor/net/tls/tls_words.h"

namespace denselet::net {
namespace {

constexpr size_t kRecordBytesMax = 16 * 1024;  // of plaintext; TLS has no larger ones
constexpr size_t kRecordOverheadMax = 64;      // header, nonce, tag: to reserve, not to rely on
constexpr uint8_t kAnswersMax = 64;            // unread by the server; then its connection ends

// An assignment would keep the memory for the next text.
void Free(std::string& text) { std::string().swap(text); }

// Takes the last words of a connection that has failed and forgets what it hears.
class NoUser final : public StreamUser {
 public:
  void OnReceived(std::span<const std::byte>) override {}
  void OnReceiveEnd() override {}
  void OnRoom() override {}
  void OnBroken(const Error&) override {}
};

// The alert that tells the server why we leave is still in the stream: it gets one more turn of the
// loop to be sent, without a promise. Two posts, because the first may run before the loop starts
// the sending.
void CloseAfterNextTurn(reactor::Loop& loop, std::unique_ptr<Stream> below) {
  static NoUser nobody;
  below->Use(nobody);
  loop.Post([&loop, below = std::move(below)]() mutable {
    loop.Post([below = std::move(below)] { below->Close(); });
  });
}

}  // namespace

TlsStream::TlsStream(reactor::Loop& loop, std::unique_ptr<Stream> below,
                     std::shared_ptr<TlsSettings> settings, std::string server_name)
    : loop_(loop),
      below_(std::move(below)),
      settings_(std::move(settings)),
      self_(std::make_shared<TlsStream*>(this)),
      server_name_(std::move(server_name)) {}

Status TlsStream::Start(TlsHandshake& handshake, ServerNameKind kind) {
  handshake_ = &handshake;
  ERR_clear_error();
  ssl_.reset(SSL_new(settings_->context.get()));
  if (ssl_ == nullptr || !TlsCallbacks::Connect(ssl_.get(), *this)) {
    return Error(ErrorCode::kOverloaded, "OpenSSL has no memory: " + LastReason());
  }
  SSL_set_connect_state(ssl_.get());
  const bool verified = settings_->verification == TlsVerification::kFull;
  SSL_set_verify(ssl_.get(), verified ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (Status status = ExpectServer(ssl_.get(), server_name_, kind, loop_.WallNow()); !status) {
    return status;
  }
  if (SSL_SESSION* session = settings_->sessions.Find(server_name_, loop_.WallNow())) {
    SSL_set_session(ssl_.get(), session);
  }
  below_->Use(*this);
  Process();
  return Ok();
}

size_t TlsStream::TakeInput(std::span<std::byte> into) {
  const std::span<const std::byte> kept = std::as_bytes(std::span(kept_)).subspan(kept_used_);
  const std::span<const std::byte> from = kept.empty() ? input_ : kept;
  const size_t size = std::min(from.size(), into.size());
  if (size == 0) return 0;
  std::memcpy(into.data(), from.data(), size);
  if (kept.empty()) {
    input_ = input_.subspan(size);
  } else {
    kept_used_ += size;
  }
  return size;
}

void TlsStream::OnReceived(std::span<const std::byte> data) {
  for (size_t i = 0; i < data.size() && first_count_ < first_bytes_.size(); ++i) {
    first_bytes_[first_count_++] = static_cast<char>(data[i]);
  }
  input_ = data;
  Process();
}

void TlsStream::OnReceiveEnd() {
  below_ended_ = true;
  Process();
}

// Goes as far as the input allows: the handshake, what waits to be sent, what can be handed on.
void TlsStream::Process() {
  processing_ = true;
  if (stage_ == Stage::kHandshake) ContinueHandshake();
  if (stage_ == Stage::kOpen && sending_blocked()) SendWaiting();
  while (stage_ == Stage::kOpen && !held_ && !receive_ended_) {
    if (!ReadRecord()) break;
  }
  if (stage_ == Stage::kOpen && !held_ && std::exchange(end_owed_, false)) user_->OnReceiveEnd();
  if (stage_ == Stage::kOpen && sending_blocked()) SendWaiting();
  processing_ = false;
  KeepInput();
  HoldBelow();
  TellRoom();
}

void TlsStream::ContinueHandshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  const int error = SSL_get_error(ssl_.get(), result);
  FlushOutput();
  if (result == 1) {
    const Status finished = FinishHandshake();
    return finished ? std::exchange(handshake_, nullptr)->OnHandshake(Ok())
                    : Break(finished.error());
  }
  if (error != SSL_ERROR_WANT_READ) return Break(Failure());
  if (!below_ended_) return;
  Break(Error(ErrorCode::kUnavailable, "the server closed the connection during the handshake"));
}

Status TlsStream::FinishHandshake() {
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &protocol, &size);
  if (size > 0) protocol_.assign(reinterpret_cast<const char*>(protocol), size);
  const auto& offered = settings_->protocols;
  if (size > 0 && std::find(offered.begin(), offered.end(), protocol_) == offered.end()) {
    return Error(ErrorCode::kCorrupt,
                 "the server chose a protocol that was not offered: " + Quoted(protocol_));
  }
  version_ = SSL_version(ssl_.get()) == TLS1_3_VERSION ? TlsVersion::k13 : TlsVersion::k12;
  session_reused_ = SSL_session_reused(ssl_.get()) == 1;
  stage_ = Stage::kOpen;
  return Ok();
}

// One record to the user. False: there is no further one now.
bool TlsStream::ReadRecord() {
  std::array<std::byte, kRecordBytesMax> plain;
  ERR_clear_error();
  const int result = SSL_read(ssl_.get(), plain.data(), static_cast<int>(plain.size()));
  const int error = SSL_get_error(ssl_.get(), result);
  if (result > 0) {
    if (!CountAnswer()) return false;
    user_->OnReceived(std::span(plain).first(static_cast<size_t>(result)));
    return true;
  }
  switch (error) {
    case SSL_ERROR_WANT_READ:
      if (!CountAnswer()) return false;
      if (below_ended_) {
        Break(Error(ErrorCode::kCorrupt,
                    "truncated: the connection ended without the server's close_notify"));
        return false;
      }
      FreeBuffers();
      return false;
    case SSL_ERROR_ZERO_RETURN:
      receive_ended_ = true;
      user_->OnReceiveEnd();
      return false;
    default:
      FlushOutput();
      Break(Failure());
      return false;
  }
}

// OpenSSL gives back the memory for a record when the record is through (SSL_MODE_RELEASE_BUFFERS),
// but not the 16 kB for writing that it takes while it reads a ticket of TLS 1.3. It may not be
// asked for that in the middle of a record: 3.0 forgets a header whose body is to come ("RB").
void TlsStream::FreeBuffers() {
  if (SSL_has_pending(ssl_.get()) != 0) return;
  if (std::string_view(SSL_rstate_string(ssl_.get())) == "RH") SSL_free_buffers(ssl_.get());
}

// What OpenSSL writes while we read are answers to the server: new keys on request, no to
// renegotiation. A server that makes us answer again and again and reads none of it would fill our
// memory.
bool TlsStream::CountAnswer() {
  if (output_.empty()) return true;
  if (below_->unsent() == 0) answers_ = 0;
  FlushOutput();
  if (++answers_ <= kAnswersMax) return true;
  Break(Error(ErrorCode::kCorrupt,
              "the server asks for new keys or renegotiation and does not read the answers"));
  return false;
}

void TlsStream::Send(std::string data) {
  if (broken_) lost_bytes_ += data.size();
  if (stage_ != Stage::kOpen || end_wanted_ || data.empty()) return;
  if (waiting_.empty()) {
    waiting_ = std::move(data);
  } else {
    waiting_ += data;
  }
  SendWaiting();
}

void TlsStream::SendEnd() {
  if (stage_ != Stage::kOpen || end_wanted_) return;
  end_wanted_ = true;
  SendWaiting();
}

// In the middle of a message of the server's (a ticket, a change of keys) OpenSSL does not write
// before it has read the rest; then what is to be sent stays in waiting_.
void TlsStream::SendWaiting() {
  output_.reserve(waiting_.size() + (waiting_.size() / kRecordBytesMax + 1) * kRecordOverheadMax);
  size_t sent = 0;
  int result = 1;
  ERR_clear_error();
  if (SSL_in_init(ssl_.get())) result = SSL_do_handshake(ssl_.get());
  while (result > 0 && sent < waiting_.size()) {
    const size_t size = std::min(waiting_.size() - sent, kRecordBytesMax);
    result = SSL_write(ssl_.get(), waiting_.data() + sent, static_cast<int>(size));
    if (result > 0) sent += static_cast<size_t>(result);
  }
  const bool failed = result <= 0 && SSL_get_error(ssl_.get(), result) != SSL_ERROR_WANT_READ;
  waiting_.erase(0, sent);
  if (waiting_.empty()) Free(waiting_);
  if (!failed && waiting_.empty() && end_wanted_ && !end_sent_ && result > 0) {
    SSL_shutdown(ssl_.get());  // 0: the server's own close_notify has not come, which is no error
    end_sent_ = true;
  }
  FlushOutput();
  if (end_sent_) below_->SendEnd();
  room_owed_ = room_owed_ || unsent() > kRoomBytes;
  if (failed) return BreakLater(Failure());
  if (processing_) return;
  KeepInput();
  HoldBelow();
}

void TlsStream::FlushOutput() {
  if (output_.empty()) return Free(output_);
  below_->Send(std::exchange(output_, {}));
}

// What the stream below handed over is valid only during its call.
void TlsStream::KeepInput() {
  if (stage_ != Stage::kHandshake && stage_ != Stage::kOpen) {
    input_ = {};
    Free(kept_);
    kept_used_ = 0;
    return;
  }
  // Once more than half is used: moving it each time would be quadratic for a user that takes one
  // record at a time.
  if (kept_used_ > kept_.size() / 2) kept_.erase(0, std::exchange(kept_used_, 0));
  if (!input_.empty()) {
    kept_.append(reinterpret_cast<const char*>(input_.data()), input_.size());
    input_ = {};
  }
  if (kept_.empty()) Free(kept_);
}

// Not at the user's Hold already, but when something came that it does not take: a short Hold in
// the silence costs nothing, and a connection that breaks meanwhile is noticed.
void TlsStream::HoldBelow() {
  if (stage_ != Stage::kOpen) return;
  const bool hold = receive_ended_ || (held_ && !kept_.empty() && !sending_blocked());
  if (hold == below_held_) return;
  below_held_ = hold;
  if (hold) {
    below_->Hold();
  } else {
    below_->Resume();
  }
}

void TlsStream::Use(StreamUser& user) {
  const bool another = std::exchange(user_, &user) != &user;
  if (broken_) {
    self_ = std::make_shared<TlsStream*>(this);  // the old one ended with the connection
    loop_.Post([self = self_] {
      if (*self != nullptr) (*self)->TellBroken();
    });
    return;
  }
  if (another && receive_ended_) {
    end_owed_ = held_ = true;
  }
  Resume();
}

void TlsStream::Resume() {
  if (!held_) return;
  held_ = false;
  if (stage_ != Stage::kOpen) return;
  if (kept_.empty() && !below_ended_ && !end_owed_) return HoldBelow();
  loop_.Post([self = self_] {
    if (*self != nullptr) (*self)->Process();
  });
}

size_t TlsStream::unsent() const {
  return stage_ != Stage::kOpen ? lost_bytes_ : waiting_.size() + below_->unsent();
}

void TlsStream::OnRoom() {
  answers_ = 0;  // it reads
  TellRoom();
}

void TlsStream::OnSent() {
  if (stage_ == Stage::kOpen && user_ != nullptr && unsent() == 0) user_->OnSent();
}

void TlsStream::TellRoom() {
  if (stage_ != Stage::kOpen || !room_owed_ || user_ == nullptr || unsent() > kRoomBytes) return;
  room_owed_ = false;
  user_->OnRoom();
}

void TlsStream::OnBroken(const Error& reason) { Break(reason); }

Error TlsStream::Failure() {
  return TakeTlsFailure({.handshaking = stage_ == Stage::kHandshake,
                         .first_bytes = {first_bytes_.data(), first_count_},
                         .refusal = refusal_ == nullptr ? "" : *refusal_});
}

void TlsStream::Break(const Error& reason) {
  if (stage_ == Stage::kClosed) return;
  lost_bytes_ = unsent();
  // An alert may be among it. One that is broken itself says what it lost; closing it twice is no
  // harm.
  if (below_->unsent() > 0) CloseAfterNextTurn(loop_, std::move(below_));
  TlsHandshake* const handshake = std::exchange(handshake_, nullptr);
  Close();
  if (handshake != nullptr) return handshake->OnHandshake(reason);
  broken_ = reason;
  if (user_ != nullptr) TellBroken();
}

void TlsStream::TellBroken() {
  if (!broken_) return;  // closed since
  const Error reason = *std::exchange(broken_, std::nullopt);
  user_->OnBroken(reason);
}

// For failures found inside a call of the user's.
void TlsStream::BreakLater(const Error& reason) {
  stage_ = Stage::kFailing;
  loop_.Post([self = self_, reason] {
    if (*self != nullptr) (*self)->Break(reason);
  });
}

void TlsStream::Close() {
  broken_.reset();
  if (stage_ == Stage::kClosed) return;
  // Else OpenSSL takes the end for a failure and spoils the session for later connections.
  const bool healthy = stage_ == Stage::kOpen && ssl_ != nullptr;
  if (healthy) SSL_set_shutdown(ssl_.get(), SSL_get_shutdown(ssl_.get()) | SSL_SENT_SHUTDOWN);
  stage_ = Stage::kClosed;
  *self_ = nullptr;
  handshake_ = nullptr;
  ssl_.reset();
  settings_.reset();
  if (below_ != nullptr) below_->Close();
  Free(waiting_);
  Free(output_);
  KeepInput();
}

}  // namespace denselet::net
