#include "reactor/net/http1/client.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "reactor/net/http1/client_exchange.h"
#include "reactor/net/http1/rewound_stream.h"

// How answers are read and exchanges end; how requests are sent is in client_send.cc.
namespace denselet::net {
namespace {

constexpr size_t kKeptBytes = 256;  // by an idle connection

std::string_view Text(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

}  // namespace

Http1Client::Http1Client(reactor::Loop& loop, std::unique_ptr<Stream> stream,
                         const Http1ClientOptions& options, OnState on_state)
    : loop_(loop),
      stream_(std::move(stream)),
      options_(options),
      on_state_(std::move(on_state)),
      parser_(Http1Parser::Kind::kResponse, options_.limits) {
  stream_->Use(*this);
}

Http1Client::~Http1Client() {
  if (self_ != nullptr) *self_ = nullptr;
  loop_.Disarm(timer_);
  Leave();
}

void Http1Client::Later(void (Http1Client::*task)()) {
  if (self_ == nullptr) self_ = std::make_shared<Http1Client*>(this);
  loop_.Post([self = self_, task] {
    if (*self != nullptr) ((*self)->*task)();
  });
}

// ---- receiving

void Http1Client::OnReceived(std::span<const std::byte> data) {
  // Nobody asked: a server that says good-bye (408), or one that cannot be trusted with a further
  // request.
  if (state_ == State::kIdle) {
    Shut();
    return Tell();
  }
  if (state_ != State::kBusy) return;
  answer_came_ = true;
  if (pending_.empty() && MayRead()) return Run(Text(data));
  pending_.append(Text(data));
}

void Http1Client::Run(std::string_view data) {
  input_ = data;
  running_ = true;
  while (MayRead() && Step()) {
  }
  running_ = false;
  if (state_ != State::kBusy) {
    if (state_ != State::kUpgraded && pending_.capacity() > kKeptBytes) pending_ = std::string();
    return;
  }
  pending_.assign(input_);
  if (pending_.empty() && receive_ended_) return OnReceiveEnd();
  Await();
}

void Http1Client::RunPending() {
  if (!MayRead()) return;
  const std::string data = std::exchange(pending_, {});
  Run(data);
  // Also when the answer has ended by it: the next one comes over the same stream.
  if (state_ == State::kIdle || MayRead()) stream_->Resume();
}

bool Http1Client::Step() {
  switch (parser_.Next(input_)) {
    case Http1Parser::Event::kMore:
      return false;
    case Http1Parser::Event::kHead:
      OnHead();
      if (state_ == State::kBusy && head_came_ && held_) HoldBody();
      return true;
    case Http1Parser::Event::kBody:
      call_->OnBody(std::as_bytes(std::span(parser_.body())));
      return true;
    case Http1Parser::Event::kEnd:
      OnEnd();
      return true;
    case Http1Parser::Event::kFault:
      Fail(ErrorOf(parser_.fault(), parser_.detail()).With("answer"));
      return false;
  }
  CHECK(false);
}

void Http1Client::OnHead() {
  HttpResponseHead head = parser_.TakeResponse();
  const bool upgrades = (is_upgrade_ && head.status == 101) ||
                        (is_connect_ && head.status >= 200 && head.status < 300);
  if (head.status == 101 && !is_upgrade_) {
    return Fail(ErrorOf(Http1Fault::kMalformed, "an upgrade that nobody asked for").With("answer"));
  }
  if (head.status < 200 && !upgrades) {
    CHECK(parser_.Next(input_) == Http1Parser::Event::kEnd);  // it has no body
    if (++interim_count_ > options_.interim_max) {
      Fail(ErrorOf(Http1Fault::kTooManyInterim, {}).With("answer"));
    }
    return;
  }
  head_came_ = true;
  if (!upgrades) return call_->OnHead(std::move(head));

  state_ = State::kUpgraded;
  HttpClientCall* const call = call_;
  pending_.assign(input_);
  stream_->Hold();
  loop_.Disarm(timer_);
  cancel_.Forget();
  timer_at_ = kNever;
  const Exchange* const exchange = exchange_;
  call->OnHead(std::move(head));
  // The caller may have dropped the exchange there, or taken the stream.
  if (exchange_ == nullptr || exchange_ != exchange) return;
  Leave();
  call->OnEnd();
  Tell();
}

void Http1Client::OnEnd() {
  // What follows belongs to no question, and a body that was not sent nobody will read.
  const bool reusable =
      parser_.keep_alive() && !close_after_ && body_ended_ && input_.empty() && !receive_ended_;
  HttpClientCall* const call = call_;
  Leave();
  if (reusable) {
    state_ = State::kIdle;
    read_deadline_ = deadline_ = kNever;
  } else {
    Shut();
  }
  const State after = state_;
  call->OnEnd();
  if (state_ == after) Tell();
}

void Http1Client::OnReceiveEnd() {
  receive_ended_ = true;
  if (state_ == State::kIdle) {
    Shut();
    return Tell();
  }
  if (state_ != State::kBusy || running_ || !pending_.empty()) return;
  if (parser_.EndsHere()) return OnEnd();
  Fail(Cut("closed"));
}

void Http1Client::OnRoom() {
  if (state_ == State::kBusy && !body_ended_) call_->OnRoom();
}

void Http1Client::OnBroken(const Error& reason) {
  if (state_ == State::kBusy) return Fail(Cut(reason.message()));
  Shut();
  if (call_ == nullptr) Tell();
}

void Http1Client::Hold() {
  if (held_ || state_ != State::kBusy) return;
  held_ = true;
  if (head_came_) HoldBody();
}

void Http1Client::HoldBody() {
  stream_->Hold();
  read_deadline_ = kNever;
}

void Http1Client::Resume() {
  if (!held_ || state_ != State::kBusy) return;
  held_ = false;
  Await();
  Later(&Http1Client::RunPending);
}

std::unique_ptr<Stream> Http1Client::TakeStream() {
  if (state_ != State::kUpgraded || stream_ == nullptr) return nullptr;
  return Rewind(loop_, std::move(stream_), std::move(pending_));
}

// ---- ending

// The connection ended before the answer did. Was the request processed?
Error Http1Client::Cut(std::string_view how) const {
  const bool nothing_sent = stream_->unsent() >= queued_bytes_ - exchange_began_at_;
  const bool repeatable = !answer_came_ && (nothing_sent || is_safe_);
  std::string message(answer_came_ ? "connection lost in the middle of the answer"
                                   : "connection lost before the answer");
  return Error(repeatable ? ErrorCode::kUnavailable : ErrorCode::kUnknownOutcome,
               message.append(": ").append(how));
}

void Http1Client::Fail(const Error& reason) {
  HttpClientCall* const call = call_;
  Leave();
  Shut();
  if (call == nullptr) return;
  call->OnFailed(reason);
  Tell();
}

// Not inside a call of the caller's.
void Http1Client::FailLater(Error reason) {
  if (failure_) return;
  failure_ = std::move(reason);
  Later(&Http1Client::OnTimer);
}

void Http1Client::Leave() {
  if (exchange_ != nullptr) exchange_->client_ = nullptr;
  exchange_ = nullptr;
  call_ = nullptr;
  failure_.reset();
  cancel_.Forget();
}

void Http1Client::Shut() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  loop_.Disarm(timer_);
  if (stream_ != nullptr) stream_->Close();
}

// The caller has dropped its exchange: the rest of the answer would be in the way of the next.
void Http1Client::Abandon() {
  exchange_ = nullptr;
  Leave();
  if (state_ == State::kUpgraded) return;
  Shut();
  Later(&Http1Client::Tell);
}

void Http1Client::Tell() {
  if (on_state_) on_state_(state_);
}

void Http1Client::Close() {
  Leave();
  Shut();
}

// ---- time

void Http1Client::Await() {
  if (state_ == State::kBusy && head_came_) {
    read_deadline_ = held_ ? kNever : After(loop_.Now(), options_.body_timeout);
  }
  Rearm();
}

// The timer is not moved when a deadline moves away, but looks again when it runs.
void Http1Client::Rearm() {
  TimePoint due = std::min(read_deadline_, deadline_);
  if (stream_->unsent() > 0) due = std::min(due, write_deadline_);
  if (due >= timer_at_) return;
  loop_.Disarm(timer_);
  timer_at_ = due;
  timer_ = loop_.Arm(due, [this] { OnTimer(); });
}

void Http1Client::OnTimer() {
  if (state_ != State::kBusy) {
    timer_at_ = kNever;
    if (failure_ && call_ != nullptr) Fail(Error(*failure_));
    return;
  }
  if (failure_) return Fail(Error(*failure_));
  loop_.Disarm(timer_);
  timer_at_ = kNever;
  OnStageTimeout(loop_.Now());
  if (state_ == State::kBusy) Rearm();
}

void Http1Client::OnStageTimeout(TimePoint now) {
  const bool sent = body_ended_ && stream_->unsent() == 0;
  const ErrorCode code = sent ? ErrorCode::kUnknownOutcome : ErrorCode::kDeadlineExceeded;
  const auto late = [&](Http1Fault stage) {
    Fail(Error(code, std::string(Http1FaultName(stage))).With("answer"));
  };
  if (now >= deadline_) return Fail(Error(code, "no whole answer before the deadline"));
  if (stream_->unsent() > 0 && now >= write_deadline_) {
    const uint64_t taken = queued_bytes_ - stream_->unsent();
    if (taken == taken_bytes_) return late(Http1Fault::kTransferTimeout);
    taken_bytes_ = taken;
    write_deadline_ = After(now, options_.transfer_timeout);
  }
  if (now < read_deadline_) return;
  if (head_came_) return late(Http1Fault::kBodyTimeout);
  // The server's time begins when it has the whole request.
  if (sent) return late(Http1Fault::kHeadTimeout);
  read_deadline_ = After(now, options_.head_timeout);
}

}  // namespace denselet::net
