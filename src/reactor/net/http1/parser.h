// Takes HTTP/1 messages apart, for both sides. The parser is asked for the next event and given
// bytes: it calls nobody back, so whoever uses it may stop, or go away, between any two events.
//
// Strict: what two readers could understand differently (two lengths, folded lines, bare line ends,
// odd chunk sizes) is a fault. Bodies are handed out as they lie in the input and never collected;
// trailers are dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "reactor/net/http/message.h"
#include "reactor/net/http1/fault.h"

namespace denselet::net {

struct Http1Limits {
  size_t head_bytes_max = 32 * 1024;  // all lines of the head together
  size_t headers_max = 128;
  uint64_t body_bytes_max = UINT64_MAX;
};

class Http1Parser {
 public:
  enum class Kind : uint8_t { kRequest, kResponse };
  enum class Event : uint8_t {
    kMore,   // all input is used up
    kHead,   // the head is whole
    kBody,   // a part of the body: body()
    kEnd,    // the message is whole; what is left of the input belongs to the next one
    kFault,  // fault() and detail(); the last event
  };

  Http1Parser(Kind kind, const Http1Limits& limits);
  Http1Parser(const Http1Parser&) = delete;  // the state points at it
  Http1Parser& operator=(const Http1Parser&) = delete;

  // Takes what it used off the front of `input`.
  Event Next(std::string_view& input);
  // The peer sends no more. True: that was the end of the message, as its head said.
  bool EndsHere();

  // The next response has no body, whatever its head says: it answers HEAD, or CONNECT when it is
  // a good one.
  enum class AnswerTo : uint8_t { kOther, kHead, kConnect };
  void ExpectAnswerTo(AnswerTo request) { answer_to_ = request; }

  // Has any byte of the message been seen (between kEnd and the next)? Line ends in front of a
  // request count.
  bool begun() const { return head_bytes_ > 0; }
  bool in_body() const { return stage_ == Stage::kBody; }

  // From kHead on, until the next message.
  HttpRequest TakeRequest();
  HttpResponseHead TakeResponse();
  bool keep_alive() const { return keep_alive_; }
  int minor_version() const { return minor_version_; }
  bool has_body() const { return has_body_; }
  bool has_length() const { return has_length_; }
  uint64_t length() const { return length_; }  // if has_length()
  std::string_view body() const { return body_; }

  Http1Fault fault() const { return fault_; }
  std::string_view detail() const { return detail_; }

 private:
  enum class Stage : uint8_t { kHead, kHeadDone, kBody, kFault };
  struct Calls;  // what the library calls

  void Begin();
  Event Parse(std::string_view& input);
  Event Fail(Http1Fault fault, std::string_view detail);
  Event FailOfLibrary(int error);
  int OnHeaderName();
  int OnHeaderValue();
  int OnHeadDone();
  int OnChunk(uint64_t size);
  int OnBody(std::string_view data);
  int Refuse(Http1Fault fault, std::string_view detail);
  bool CountOverhead(size_t used);

  // The library's state, in place: its header stays in parser.cc.
  static constexpr size_t kStateBytes = 104;
  alignas(8) std::byte state_[kStateBytes];

  const Http1Limits& limits_;
  size_t head_bytes_ = 0;
  size_t overhead_bytes_ = 0;
  uint64_t body_bytes_ = 0;
  uint64_t length_ = 0;
  int status_ = 0;
  const Kind kind_;
  Stage stage_ = Stage::kHead;
  AnswerTo answer_to_ = AnswerTo::kOther;
  Event event_ = Event::kMore;
  Http1Fault fault_ = Http1Fault::kNone;
  uint8_t minor_version_ = 1;
  uint8_t hosts_ = 0, encodings_ = 0;
  bool target_whole_ = false;
  bool paused_ = false;
  bool keep_alive_ = false, has_body_ = false, has_length_ = false;
  std::string_view body_, detail_;
  std::string target_, authority_;  // of the head that is being read
  std::string name_, value_;
  Headers headers_;
};

}  // namespace denselet::net
