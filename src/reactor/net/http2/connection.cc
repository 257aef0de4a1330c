#include "reactor/net/http2/connection.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "reactor/net/http2/exchange.h"
#include "reactor/net/http2/request_head.h"
#include "reactor/net/http2/session_events.h"

namespace denselet::net {
namespace {

// Frames of all kinds that wait for such a peer; Start refuses beyond.
constexpr size_t kQueuedFramesMax = 4096;

// What is told to an exchange whose connection has ended.
Error ForExchange(const Error& reason, bool sent) {
  if (!sent) return Error(ErrorCode::kUnavailable, reason.message());
  const bool telling = reason.code() == ErrorCode::kCorrupt ||
                       reason.code() == ErrorCode::kOverloaded ||
                       reason.code() == ErrorCode::kCancelled;
  return Error(telling ? reason.code() : ErrorCode::kUnknownOutcome, reason.message());
}

}  // namespace

Http2Connection::Http2Connection(reactor::Loop& loop, std::unique_ptr<Stream> stream,
                                 const Http2Options& options, Http2ConnectionUser* user)
    : loop_(loop),
      options_(options),
      stream_(std::move(stream)),
      user_(user),
      self_(std::make_shared<Http2Connection*>(this)),
      guard_(options.idle_frames_max, options.idle_frames_per_second_max, loop.Now()),
      started_at_(loop.Now()),
      received_at_(loop.Now()),
      idle_since_(loop.Now()) {
  MakeSession();
  stream_->Use(*this);
  WakeBy(After(started_at_, std::min(options_.settings_timeout, options_.idle_timeout)));
  ScheduleFlush();
}

Http2Connection::~Http2Connection() {
  CHECK(!in_session_);
  *self_ = nullptr;
  closed_ = true;
  loop_.Disarm(timer_);
  while (!exchanges_.empty()) Detach(*exchanges_.back());
  DropSession();
}

void Http2Connection::MakeSession() {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_option* option = nullptr;
  CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  CHECK(nghttp2_option_new(&option) == 0);
  SessionEvents::Register(callbacks);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_peer_max_concurrent_streams(option, options_.streams_before_settings_max);
  // Acknowledgements held for a peer that asks and does not read. Our own count of frames comes
  // first and gives a better reason, but it leaks.
  nghttp2_option_set_max_outbound_ack(option, 2 * size_t{options_.idle_frames_max});
  nghttp2_option_set_no_closed_streams(option, 1);
  CHECK(nghttp2_session_client_new2(&session_, callbacks, this, option) == 0);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);

  const std::array<nghttp2_settings_entry, 4> settings = {{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options_.stream_window_bytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
       static_cast<uint32_t>(options_.header_list_bytes_max)},
  }};
  CHECK(nghttp2_submit_settings(session_, 0, settings.data(), settings.size()) == 0);
  CHECK(nghttp2_session_set_local_window_size(
            session_, 0, 0, static_cast<int32_t>(options_.connection_window_bytes)) == 0);
}

uint32_t Http2Connection::streams_max() const {
  if (session_ == nullptr) return 0;
  const uint32_t theirs =
      nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  return std::min(settings_received_ ? theirs : options_.streams_before_settings_max,
                  options_.streams_max);
}

uint32_t Http2Connection::free_streams() const {
  if (draining_ || closed_) return 0;
  const uint32_t limit = streams_max();
  return limit - std::min(limit, streams());
}

std::unique_ptr<HttpExchange> Http2Connection::Start(const Context& context,
                                                     const HttpRequest& request, RequestBody body,
                                                     HttpClientCall& call) {
  auto exchange = std::make_unique<Http2Exchange>(loop_, body, call);
  const Status submitted = Submit(context, request, body, *exchange);
  if (!submitted) exchange->FailLater(submitted.error());
  return exchange;
}

Status Http2Connection::Submit(const Context& context, const HttpRequest& request, RequestBody body,
                               Http2Exchange& exchange) {
  if (context.cancel.cancelled()) {
    return Error(ErrorCode::kCancelled, "nobody waits for the answer any more");
  }
  if (context.Expired(loop_.Now())) {
    return Error(ErrorCode::kDeadlineExceeded, "too late to send the request");
  }
  if (closed_) return Error(ErrorCode::kUnavailable, "the connection is closed");
  if (draining_) return Error(ErrorCode::kUnavailable, "the connection takes no new requests");
  if (free_streams() == 0) return Error(ErrorCode::kOverloaded, "no free stream");
  if (nghttp2_session_get_outbound_queue_size(session_) >= kQueuedFramesMax) {
    return Error(ErrorCode::kOverloaded, "the server does not read");
  }
  RequestHead head;
  head.reserve(4 + request.headers.entries().size());
  const uint32_t bytes_max =
      nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE);
  if (Status made = MakeRequestHead(request, bytes_max, head); !made) return made;
  const int32_t id = SessionEvents::Submit(*this, head, body, exchange);
  if (id < 0) {
    draining_ = true;  // its stream ids are used up
    return Error(ErrorCode::kUnavailable, nghttp2_strerror(id));
  }

  const TimePoint now = loop_.Now();
  // Silence was no fault until here; but that of a server that owed us something before is. Else
  // one that is gone without a word would never be asked: exchanges that end sooner than a ping is
  // due would each begin the wait anew.
  if (exchanges_.empty() && !owes_bytes_) received_at_ = now;
  owes_bytes_ = true;
  exchange.connection_ = this;
  exchange.id_ = id;
  exchange.index_ = exchanges_.size();
  exchange.progress_at_ = now;
  exchange.deadline_ = context.deadline;
  exchange.cancel_ = context.cancel.OnCancel([&exchange] { exchange.OnCancelled(); });
  exchanges_.push_back(&exchange);
  guard_.Earn(3);  // it may be answered by a 1xx, a reset and a window update
  WakeBy(std::min({context.deadline, After(now, options_.progress_timeout),
                   std::max(now, After(received_at_, options_.ping_idle))}));
  ScheduleFlush();
  return Ok();
}

void Http2Connection::Shutdown(const Error& reason) {
  loop_.Post([self = self_, reason] {
    if (*self != nullptr) (*self)->Break(reason);
  });
}

// ---- bytes

void Http2Connection::OnReceived(std::span<const std::byte> data) {
  received_at_ = loop_.Now();
  owes_bytes_ = false;
  pinged_at_.reset();
  guard_.Leak(received_at_);
  in_session_ = true;
  const ssize_t taken = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(data.data()), data.size());
  in_session_ = false;
  if (closed_) return DropSession();
  if (taken == NGHTTP2_ERR_FLOODED) {
    return Break(Error(ErrorCode::kOverloaded, "the server floods us and does not read"));
  }
  if (taken < 0) {
    return Break(
        Error(ErrorCode::kCorrupt,
              "the server does not speak HTTP/2: " +
                  (detail_.empty() ? nghttp2_strerror(static_cast<int>(taken)) : detail_)));
  }
  if (streams_changed_ || nghttp2_session_want_write(session_) != 0) ScheduleFlush();
}

void Http2Connection::OnReceiveEnd() {
  Break(Error(ErrorCode::kUnavailable, "the server closed the connection" + AfterGoAway()));
}

void Http2Connection::OnBroken(const Error& reason) {
  Break(reason.With("connection broken" + AfterGoAway()));
}

void Http2Connection::ScheduleFlush() {
  if (flush_posted_ || closed_) return;
  flush_posted_ = true;
  loop_.Post([self = self_] {
    if (*self == nullptr) return;
    (*self)->flush_posted_ = false;
    (*self)->Flush();
  });
}

void Http2Connection::Flush() {
  if (closed_ || !PullFrames()) return;
  if (fault_) return Break(*fault_);
  TellRoom();
  TellStreams();
  if (draining_ && exchanges_.empty() && !closed_) {
    Break(Error(ErrorCode::kUnavailable,
                goaway_.empty() ? "its stream ids are used up" : "the server said " + goaway_));
  }
}

// False: the connection has ended by that.
bool Http2Connection::PullFrames() {
  ssize_t pulled = 1;
  in_session_ = true;
  while (pulled > 0 && out_.size() + stream_->unsent() <= Stream::kRoomBytes) {
    const uint8_t* frames = nullptr;
    const size_t before = out_.size();
    pulled = nghttp2_session_mem_send(session_, &frames);
    if (pulled > 0) out_.append(reinterpret_cast<const char*>(frames), static_cast<size_t>(pulled));
    // DATA frames come by a way of their own.
    if (pulled == 0 && out_.size() > before) pulled = 1;
  }
  in_session_ = false;
  if (closed_) {
    DropSession();
    return false;
  }
  if (pulled < 0) {
    Break(Error(ErrorCode::kBug, nghttp2_strerror(static_cast<int>(pulled))));
    return false;
  }
  if (!out_.empty()) stream_->Send(std::exchange(out_, {}));
  return true;
}

void Http2Connection::TellRoom() {
  for (size_t i = 0; i < room_.size(); ++i) {
    if (room_[i] != nullptr) room_[i]->call_.OnRoom();
  }
  room_.clear();
}

void Http2Connection::TellStreams() {
  if (!std::exchange(streams_changed_, false) || closed_ || user_ == nullptr) return;
  user_->OnStreams();
}

// ---- ends

void Http2Connection::Detach(Http2Exchange& exchange) {
  exchanges_.back()->index_ = exchange.index_;
  std::swap(exchanges_[exchange.index_], exchanges_.back());
  exchanges_.pop_back();
  exchange.connection_ = nullptr;
  if (current_ == &exchange) current_ = nullptr;
  std::replace(room_.begin(), room_.end(), &exchange, static_cast<Http2Exchange*>(nullptr));
  streams_changed_ = true;
  if (closed_) return;
  nghttp2_session_set_stream_user_data(session_, exchange.id_, nullptr);
  if (!exchanges_.empty()) return;
  idle_since_ = loop_.Now();
  WakeBy(After(idle_since_, options_.idle_timeout));
}

void Http2Connection::Abandon(Http2Exchange& exchange, uint32_t http2_error) {
  Detach(exchange);
  if (closed_) return;
  nghttp2_submit_rst_stream(session_, 0, exchange.id_, http2_error);
  ScheduleFlush();
}

void Http2Connection::Fail(Http2Exchange& exchange, const Error& reason) {
  Abandon(exchange, SessionEvents::kCancel);
  exchange.Fail(reason);
}

void Http2Connection::ShedUnsent() {
  const Error reason(ErrorCode::kUnavailable, "the server takes fewer streams at a time");
  for (size_t i = exchanges_.size(); i-- > 0 && streams() > streams_max();) {
    if (i < exchanges_.size() && !exchanges_[i]->head_sent_) Fail(*exchanges_[i], reason);
  }
}

void Http2Connection::FailUnsent(const Error& reason) {
  for (size_t i = exchanges_.size(); i-- > 0;) {
    if (i < exchanges_.size() && !exchanges_[i]->head_sent_) Fail(*exchanges_[i], reason);
  }
}

void Http2Connection::Break(const Error& reason) {
  if (closed_) return;
  closed_ = true;
  stream_->Close();
  loop_.Disarm(timer_);
  while (!exchanges_.empty()) {
    Http2Exchange& exchange = *exchanges_.back();
    Detach(exchange);
    exchange.Fail(ForExchange(reason, exchange.head_sent_));
  }
  DropSession();
  if (user_ != nullptr) user_->OnClosed(reason);
}

void Http2Connection::DropSession() {
  if (in_session_) return;  // once it has returned
  nghttp2_session_del(std::exchange(session_, nullptr));
}

// ---- time

void Http2Connection::WakeBy(TimePoint when) {
  if (closed_ || when >= timer_at_) return;
  loop_.Disarm(timer_);
  timer_at_ = when;
  timer_ = loop_.Arm(when, [this] { OnTimer(); });
}

void Http2Connection::OnTimer() {
  timer_at_ = kNever;
  const TimePoint now = loop_.Now();
  const TimePoint due = CheckConnection(now);
  if (closed_) return;
  CheckExchanges(now);
  WakeBy(std::min(due, NextExchangeDue()));
}

TimePoint Http2Connection::CheckConnection(TimePoint now) {
  TimePoint due = kNever;
  const auto late = [&](TimePoint limit) {
    if (now >= limit) return true;
    due = std::min(due, limit);
    return false;
  };
  if (!settings_received_ && late(After(started_at_, options_.settings_timeout))) {
    Break(Error(ErrorCode::kUnavailable, "no SETTINGS from the server"));
    return kNever;
  }
  if (pinged_at_ && late(After(*pinged_at_, options_.ping_timeout))) {
    Break(Error(ErrorCode::kUnavailable, "no answer to ping"));
    return kNever;
  }
  if (exchanges_.empty()) {
    if (late(After(idle_since_, options_.idle_timeout))) {
      idled_ = true;
      Break(Error(ErrorCode::kUnavailable, "the connection was idle"));
    }
    return due;
  }
  if (pinged_at_) return due;
  if (late(After(received_at_, options_.ping_idle))) {
    pinged_at_ = now;
    due = std::min(due, After(now, options_.ping_timeout));
    nghttp2_submit_ping(session_, 0, nullptr);
    ScheduleFlush();
  }
  return due;
}

void Http2Connection::CheckExchanges(TimePoint now) {
  // From behind: an exchange that goes is replaced by one that was seen already.
  for (size_t i = exchanges_.size(); i-- > 0;) {
    if (i >= exchanges_.size()) continue;
    Http2Exchange& exchange = *exchanges_[i];
    if (now >= exchange.deadline_) {
      Fail(exchange, exchange.head_sent_
                         ? Error(ErrorCode::kUnknownOutcome, "no whole answer before the deadline")
                         : Error(ErrorCode::kDeadlineExceeded, "not sent before the deadline"));
    } else if (exchange.Stuck() && now >= After(exchange.progress_at_, options_.progress_timeout)) {
      Fail(exchange,
           exchange.head_sent_
               ? Error(ErrorCode::kUnknownOutcome, "the server does not take the request's body")
               : Error(ErrorCode::kUnavailable, "the server does not take the request"));
    }
  }
}

TimePoint Http2Connection::NextExchangeDue() const {
  TimePoint due = kNever;
  for (const Http2Exchange* exchange : exchanges_) {
    due = std::min(due, exchange->deadline_);
    if (exchange->Stuck()) {
      due = std::min(due, After(exchange->progress_at_, options_.progress_timeout));
    }
  }
  return due;
}

}  // namespace denselet::net
