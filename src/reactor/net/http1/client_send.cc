#include <algorithm>
#include <utility>

#include "base/check.h"
#include "reactor/net/http1/client.h"
#include "reactor/net/http1/client_exchange.h"

// How requests are sent; the rest of the client is in client.cc.
namespace denselet::net {
namespace {

constexpr size_t kHeadBytesUsual = 128;

bool IsSafe(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

// A request of such a method says that it has no body when it has none.
bool UsuallyHasBody(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

bool CanStand(const HttpRequest& request) {
  return IsHeaderName(request.method) && IsRequestTarget(request.target) &&
         !request.authority.empty() && IsHeaderValue(request.authority) &&
         std::all_of(request.headers.entries().begin(), request.headers.entries().end(),
                     [](const Headers::Entry& header) {
                       return IsHeaderName(header.first) && IsHeaderValue(header.second);
                     });
}

}  // namespace

std::unique_ptr<HttpExchange> Http1Client::Begin(const Context& context, HttpClientCall& call) {
  CHECK(state_ == State::kIdle || state_ == State::kClosed);
  CHECK(call_ == nullptr);
  auto exchange = std::make_unique<Exchange>(*this);
  call_ = &call;
  if (state_ == State::kClosed) {
    FailLater(Error(ErrorCode::kUnavailable, "the connection is closed"));
    return exchange;
  }
  state_ = State::kBusy;
  interim_count_ = 0;
  held_ = head_came_ = answer_came_ = close_after_ = false;
  exchange_began_at_ = queued_bytes_;
  deadline_ = context.deadline;
  read_deadline_ = After(loop_.Now(), options_.head_timeout);
  body_ended_ = true;
  if (context.cancel.cancelled()) {
    FailLater(Error(ErrorCode::kCancelled, "nobody waits for it any more"));
  } else if (context.Expired(loop_.Now())) {
    FailLater(Error(ErrorCode::kDeadlineExceeded, "the deadline passed before the request"));
  } else {
    cancel_ = context.cancel.OnCancel(
        [this] { FailLater(Error(ErrorCode::kCancelled, "nobody waits for it any more")); });
  }
  return exchange;
}

std::unique_ptr<HttpExchange> Http1Client::Start(const Context& context, const HttpRequest& request,
                                                 RequestBody body, HttpClientCall& call) {
  auto exchange = Begin(context, call);
  BodyFraming framing;
  if (body == RequestBody::kStreamed) {
    const auto length = LengthIn(request.headers);
    framing = length ? BodyFraming{BodyFraming::Kind::kLength, *length}
                     : BodyFraming{BodyFraming::Kind::kChunked, 0};
  } else if (UsuallyHasBody(request.method)) {
    framing = {BodyFraming::Kind::kLength, 0};
  }
  std::string head = RequestHead(request, framing);
  if (failure_) return exchange;
  body_ended_ = body == RequestBody::kNone;
  Write(std::move(head));
  Rearm();
  return exchange;
}

std::unique_ptr<HttpExchange> Http1Client::Start(const Context& context, const HttpRequest& request,
                                                 std::string_view whole_body,
                                                 HttpClientCall& call) {
  if (whole_body.empty()) return Start(context, request, RequestBody::kNone, call);
  auto exchange = Begin(context, call);
  std::string text = RequestHead(request, {BodyFraming::Kind::kLength, whole_body.size()});
  if (failure_) return exchange;
  Write(text.append(whole_body));
  Rearm();
  return exchange;
}

std::string Http1Client::RequestHead(const HttpRequest& request, const BodyFraming& framing) {
  if (!failure_ && !CanStand(request)) {
    FailLater(Error(ErrorCode::kInvalid, "the request cannot be written as HTTP/1.1"));
  }
  framing_ = framing;
  is_safe_ = IsSafe(request.method);
  is_connect_ = request.method == "CONNECT";
  parser_.ExpectAnswerTo(is_connect_                ? Http1Parser::AnswerTo::kConnect
                         : request.method == "HEAD" ? Http1Parser::AnswerTo::kHead
                                                    : Http1Parser::AnswerTo::kOther);
  close_after_ = request.headers.HasToken("Connection", "close");
  is_upgrade_ = request.headers.HasToken("Connection", "Upgrade");
  std::string out;
  out.reserve(kHeadBytesUsual + request.target.size() + request.authority.size() +
              TextBytes(request.headers));
  out.append(request.method).append(" ").append(request.target).append(" HTTP/1.1\r\n");
  AppendHeader(out, "Host", request.authority);
  AppendHeaders(out, request.headers,
                is_upgrade_ ? AfterMessage::kUpgrade : AfterMessage::kKeepAlive);
  if (close_after_ && !is_upgrade_) out += "Connection: close\r\n";
  AppendFraming(out, framing);
  return out += "\r\n";
}

void Http1Client::SendBody(std::string data) {
  if (state_ != State::kBusy || body_ended_ || data.empty()) return;
  if (framing_.kind == BodyFraming::Kind::kChunked) {
    std::string out;
    out.reserve(data.size() + 24);
    AppendChunk(out, data);
    data = std::move(out);
  } else if (data.size() > framing_.length) {
    return FailLater(Error(ErrorCode::kBug, "the body is longer than its Content-Length"));
  } else {
    framing_.length -= data.size();
  }
  Write(std::move(data));
  if (!running_) Rearm();
}

void Http1Client::EndBody() {
  if (state_ != State::kBusy || body_ended_) return;
  if (framing_.kind == BodyFraming::Kind::kChunked) {
    Write("0\r\n\r\n");
  } else if (framing_.length > 0) {
    return FailLater(Error(ErrorCode::kBug, "the body is shorter than its Content-Length"));
  }
  body_ended_ = true;
  if (!head_came_) read_deadline_ = After(loop_.Now(), options_.head_timeout);
  if (!running_) Rearm();
}

void Http1Client::Write(std::string text) {
  if (stream_->unsent() == 0) {
    taken_bytes_ = queued_bytes_;
    write_deadline_ = After(loop_.Now(), options_.transfer_timeout);
  }
  queued_bytes_ += text.size();
  stream_->Send(std::move(text));
}

}  // namespace denselet::net
