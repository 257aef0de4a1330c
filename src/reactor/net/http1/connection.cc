#include "reactor/net/http1/connection.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

// How requests are read and connections end; how answers are written is in connection_write.cc.
namespace denselet::net {
namespace {

// Of a peer that was told to go away and goes on sending.
constexpr uint64_t kLingerBytesMax = 1024 * 1024;
// Kept by an idle connection.
constexpr size_t kKeptBytes = 256;

std::string_view Text(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

// "http://host/path" is "/path" of that host: what proxies are asked for, and everybody must
// understand. False: of no host.
bool MakeOriginForm(HttpRequest& request) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    const std::string_view target = request.target;
    if (!EqualsIgnoringCase(target.substr(0, scheme.size()), scheme)) continue;
    const size_t path = std::min(target.find_first_of("/?", scheme.size()), target.size());
    request.authority = target.substr(scheme.size(), path - scheme.size());
    std::string rest(target.substr(path));
    if (!rest.starts_with('/')) rest.insert(0, 1, '/');
    request.target = std::move(rest);
    return !request.authority.empty();
  }
  return true;
}

}  // namespace

Http1Connection::Http1Connection(Http1Server& server, std::unique_ptr<Stream> stream, size_t place)
    : server_(server),
      loop_(server.loop_),
      stream_(std::move(stream)),
      place_(place),
      parser_(Http1Parser::Kind::kRequest, server.options_.limits) {}

Http1Connection::~Http1Connection() {
  loop_.Disarm(timer_);
  if (self_ != nullptr) *self_ = nullptr;
  if (exchange_ != nullptr) exchange_->connection_ = nullptr;
}

void Http1Connection::Start() {
  stream_->Use(*this);
  Await();
}

// ---- reading

// A request is read when the one before is answered, and the answers are not piling up.
bool Http1Connection::MayRead() const {
  switch (stage_) {
    case Stage::kIdle:
    case Stage::kHead:
      return stream_->unsent() <= Stream::kRoomBytes;
    case Stage::kRequest:
      return !request_whole_ && !body_held_;
    case Stage::kDrain:
      return true;
    case Stage::kLinger:
    case Stage::kEnded:
      return false;
  }
  CHECK(false);
}

void Http1Connection::OnReceived(std::span<const std::byte> data) {
  if (stage_ == Stage::kLinger) {
    dropped_bytes_ += data.size();
    if (dropped_bytes_ > kLingerBytesMax) End();
    return;
  }
  if (pending_.empty() && MayRead()) return Run(Text(data));
  pending_.append(Text(data));
  if (pending_.size() > server_.options_.pipeline_bytes_max && !stream_held_) {
    stream_held_ = true;
    stream_->Hold();
  }
}

void Http1Connection::Run(std::string_view data) {
  input_ = data;
  running_ = true;
  while (MayRead() && Step()) {
  }
  running_ = false;
  if (stage_ == Stage::kEnded) return;
  if (stage_ == Stage::kLinger) input_ = {};
  pending_.assign(input_);
  if (pending_.empty() && pending_.capacity() > kKeptBytes) pending_ = std::string();
  if (pending_.empty() && receive_ended_) return AllReceived();
  if (stream_held_ && !body_held_ && pending_.size() <= server_.options_.pipeline_bytes_max) {
    stream_held_ = false;
    stream_->Resume();
  }
  Await();
}

void Http1Connection::RunPending() {
  posted_ = false;
  if (stage_ == Stage::kEnded) return;
  const std::string data = std::exchange(pending_, {});
  Run(data);
}

// After something that may let reading go on, outside of Run: not inside the service's call.
void Http1Connection::GoOn() {
  if (running_ || posted_ || stage_ == Stage::kEnded) return;
  if (pending_.empty() && !stream_held_ && !receive_ended_ && !parser_.in_body()) return Await();
  posted_ = true;
  if (self_ == nullptr) self_ = std::make_shared<Http1Connection*>(this);
  loop_.Post([self = self_] {
    if (*self != nullptr) (*self)->RunPending();
  });
}

bool Http1Connection::Step() {
  switch (parser_.Next(input_)) {
    case Http1Parser::Event::kMore:
      if (stage_ == Stage::kIdle && parser_.begun()) {
        stage_ = Stage::kHead;
        read_deadline_ = After(loop_.Now(), server_.options_.head_timeout);
      }
      return false;
    case Http1Parser::Event::kHead:
      OnHead();
      return true;
    case Http1Parser::Event::kBody:
      return OnBodyPart();
    case Http1Parser::Event::kEnd:
      OnRequestWhole();
      return true;
    case Http1Parser::Event::kFault:
      Refuse(parser_.fault(), parser_.detail());
      return false;
  }
  CHECK(false);
}

void Http1Connection::OnHead() {
  HttpRequest request = parser_.TakeRequest();
  stage_ = Stage::kRequest;
  response_ = Response::kNone;
  request_whole_ = !parser_.has_body();
  // Without a body the end comes right behind the head, and takes no input.
  if (request_whole_) CHECK(parser_.Next(input_) == Http1Parser::Event::kEnd);
  body_held_ = false;
  is_head_ = request.method == "HEAD";
  is_http10_ = parser_.minor_version() == 0;
  close_after_ = !parser_.keep_alive();
  const std::string* expect = request.headers.Find("Expect");
  continue_wanted_ = expect != nullptr && !is_http10_ && !request_whole_;
  if (expect != nullptr && !EqualsIgnoringCase(*expect, "100-continue")) {
    return Refuse(Http1Fault::kExpectation, {});
  }
  if (!MakeOriginForm(request) || !IsAuthority(request.authority)) {
    return Refuse(Http1Fault::kMalformed, "not a host");
  }
  server_.service_.OnRequest(std::move(request), HttpServerExchange(*this));
  if (stage_ == Stage::kRequest && response_ == Response::kNone && !body_held_) SendContinue();
}

void Http1Connection::SendContinue() {
  if (std::exchange(continue_wanted_, false)) Write("HTTP/1.1 100 Continue\r\n\r\n");
}

// False: the rest of the body is too much, and the connection has ended.
bool Http1Connection::OnBodyPart() {
  const std::string_view body = parser_.body();
  if (stage_ == Stage::kRequest) {
    continue_wanted_ = false;  // it did not wait
    if (call_ != nullptr) call_->OnBody(std::as_bytes(std::span(body)));
    return true;
  }
  dropped_bytes_ += body.size();
  if (dropped_bytes_ <= server_.options_.drain_bytes_max) return true;
  Linger();
  return false;
}

void Http1Connection::OnRequestWhole() {
  request_whole_ = true;
  if (stage_ == Stage::kDrain) {
    if (server_.stopping_) return Linger();
    stage_ = Stage::kIdle;
  } else if (call_ != nullptr) {
    call_->OnBodyEnd();
  }
}

void Http1Connection::OnReceiveEnd() {
  receive_ended_ = true;
  if (pending_.empty() && !running_ && !posted_) AllReceived();
}

// The peer sends no more, and all it sent is parsed.
void Http1Connection::AllReceived() {
  const auto early = [this] { Fail(Http1Fault::kEarlyEnd, ErrorOf(Http1Fault::kEarlyEnd, {})); };
  switch (stage_) {
    case Stage::kIdle:
      return Linger();
    case Stage::kHead:
    case Stage::kDrain:
      return early();
    case Stage::kRequest:
      if (!request_whole_) return body_held_ ? void() : early();
      Await();
      if (call_ != nullptr) call_->OnClientEnd();
      return;
    case Stage::kLinger:
      read_deadline_ = loop_.Now();
      return OnTimer();
    case Stage::kEnded:
      return;
  }
}

void Http1Connection::OnRoom() {
  if (stage_ == Stage::kRequest) {
    if (response_ == Response::kParts && call_ != nullptr) call_->OnRoom();
  } else if (!pending_.empty() && MayRead() && !posted_) {
    RunPending();
  }
}

void Http1Connection::OnSent() {
  if (stage_ == Stage::kLinger && receive_ended_) End();
}

void Http1Connection::OnBroken(const Error& reason) {
  if (stage_ == Stage::kIdle || stage_ == Stage::kLinger) return End();
  Fail(Http1Fault::kBroken, reason);
}

void Http1Connection::HoldBody() {
  if (request_whole_ || body_held_) return;
  body_held_ = true;
  if (!stream_held_) stream_->Hold();
  stream_held_ = true;
  Await();
}

void Http1Connection::ResumeBody() {
  if (!body_held_) return;
  body_held_ = false;
  if (response_ == Response::kNone) SendContinue();
  GoOn();
}

// ---- ending

void Http1Connection::EndIfIdle() {
  if (stage_ == Stage::kIdle && pending_.empty()) Linger();
}

void Http1Connection::Cut(Http1Fault fault) {
  if (stage_ == Stage::kLinger) return End();
  Fail(fault, ErrorOf(fault, {}));
}

// Says why, if the request has no answer yet, and ends.
void Http1Connection::Refuse(Http1Fault fault, std::string_view detail) {
  const Error reason = ErrorOf(fault, detail);
  const int status = StatusOf(fault);
  const bool answered = stage_ == Stage::kDrain || response_ == Response::kParts;
  if (status == 0 || answered) return Fail(fault, reason);
  close_after_ = true;
  is_head_ = false;
  std::string text = reason.message() + "\n";
  std::string out;
  AppendTextAnswer(out, status, "text/plain; charset=utf-8", text);
  Write(std::move(out));
  Report(fault, reason);
  if (stage_ != Stage::kEnded) Linger();
}

void Http1Connection::Fail(Http1Fault fault, const Error& reason) {
  Report(fault, reason);
  End();
}

// The service is told last what it was told first: its call, then the hook.
void Http1Connection::Report(Http1Fault fault, const Error& reason) {
  HttpServerCall* const call = call_;
  LeaveExchange();
  if (call != nullptr) call->OnGone(reason);
  server_.service_.OnFault(fault, reason);
}

void Http1Connection::LeaveExchange() {
  if (exchange_ != nullptr) exchange_->connection_ = nullptr;
  exchange_ = nullptr;
  call_ = nullptr;
  response_ = Response::kNone;
}

// Closing at once could make the kernel throw away the answer, if the peer has sent more than was
// read: our end is sent, and what still comes is dropped until the peer's end comes.
void Http1Connection::Linger() {
  stage_ = Stage::kLinger;
  dropped_bytes_ = 0;
  pending_ = std::string();
  stream_->SendEnd();
  if (receive_ended_ && stream_->unsent() == 0) return End();
  if (std::exchange(stream_held_, false)) stream_->Resume();
  read_deadline_ = After(loop_.Now(), server_.options_.linger_timeout);
  Rearm();
}

void Http1Connection::End() {
  if (stage_ == Stage::kEnded) return;
  stage_ = Stage::kEnded;
  LeaveExchange();
  loop_.Disarm(timer_);
  if (stream_ != nullptr) stream_->Close();
  server_.Remove(*this);
}

// ---- time

// One timer serves all stages. It is not moved when a deadline moves away, but looks again when it
// runs: a connection that is busy costs no timers.
void Http1Connection::Await() {
  const Http1ServerOptions& options = server_.options_;
  switch (stage_) {
    case Stage::kIdle:
      read_deadline_ = After(loop_.Now(), options.idle_timeout);
      break;
    case Stage::kRequest:
      read_deadline_ =
          request_whole_ || body_held_ ? kNever : After(loop_.Now(), options.body_timeout);
      break;
    case Stage::kDrain:
      read_deadline_ = After(loop_.Now(), options.body_timeout);
      break;
    case Stage::kHead:  // since its first byte
    case Stage::kLinger:
    case Stage::kEnded:
      break;
  }
  Rearm();
}

void Http1Connection::Rearm() {
  if (stage_ == Stage::kEnded) return;
  const TimePoint due =
      stream_->unsent() > 0 ? std::min(read_deadline_, write_deadline_) : read_deadline_;
  if (due >= timer_at_) return;
  loop_.Disarm(timer_);
  timer_at_ = due;
  timer_ = loop_.Arm(due, [this] { OnTimer(); });
}

// True: something was taken since the last look, or it is too early to say.
bool Http1Connection::CheckTransfer(TimePoint now) {
  if (stream_->unsent() == 0 || now < write_deadline_) return true;
  const uint64_t taken = queued_bytes_ - stream_->unsent();
  if (taken == taken_bytes_) return false;
  taken_bytes_ = taken;
  write_deadline_ = After(now, server_.options_.transfer_timeout);
  return true;
}

void Http1Connection::OnTimer() {
  timer_at_ = kNever;
  const TimePoint now = loop_.Now();
  if (!CheckTransfer(now)) {
    return Fail(Http1Fault::kTransferTimeout, ErrorOf(Http1Fault::kTransferTimeout, {}));
  }
  if (now >= read_deadline_) {
    const bool sending = stream_->unsent() > 0;
    switch (stage_) {
      case Stage::kIdle:
        if (!sending && pending_.empty()) {
          Report(Http1Fault::kIdleTimeout, ErrorOf(Http1Fault::kIdleTimeout, {}));
          return Linger();
        }
        Await();
        break;
      case Stage::kHead:
        return Refuse(Http1Fault::kHeadTimeout, {});
      case Stage::kRequest:
        if (!request_whole_ && !body_held_) return Refuse(Http1Fault::kBodyTimeout, {});
        read_deadline_ = kNever;
        break;
      case Stage::kDrain:
        return Fail(Http1Fault::kBodyTimeout, ErrorOf(Http1Fault::kBodyTimeout, {}));
      case Stage::kLinger:
        if (!sending) return End();
        read_deadline_ = After(now, server_.options_.linger_timeout);
        break;
      case Stage::kEnded:
        return;
    }
  }
  Rearm();
}

}  // namespace denselet::net
