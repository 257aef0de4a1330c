#include <algorithm>
#include <utility>

#include "base/check.h"
#include "reactor/net/http1/connection.h"
#include "reactor/net/http1/rewound_stream.h"

// How answers are written; the rest of the connection is in connection.cc.
namespace denselet::net {
namespace {

constexpr size_t kHeadBytesUsual = 192;

bool MayHaveBody(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace

// Whether the connection goes on after the answer that begins now.
void Http1Connection::DecideAfter() {
  if (server_.stopping_) close_after_ = true;
  if (request_whole_) return;
  // The rest of the body would have to be read first. A client that was not told to go on may send
  // it or not: who knows.
  const bool too_long = parser_.has_length() && parser_.length() > server_.options_.drain_bytes_max;
  if (continue_wanted_ || too_long) close_after_ = true;
}

void Http1Connection::AppendHeadStart(std::string& out, int status, const Headers* headers) {
  AppendStatusLine(out, status);
  if (headers == nullptr || headers->Find("Date") == nullptr) {
    out += server_.date_.At(loop_.WallNow());
  }
  if (close_after_) {
    out += "Connection: close\r\n";
  } else if (is_http10_) {
    out += "Connection: keep-alive\r\n";
  }
}

void Http1Connection::AppendTextAnswer(std::string& out, int status, std::string_view type,
                                       std::string_view body) {
  const bool has_body = MayHaveBody(status);
  out.reserve(kHeadBytesUsual + type.size() + body.size());
  AppendHeadStart(out, status, nullptr);
  if (has_body) {
    if (!type.empty() && IsHeaderValue(type)) AppendHeader(out, "Content-Type", type);
    AppendFraming(out, {BodyFraming::Kind::kLength, body.size()});
  }
  out += "\r\n";
  if (has_body && !is_head_) out += body;
}

void Http1Connection::Respond(int status, std::string_view content_type, std::string_view body) {
  CHECK(response_ == Response::kNone && status >= 200);
  DecideAfter();
  std::string out;
  AppendTextAnswer(out, status, content_type, body);
  Write(std::move(out));
  EndResponse();
}

void Http1Connection::Respond(const HttpResponseHead& head, std::string_view body) {
  CHECK(response_ == Response::kNone && head.status >= 200);
  DecideAfter();
  const bool has_body = MayHaveBody(head.status);
  const bool body_sent = has_body && !is_head_;
  std::string out;
  out.reserve(kHeadBytesUsual + TextBytes(head.headers) + body.size());
  AppendHeadStart(out, head.status, &head.headers);
  AppendHeaders(out, head.headers, AfterMessage::kKeepAlive);
  // Of an answer to HEAD, and of 304, the length is that of what GET would have got.
  uint64_t length = body.size();
  bool length_known = has_body;
  if (!body_sent && head.status != 204) {
    if (const auto given = LengthIn(head.headers)) length = *given, length_known = true;
  }
  if (length_known) AppendFraming(out, {BodyFraming::Kind::kLength, length});
  out += "\r\n";
  if (body_sent) out += body;
  Write(std::move(out));
  EndResponse();
}

void Http1Connection::BeginResponse(const HttpResponseHead& head) {
  CHECK(response_ == Response::kNone && head.status >= 200);
  DecideAfter();
  const auto length = LengthIn(head.headers);
  framing_ = !MayHaveBody(head.status) ? BodyFraming::Kind::kNone
             : length                  ? BodyFraming::Kind::kLength
             : is_http10_              ? BodyFraming::Kind::kClose
                                       : BodyFraming::Kind::kChunked;
  if (framing_ == BodyFraming::Kind::kClose) close_after_ = true;
  body_left_ = length.value_or(0);
  response_ = Response::kParts;
  std::string out;
  out.reserve(kHeadBytesUsual + TextBytes(head.headers));
  AppendHeadStart(out, head.status, &head.headers);
  AppendHeaders(out, head.headers, AfterMessage::kKeepAlive);
  AppendFraming(out, {framing_, body_left_});
  out += "\r\n";
  if (is_head_) framing_ = BodyFraming::Kind::kNone;
  Write(std::move(out));
  if (!running_) Rearm();
}

void Http1Connection::SendPart(std::string_view part) {
  CHECK(response_ == Response::kParts);
  if (part.empty()) return;  // an empty chunk would be the last one
  switch (framing_) {
    case BodyFraming::Kind::kNone:
      return;
    case BodyFraming::Kind::kLength:
      if (part.size() > body_left_) return Abort();
      body_left_ -= part.size();
      [[fallthrough]];
    case BodyFraming::Kind::kClose:
      Write(std::string(part));
      break;
    case BodyFraming::Kind::kChunked: {
      std::string out;
      out.reserve(part.size() + 24);
      AppendChunk(out, part);
      Write(std::move(out));
      break;
    }
  }
  if (!running_) Rearm();
}

void Http1Connection::EndParts() {
  CHECK(response_ == Response::kParts);
  if (framing_ == BodyFraming::Kind::kLength && body_left_ > 0) return Abort();
  if (framing_ == BodyFraming::Kind::kChunked) Write("0\r\n\r\n");
  EndResponse();
}

void Http1Connection::Write(std::string text) {
  if (stream_->unsent() == 0) {
    taken_bytes_ = queued_bytes_;
    write_deadline_ = After(loop_.Now(), server_.options_.transfer_timeout);
  }
  queued_bytes_ += text.size();
  stream_->Send(std::move(text));
}

void Http1Connection::EndResponse() {
  LeaveExchange();
  body_held_ = false;
  if (close_after_ || (server_.stopping_ && request_whole_)) return Linger();
  dropped_bytes_ = 0;
  stage_ = request_whole_ ? Stage::kIdle : Stage::kDrain;
  GoOn();
}

std::unique_ptr<Stream> Http1Connection::Upgrade(const Headers& headers) {
  if (!request_whole_ || response_ != Response::kNone) return nullptr;
  std::string out;
  AppendStatusLine(out, 101);
  AppendHeaders(out, headers, AfterMessage::kUpgrade);
  if (headers.Find("Connection") == nullptr) out += "Connection: Upgrade\r\n";
  out += "\r\n";
  stream_->Send(std::move(out));
  std::string read_ahead = running_ ? std::string(input_) : std::move(pending_);
  auto stream = Rewind(loop_, std::move(stream_), std::move(read_ahead));
  End();
  return stream;
}

// The service has dropped its exchange.
void Http1Connection::Abandon() {
  exchange_ = nullptr;
  if (response_ == Response::kParts) return Abort();
  close_after_ = true;
  Respond(500, "text/plain; charset=utf-8", "the request was dropped\n");
}

void Http1Connection::Abort() { End(); }

}  // namespace denselet::net
