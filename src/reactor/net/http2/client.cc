#include "reactor/net/http2/client.h"

#include <algorithm>
#include <string>

#include "reactor/net/http2/client_exchange.h"

namespace denselet::net {

struct Http2Client::Link final : public reactor::Deletable, public Http2ConnectionUser {
  Link(Http2Client& owner, std::unique_ptr<Stream> stream)
      : client(owner),
        connection(owner.loop_, std::move(stream), owner.ConnectionOptions(), this) {}

  void OnStreams() override { client.OnConnectionStreams(*this); }
  void OnClosed(const Error& reason) override { client.OnConnectionClosed(*this, reason); }

  Http2Client& client;
  Http2Connection connection;
  bool retired = false;  // by Renew or CloseIdle
};

namespace {
Error RenewedError() {
  return Error(ErrorCode::kUnavailable, "the connection was given up for one with new credentials");
}
Error IdleError() {
  return Error(ErrorCode::kUnavailable, "the connection carried nothing and was given up");
}
}  // namespace

Http2Client::Http2Client(reactor::Loop& loop, Random& random, const Http2ClientOptions& options,
                         Dial dial, Http2ClientUser* user)
    : loop_(loop),
      random_(random),
      options_(options),
      dial_(std::move(dial)),
      user_(user),
      self_(std::make_shared<Http2Client*>(this)),
      dial_not_before_(loop.Now()) {}

Http2Client::~Http2Client() {
  *self_ = nullptr;
  loop_.Disarm(timer_);
  while (!exchanges_.empty()) exchanges_.back()->Abandon();
  stopping_.Cancel();
}

std::unique_ptr<HttpExchange> Http2Client::Start(const Context& context, HttpRequest request,
                                                 RequestBody body, WhenFull when_full,
                                                 HttpClientCall& call) {
  auto exchange =
      std::make_unique<ClientExchange>(loop_, context, std::move(request), body, when_full, call);
  exchange->index = exchanges_.size();
  exchanges_.push_back(exchange.get());
  exchange->Attach(*this, Ticket(context.priority, next_ticket_++));
  const Status admitted = Admit(*exchange);
  if (!admitted) exchange->FailLater(admitted.error());
  return exchange;
}

Status Http2Client::Admit(ClientExchange& exchange) {
  const Context& context = exchange.context();
  if (stopped_) return Error(ErrorCode::kCancelled, "the client was stopped");
  if (context.cancel.cancelled()) {
    return Error(ErrorCode::kCancelled, "nobody waits for the answer any more");
  }
  if (context.Expired(loop_.Now())) {
    return Error(ErrorCode::kDeadlineExceeded, "too late to send the request");
  }
  if (waiting_.empty()) {
    if (Http2Connection* free = FreeConnection()) {
      exchange.SendOn(*free);
      if (SpareIsShort()) ScheduleServe();
      return Ok();
    }
  }
  if (exchange.when_full() == WhenFull::kRefuse && UsableConnections() > 0) {
    return Error(ErrorCode::kOverloaded, "no free stream");
  }
  if (waiting_.size() >= options_.waiting_max) {
    return Error(ErrorCode::kOverloaded, "too many requests wait for a stream");
  }
  Enqueue(exchange);
  return Ok();
}

// Those that were sent before keep their place, and are not bound by waiting_max: they are no more
// than streams were open.
void Http2Client::Enqueue(ClientExchange& exchange) {
  exchange.WatchCancel();
  waiting_.emplace(exchange.ticket(), &exchange);
  WakeBy(exchange.context().deadline);
  ScheduleServe();
}

void Http2Client::Forget(ClientExchange& exchange) {
  exchanges_.back()->index = exchange.index;
  std::swap(exchanges_[exchange.index], exchanges_.back());
  exchanges_.pop_back();
  if (const auto found = waiting_.find(exchange.ticket()); found != waiting_.end()) {
    waiting_.erase(found);
  }
}

Http2Client::Counters Http2Client::counters() const {
  Counters counters = counters_;
  counters.connections = static_cast<uint32_t>(links_.size());
  counters.waiting = waiting_.size();
  for (const auto& link : links_) counters.streams += link->connection.streams();
  return counters;
}

// ---- serving

void Http2Client::ScheduleServe() {
  if (std::exchange(serve_posted_, true)) return;
  loop_.Post([self = self_] {
    if (*self == nullptr) return;
    (*self)->serve_posted_ = false;
    (*self)->Serve();
  });
}

void Http2Client::Serve() {
  while (!waiting_.empty()) {
    Http2Connection* const free = FreeConnection();
    if (free == nullptr) break;
    ClientExchange& exchange = *waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    exchange.SendOn(*free);
  }
  if (UsableConnections() > 0) {
    FailWaiting(WhenFull::kRefuse, Error(ErrorCode::kOverloaded, "no free stream"));
  }
  DialWhatIsNeeded();
}

// The first that has room: connections opened for a rush fall idle again and are closed.
Http2Connection* Http2Client::FreeConnection() {
  for (const auto& link : links_) {
    if (!link->retired && link->connection.free_streams() > 0) return &link->connection;
  }
  return nullptr;
}

Http2Options Http2Client::ConnectionOptions() const {
  Http2Options options = options_.connection;
  options.streams_before_settings_max =
      std::max(1u, std::min(options.streams_before_settings_max, streams_expected_));
  return options;
}

void Http2Client::FailWaiting(WhenFull which, const Error& reason) {
  std::vector<ClientExchange*> failing;
  for (const auto& [ticket, exchange] : waiting_) {
    if (exchange->when_full() == which) failing.push_back(exchange);
  }
  // Later: each call may destroy others of them.
  for (ClientExchange* exchange : failing) {
    waiting_.erase(exchange->ticket());
    exchange->FailLater(reason);
  }
}

uint32_t Http2Client::UsableConnections() const {
  return static_cast<uint32_t>(std::count_if(links_.begin(), links_.end(), [](const auto& link) {
    return !link->retired && !link->connection.draining() && !link->connection.closed();
  }));
}

uint32_t Http2Client::ConnectionsWanted() const {
  if (stopped_) return 0;
  const uint32_t usable = UsableConnections();
  if (usable > 0 && SpareIsShort()) return std::min(options_.connections_max, usable + 1);
  if (waiting_.empty()) return 0;
  if (usable == 0) return 1;
  const bool another = std::any_of(waiting_.begin(), waiting_.end(), [](const auto& entry) {
    return entry.second->when_full() == WhenFull::kOpenAnother;
  });
  return std::min(options_.connections_max, usable + (another ? 1 : 0));
}

bool Http2Client::SpareIsShort() const {
  if (options_.spare_streams_min == 0) return false;
  uint32_t free = 0, used = 0;
  for (const auto& link : links_) {
    if (link->retired) continue;
    free += link->connection.free_streams();
    used += link->connection.streams();
  }
  return used > 0 && free < options_.spare_streams_min;
}

// One at a time: what it brings is seen before the next.
void Http2Client::DialWhatIsNeeded() {
  if (counters_.dialling > 0 || UsableConnections() >= ConnectionsWanted()) return;
  if (loop_.Now() < dial_not_before_) return WakeBy(dial_not_before_);
  StartDial();
}

// ---- connections

void Http2Client::StartDial() {
  ++counters_.dialling;
  dialling_since_ = loop_.Now();
  Context context;
  context.deadline = After(loop_.Now(), options_.connect_timeout);
  context.cancel = stopping_.token();
  dial_(context, [self = self_](Result<std::unique_ptr<Stream>> result) {
    if (*self != nullptr) (*self)->OnDialled(std::move(result));
  });
}

void Http2Client::OnDialled(Result<std::unique_ptr<Stream>> result) {
  --counters_.dialling;
  if (stopped_) return;
  if (std::exchange(dial_outdated_, false)) return ScheduleServe();
  if (result) {
    ++counters_.connected;
    dial_error_.reset();
    links_.push_back(std::make_unique<Link>(*this, *std::move(result)));
    if (user_ != nullptr) user_->OnConnected();
  } else {
    ++counters_.dials_failed;
    BackOff(result.error());
    if (UsableConnections() == 0) {
      FailWaiting(WhenFull::kRefuse, Error(ErrorCode::kUnavailable, result.error().message()));
    }
  }
  ScheduleServe();
}

void Http2Client::OnConnectionStreams(Link& link) {
  if (link.retired && link.connection.streams() == 0) link.connection.Shutdown(RenewedError());
  if (link.connection.settled()) streams_expected_ = link.connection.streams_max();
  if (!waiting_.empty() || SpareIsShort()) ScheduleServe();
}

void Http2Client::Renew(Renewal how) {
  for (const auto& link : links_) {
    link->retired = true;
    if (how == Renewal::kBreak || link->connection.streams() == 0) {
      link->connection.Shutdown(RenewedError());
    }
  }
  dial_outdated_ = counters_.dialling > 0;
  backoff_ = {};
  dial_not_before_ = loop_.Now();
  ScheduleServe();
}

void Http2Client::CloseIdle() {
  for (const auto& link : links_) {
    if (link->retired || link->connection.streams() > 0) continue;
    link->retired = true;
    link->connection.Shutdown(IdleError());
  }
}

void Http2Client::OnConnectionClosed(Link& link, const Error& reason) {
  const Http2Connection& connection = link.connection;
  // Ended by us, for no fault of the server's.
  const bool ours = link.retired || connection.idled();
  if (connection.proven()) {
    backoff_ = {};
    dial_not_before_ = loop_.Now();
  } else if (!ours) {
    BackOff(reason);
  }
  if (!ours && !connection.draining()) ++counters_.connections_lost;
  const auto found = std::find_if(links_.begin(), links_.end(),
                                  [&](const auto& entry) { return entry.get() == &link; });
  loop_.DeferDelete(std::move(*found));
  links_.erase(found);
  ScheduleServe();
}

void Http2Client::BackOff(const Error& reason) {
  dial_error_ = reason;
  backoff_ = backoff_ == Duration::zero() ? options_.backoff_min
                                          : std::min(2 * backoff_, options_.backoff_max);
  dial_not_before_ = After(loop_.Now(), random_.Jitter(backoff_, 0.5));
  if (user_ != nullptr) user_->OnConnectFailed(reason);
}

void Http2Client::RetrySoon() {
  if (backoff_ == Duration::zero()) return;
  backoff_ = {};
  const TimePoint soon = After(loop_.Now(), random_.Jitter(options_.backoff_min / 2, 1.0));
  dial_not_before_ = std::min(dial_not_before_, soon);
  ScheduleServe();
}

void Http2Client::Stop() {
  loop_.Post([self = self_] {
    if (*self != nullptr) (*self)->StopNow();
  });
}

void Http2Client::StopNow() {
  if (std::exchange(stopped_, true)) return;
  loop_.Disarm(timer_);
  stopping_.Cancel();
  waiting_.clear();
  links_.clear();
  // Later: a caller may start again in its call, and would be served here without end.
  for (ClientExchange* exchange : exchanges_) {
    exchange->FailLater(Error(ErrorCode::kCancelled, "the client was stopped"));
  }
}

// ---- time

std::optional<Error> Http2Client::Obstacle() const {
  if (UsableConnections() > 0) return std::nullopt;
  if (dial_error_) return dial_error_;
  if (counters_.dialling == 0) return std::nullopt;
  return Error(ErrorCode::kUnavailable, "a connection was begun and neither made nor refused");
}

std::string Http2Client::WhyLate(TimePoint now) const {
  if (UsableConnections() > 0) return "no free stream before the deadline";
  std::string why = "no connection before the deadline";
  if (counters_.dialling > 0) why += ", connecting for " + FormatDuration(now - dialling_since_);
  if (dial_error_) why += ": " + dial_error_->message();
  return why;
}

void Http2Client::WakeBy(TimePoint when) {
  if (stopped_ || when >= timer_at_) return;
  loop_.Disarm(timer_);
  timer_at_ = when;
  timer_ = loop_.Arm(when, [this] { OnTimer(); });
}

void Http2Client::OnTimer() {
  timer_at_ = kNever;
  const TimePoint now = loop_.Now();
  const std::string why = WhyLate(now);
  TimePoint due = kNever;
  std::vector<ClientExchange*> late;
  for (const auto& [ticket, exchange] : waiting_) {
    if (exchange->context().Expired(now)) {
      late.push_back(exchange);
    } else {
      due = std::min(due, exchange->context().deadline);
    }
  }
  for (ClientExchange* exchange : late) {
    waiting_.erase(exchange->ticket());
    exchange->FailLater(Error(ErrorCode::kDeadlineExceeded, why));
  }
  WakeBy(due);
  Serve();
}

}  // namespace denselet::net
