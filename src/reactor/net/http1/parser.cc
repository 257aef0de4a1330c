#include "reactor/net/http1/parser.h"

#include <llhttp.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace denselet::net {
namespace {

// Framing that a body may have on top of head_bytes_max: the smallest chunks (one byte in six) and
// a little.
constexpr uint64_t kOverheadPerBodyByte = 8;

constexpr size_t kUsualHeaders = 8;

bool IsTransferEncoding(std::string_view name) {
  return name.size() == 17 && EqualsIgnoringCase(name, "Transfer-Encoding");
}
bool IsHost(std::string_view name) { return name.size() == 4 && EqualsIgnoringCase(name, "Host"); }

// The methods of HTTP; the library also knows those of RTSP and the preface of HTTP/2.
bool IsHttpMethod(uint8_t method) { return method < HTTP_PRI || method == HTTP_QUERY; }

llhttp_t& State(std::byte* state) { return *reinterpret_cast<llhttp_t*>(state); }

}  // namespace

struct Http1Parser::Calls {
  static Http1Parser& Of(llhttp_t* state) { return *static_cast<Http1Parser*>(state->data); }
  static bool InTrailer(llhttp_t* state) { return Of(state).stage_ != Stage::kHead; }

  static int Target(llhttp_t* state, const char* at, size_t size) {
    Of(state).target_.append(at, size);
    return 0;
  }
  static int TargetWhole(llhttp_t* state) {
    Of(state).target_whole_ = true;
    return 0;
  }
  static int Name(llhttp_t* state, const char* at, size_t size) {
    if (!InTrailer(state)) Of(state).name_.append(at, size);
    return 0;
  }
  static int Value(llhttp_t* state, const char* at, size_t size) {
    if (!InTrailer(state)) Of(state).value_.append(at, size);
    return 0;
  }
  static int NameWhole(llhttp_t* state) { return InTrailer(state) ? 0 : Of(state).OnHeaderName(); }
  static int ValueWhole(llhttp_t* state) {
    return InTrailer(state) ? 0 : Of(state).OnHeaderValue();
  }
  static int HeadWhole(llhttp_t* state) { return Of(state).OnHeadDone(); }
  static int Body(llhttp_t* state, const char* at, size_t size) {
    return Of(state).OnBody({at, size});
  }
  static int ChunkHead(llhttp_t* state) { return Of(state).OnChunk(state->content_length); }
  static int MessageWhole(llhttp_t* state) {
    Of(state).event_ = Event::kEnd;
    return HPE_PAUSED;
  }

  static llhttp_settings_t Settings() {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_url = Target;
    settings.on_url_complete = TargetWhole;
    settings.on_header_field = Name;
    settings.on_header_field_complete = NameWhole;
    settings.on_header_value = Value;
    settings.on_header_value_complete = ValueWhole;
    settings.on_headers_complete = HeadWhole;
    settings.on_body = Body;
    settings.on_chunk_header = ChunkHead;
    settings.on_message_complete = MessageWhole;
    return settings;
  }
};

Http1Parser::Http1Parser(Kind kind, const Http1Limits& limits) : limits_(limits), kind_(kind) {
  static_assert(sizeof(llhttp_t) <= kStateBytes && alignof(llhttp_t) <= 8);
  Begin();
}

void Http1Parser::Begin() {
  static const llhttp_settings_t settings = Calls::Settings();
  llhttp_init(&State(state_), kind_ == Kind::kRequest ? HTTP_REQUEST : HTTP_RESPONSE, &settings);
  State(state_).data = this;
  stage_ = Stage::kHead;
  head_bytes_ = overhead_bytes_ = 0;
  body_bytes_ = 0;
  hosts_ = encodings_ = 0;
  target_whole_ = paused_ = false;
  has_body_ = has_length_ = false;
}

Http1Parser::Event Http1Parser::Next(std::string_view& input) {
  switch (stage_) {
    case Stage::kFault:
      return Event::kFault;
    case Stage::kHeadDone:  // and there is no body
      Begin();
      return Event::kEnd;
    case Stage::kHead:
    case Stage::kBody:
      return Parse(input);
  }
  CHECK(false);
}

Http1Parser::Event Http1Parser::Parse(std::string_view& input) {
  // A pause may have stopped right in front of an event that needs no further byte.
  if (input.empty() && !paused_) return Event::kMore;
  llhttp_t& state = State(state_);
  const bool in_head = stage_ == Stage::kHead;
  const size_t room = in_head ? limits_.head_bytes_max - head_bytes_ : input.size();
  const size_t given = std::min(input.size(), room);
  event_ = Event::kMore;
  if (std::exchange(paused_, false)) llhttp_resume(&state);
  const llhttp_errno_t error = llhttp_execute(&state, input.data(), given);
  if (error != HPE_OK && error != HPE_PAUSED) return FailOfLibrary(error);

  paused_ = error == HPE_PAUSED;
  const size_t used =
      paused_ ? static_cast<size_t>(llhttp_get_error_pos(&state) - input.data()) : given;
  input.remove_prefix(used);
  if (in_head) {
    head_bytes_ += used;
    if (event_ == Event::kMore && head_bytes_ == limits_.head_bytes_max) {
      const bool in_target = kind_ == Kind::kRequest && !target_whole_;
      return Fail(in_target ? Http1Fault::kTargetTooLong : Http1Fault::kHeadTooLarge, {});
    }
  } else if (!CountOverhead(used)) {
    return Fail(Http1Fault::kChunkOverhead, {});
  }
  if (event_ == Event::kEnd) Begin();
  return event_;
}

// Paid for by the body that came before: so the verdict does not depend on how the bytes came.
bool Http1Parser::CountOverhead(size_t used) {
  const size_t body = event_ == Event::kBody ? body_.size() : 0;
  overhead_bytes_ += used - body;
  const uint64_t before = body_bytes_ - body;
  return overhead_bytes_ <= limits_.head_bytes_max + kOverheadPerBodyByte * before;
}

bool Http1Parser::EndsHere() {
  if (stage_ != Stage::kBody) return false;
  llhttp_t& state = State(state_);
  if (std::exchange(paused_, false)) llhttp_resume(&state);
  event_ = Event::kMore;
  (void)llhttp_finish(&state);
  return event_ == Event::kEnd;
}

HttpRequest Http1Parser::TakeRequest() {
  HttpRequest request;
  request.method = llhttp_method_name(static_cast<llhttp_method_t>(State(state_).method));
  request.target = std::exchange(target_, {});
  request.authority = std::exchange(authority_, {});
  request.headers = std::exchange(headers_, {});
  return request;
}

HttpResponseHead Http1Parser::TakeResponse() {
  HttpResponseHead head;
  head.status = status_;
  head.headers = std::exchange(headers_, {});
  return head;
}

Http1Parser::Event Http1Parser::Fail(Http1Fault fault, std::string_view detail) {
  stage_ = Stage::kFault;
  fault_ = fault;
  detail_ = detail;
  return Event::kFault;
}

Http1Parser::Event Http1Parser::FailOfLibrary(int error) {
  if (fault_ != Http1Fault::kNone) return Fail(fault_, detail_);  // one of ours, by Refuse
  const char* reason = llhttp_get_error_reason(&State(state_));
  const std::string_view detail = reason == nullptr ? "" : reason;
  if (error == HPE_INVALID_METHOD) return Fail(Http1Fault::kUnknownMethod, detail);
  // The library also calls it a bad version when the line does not end behind it.
  const bool line_end = detail.find("CRLF") != std::string_view::npos;
  if ((error == HPE_INVALID_VERSION && !line_end) || error == HPE_PAUSED_H2_UPGRADE) {
    return Fail(Http1Fault::kVersion, detail);
  }
  return Fail(Http1Fault::kMalformed, detail);
}

int Http1Parser::Refuse(Http1Fault fault, std::string_view detail) {
  fault_ = fault;
  detail_ = detail;
  return HPE_USER;
}

int Http1Parser::OnHeaderName() {
  if (headers_.entries().size() + hosts_ >= limits_.headers_max) {
    return Refuse(Http1Fault::kTooManyHeaders, {});
  }
  return 0;
}

int Http1Parser::OnHeaderValue() {
  // Blanks behind a value are not part of it.
  const size_t last = value_.find_last_not_of(" \t");
  value_.resize(last == std::string::npos ? 0 : last + 1);
  if (kind_ == Kind::kRequest && IsHost(name_)) {
    if (hosts_++ > 0) return Refuse(Http1Fault::kMalformed, "more than one Host");
    authority_ = std::exchange(value_, {});
    name_.clear();
    return 0;
  }
  // What frames the body is the parser's business.
  if (IsTransferEncoding(name_)) {
    if (encodings_++ > 0) return Refuse(Http1Fault::kMalformed, "more than one Transfer-Encoding");
    if (!EqualsIgnoringCase(value_, "chunked")) return Refuse(Http1Fault::kUnknownEncoding, {});
  } else {
    if (headers_.empty()) headers_.Reserve(kUsualHeaders);
    headers_.Add(std::exchange(name_, {}), std::exchange(value_, {}));
  }
  name_.clear();
  value_.clear();
  return 0;
}

int Http1Parser::OnHeadDone() {
  llhttp_t& state = State(state_);
  const bool encoded = (state.flags & F_TRANSFER_ENCODING) != 0;
  const bool chunked = (state.flags & F_CHUNKED) != 0;
  minor_version_ = state.http_minor;
  status_ = state.status_code;
  if (state.http_major != 1 || minor_version_ > 1) return Refuse(Http1Fault::kVersion, {});
  if (encoded && minor_version_ == 0) {
    return Refuse(Http1Fault::kMalformed, "Transfer-Encoding in HTTP/1.0");
  }
  if (kind_ == Kind::kRequest) {
    if (!IsHttpMethod(state.method)) return Refuse(Http1Fault::kUnknownMethod, {});
    if (encoded && !chunked) return Refuse(Http1Fault::kUnknownEncoding, {});
    if (hosts_ == 0 && minor_version_ == 1) return Refuse(Http1Fault::kMalformed, "no Host");
  } else {
    if (status_ < 100 || status_ > 999) return Refuse(Http1Fault::kMalformed, "status");
    const bool bodiless = status_ < 200 || status_ == 204 || status_ == 304 ||
                          answer_to_ == AnswerTo::kHead ||
                          (answer_to_ == AnswerTo::kConnect && status_ >= 200 && status_ < 300);
    if (bodiless) state.flags |= F_SKIPBODY;
  }
  // Whether the protocol changes is decided by who reads the answer, not by the parser.
  state.upgrade = 0;
  has_length_ = (state.flags & F_CONTENT_LENGTH) != 0;
  length_ = has_length_ ? state.content_length : 0;
  keep_alive_ = llhttp_should_keep_alive(&state) != 0;
  const bool until_close = kind_ == Kind::kResponse && !has_length_ && !chunked;
  has_body_ = (state.flags & F_SKIPBODY) == 0 && (chunked || until_close || length_ > 0);
  if (has_body_ && length_ > limits_.body_bytes_max) return Refuse(Http1Fault::kBodyTooLarge, {});
  stage_ = has_body_ ? Stage::kBody : Stage::kHeadDone;
  event_ = Event::kHead;
  return HPE_PAUSED;
}

int Http1Parser::OnChunk(uint64_t size) {
  if (size > limits_.body_bytes_max - body_bytes_) return Refuse(Http1Fault::kBodyTooLarge, {});
  return 0;
}

int Http1Parser::OnBody(std::string_view data) {
  if (data.empty()) return 0;
  if (data.size() > limits_.body_bytes_max - body_bytes_) {
    return Refuse(Http1Fault::kBodyTooLarge, {});
  }
  body_bytes_ += data.size();
  body_ = data;
  event_ = Event::kBody;
  return HPE_PAUSED;
}

}  // namespace denselet::net
