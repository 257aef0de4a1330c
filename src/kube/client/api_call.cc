#include "kube/client/api_call.h"

#include <algorithm>
#include <utility>

#include "kube/api/codec/envelope.h"
#include "kube/client/api_request_text.h"

namespace denselet::kube {

using sync::ApiObject;
using sync::ApiVerb;

ApiCall::ApiCall(const ApiCallParts& parts, RequestLine* line, const Context& context,
                 sync::ApiRequest request, reactor::Done<ApiObject> done,
                 UniqueFunction<void(ApiCall&)> finished)
    : parts_(parts),
      line_(line),
      context_(context),
      request_(std::move(request)),
      done_(std::move(done)),
      finished_(std::move(finished)),
      self_(std::make_shared<ApiCall*>(this)) {
  const TimePoint now = parts_.loop.Now();
  if (context_.deadline == kNever) context_ = context_.WithTimeout(now, parts_.options.timeout);
  if (request_.traffic == sync::ApiTraffic::kHeartbeat) server_timeout_ = context_.Left(now);
  if (context_.cancel.cancelled()) {
    FinishLater(Error(ErrorCode::kCancelled, "nobody waits for the answer any more"));
    return;
  }
  if (context_.Expired(now)) {
    FinishLater(Error(ErrorCode::kDeadlineExceeded, "the request was not sent in time"));
    return;
  }
  cancelled_ = context_.cancel.OnCancel([this] {
    if (stage_ == Stage::kSent || stage_ == Stage::kDone) return;  // the exchange hears it, too
    LeaveLine();
    FinishLater(Error(ErrorCode::kCancelled, "nobody waits for the answer any more"));
  });
  WaitForTurn();
}

ApiCall::~ApiCall() {
  *self_ = nullptr;
  LeaveLine();
  parts_.loop.Disarm(timer_);
}

// Each try takes a turn: a server that turns requests away is not asked more often for it.
void ApiCall::WaitForTurn() {
  if (line_ == nullptr) return WaitUntil(parts_.loop.Now(), Stage::kLimited);
  // A quarter of the time is the server's: what goes out with no time for an answer would make it
  // look silent.
  const TimePoint now = parts_.loop.Now();
  WaitUntil(After(now, context_.Left(now) / 4 * 3), Stage::kLimited);
  place_ = line_->Enter(context_.priority, [self = self_] {
    if (*self != nullptr && (*self)->stage_ == Stage::kLimited) (*self)->OnTurn();
  });
}

void ApiCall::OnTurn() {
  parts_.loop.Disarm(timer_);
  if (context_.Expired(parts_.loop.Now())) return OnLate();
  Authorize();
}

void ApiCall::WaitUntil(TimePoint when, Stage stage) {
  stage_ = stage;
  timer_ = parts_.loop.Arm(std::min(when, context_.deadline), [this] { OnTimer(); });
}

void ApiCall::OnTimer() {
  const bool in_line = stage_ == Stage::kLimited && line_ != nullptr;
  if (in_line || context_.Expired(parts_.loop.Now())) return OnLate();
  if (stage_ == Stage::kPause) return WaitForTurn();
  Authorize();
}

// What a try has brought says more than that there was no time for another.
void ApiCall::OnLate() {
  LeaveLine();
  if (last_failure_) return Finish(*last_failure_);
  if (stage_ == Stage::kLimited && line_ != nullptr) return Finish(line_->TooLate());
  Finish(Error(ErrorCode::kDeadlineExceeded,
               stage_ == Stage::kCredentials
                   ? "the credentials for the API server did not come in time"
                   : "the request was not sent in time"));
}

void ApiCall::LeaveLine() {
  if (stage_ == Stage::kLimited && line_ != nullptr) line_->Leave(place_);
}

void ApiCall::Authorize() {
  const std::string* const authorization = parts_.transport.credentials().Authorization();
  if (authorization != nullptr) return Transmit(*authorization);
  WaitUntil(context_.deadline, Stage::kCredentials);
  parts_.transport.credentials().WhenReady(context_, [self = self_](Status ready) {
    if (*self == nullptr || (*self)->stage_ != Stage::kCredentials) return;
    (*self)->parts_.loop.Disarm((*self)->timer_);
    if (!ready) return (*self)->Finish(ready.error().With("credentials for the API server"));
    (*self)->Authorize();
  });
}

void ApiCall::Transmit(const std::string& authorization) {
  stage_ = Stage::kSent;
  ++tries_;
  body_.clear();
  const ApiLane lane =
      request_.traffic == sync::ApiTraffic::kHeartbeat ? ApiLane::kHeartbeat : ApiLane::kRequests;
  exchange_ =
      parts_.transport.Start(context_, lane, authorization,
                             ToHttpRequest(request_, server_timeout_), ToHttpBody(request_), *this);
}

void ApiCall::OnHead(net::HttpResponseHead head) {
  head_ = std::move(head);
  parts_.transport.contact().OnAnswer(head_.status);
}

void ApiCall::OnBody(std::span<const std::byte> data) {
  if (body_.size() + data.size() > parts_.options.answer_bytes_max) {
    return Finish(Error(ErrorCode::kOverloaded, "the API server's answer is too large").AsAnswer());
  }
  body_.append(reinterpret_cast<const char*>(data.data()), data.size());
}

void ApiCall::OnEnd() {
  if (head_.status < 200 || head_.status > 299) {
    return OnRefused(ReadApiFailure(head_.status, head_.headers, body_));
  }
  const Result<Envelope> envelope = DecodeEnvelope(body_);
  if (!envelope) return Finish(envelope.error().With("the API server's answer"));
  // A delete of what is gone at once is answered with a Status.
  if (envelope->kind == "Status") return Finish(ApiObject{});
  Finish(ApiObject{.wire = std::string(envelope->raw)});
}

void ApiCall::OnRefused(const ApiFailure& failure) {
  const Error error = ToError(failure, request_.verb);
  if (failure.http_status == 401) return OnUnauthorized(error);
  const bool harmless = request_.verb == ApiVerb::kGet && failure.http_status >= 500;
  if (failure.IsWorthRetrying() || harmless) {
    return TryAgain(error, failure.retry_after
                               ? SpreadRetryAfter(*failure.retry_after, parts_.random)
                               : NextPause());
  }
  Finish(error);
}

void ApiCall::OnUnauthorized(const Error& error) {
  const ApiCallOptions& options = parts_.options;
  const TimePoint now = parts_.loop.Now();
  parts_.transport.OnUnauthorized(error);
  const bool first = !unauthorized_since_;
  if (first) unauthorized_since_ = now;
  if (first && parts_.transport.credentials().Refused()) return TryAgain(error, Duration::zero());
  const Duration pause =
      std::clamp(NextPause(), options.unauthorized_pause_min, options.unauthorized_pause_max);
  if (After(now, pause) > After(*unauthorized_since_, options.unauthorized_time_max)) {
    return Finish(error);
  }
  TryAgain(error, pause);
}

void ApiCall::OnFailed(const Error& reason) {
  if (request_.verb == ApiVerb::kGet && reason.code() == ErrorCode::kUnknownOutcome) {
    // It changes nothing: what is unknown is only the answer.
    const bool late = context_.Expired(parts_.loop.Now());
    return TryAgain(
        Error(late ? ErrorCode::kDeadlineExceeded : ErrorCode::kUnavailable, reason.message()),
        NextPause());
  }
  if (reason.code() == ErrorCode::kUnavailable) return TryAgain(reason, NextPause());
  Finish(reason);
}

Duration ApiCall::NextPause() {
  const Duration pause = parts_.options.pause_min * (int64_t{1} << std::min(tries_, 20u)) / 2;
  const Duration most = request_.traffic == sync::ApiTraffic::kHeartbeat
                            ? parts_.options.heartbeat_pause_max
                            : parts_.options.pause_max;
  return parts_.random.Jitter(std::min(pause, most), 0.5);
}

void ApiCall::TryAgain(const Error& reason, Duration pause) {
  const TimePoint next = After(parts_.loop.Now(), pause);
  // Waiting until the deadline to say that it has passed helps nobody.
  if (tries_ >= parts_.options.tries_max || next >= context_.deadline) return Finish(reason);
  last_failure_ = reason;
  WaitUntil(next, Stage::kPause);
}

void ApiCall::FinishLater(Result<ApiObject> result) {
  stage_ = Stage::kDone;
  parts_.loop.Disarm(timer_);
  parts_.loop.Post([self = self_, result = std::move(result)]() mutable {
    if (*self != nullptr) (*self)->Finish(std::move(result));
  });
}

void ApiCall::Finish(Result<ApiObject> result) {
  stage_ = Stage::kDone;
  exchange_.reset();
  cancelled_.Forget();
  reactor::Done<ApiObject> done = std::move(done_);
  finished_(*this);
  done(std::move(result));
}

}  // namespace denselet::kube
