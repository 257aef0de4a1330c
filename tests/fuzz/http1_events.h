// What a parser of HTTP/1 makes of some input, in a form that does not depend on how the input was
// cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "reactor/net/http1/parser.h"

namespace denselet::net {

inline constexpr Http1Limits kFuzzLimits = {
    .head_bytes_max = 600, .headers_max = 8, .body_bytes_max = 2000};

struct Http1Events {
  std::vector<std::string> lines;  // heads, whole bodies, ends
  std::string body;                // of a message that has not ended
  Http1Fault fault = Http1Fault::kNone;
};

inline std::string HeadLine(Http1Parser& parser, Http1Parser::Kind kind) {
  std::string line;
  const auto add = [&](std::string_view text) { line.append(text).append("|"); };
  Headers headers;
  if (kind == Http1Parser::Kind::kRequest) {
    HttpRequest request = parser.TakeRequest();
    add(request.method), add(request.target), add(request.authority);
    CHECK(IsHeaderName(request.method) && IsRequestTarget(request.target));
    headers = std::move(request.headers);
  } else {
    HttpResponseHead head = parser.TakeResponse();
    add(std::to_string(head.status));
    CHECK(head.status >= 100 && head.status <= 999);
    headers = std::move(head.headers);
  }
  CHECK(headers.entries().size() <= kFuzzLimits.headers_max);
  for (const auto& [name, value] : headers.entries()) {
    add(name), add(value);
    CHECK(IsHeaderName(name) && IsHeaderValue(value));
  }
  add(std::to_string(parser.minor_version()));
  add(parser.keep_alive() ? "keep" : "close");
  add(parser.has_body() ? "body" : "none");
  CHECK(!parser.has_body() || parser.length() <= kFuzzLimits.body_bytes_max);
  return line;
}

// `step`: how many bytes at a time.
inline Http1Events EventsOf(Http1Parser::Kind kind, Http1Parser::AnswerTo answer_to,
                            std::string_view input, size_t step) {
  Http1Parser parser(kind, kFuzzLimits);
  parser.ExpectAnswerTo(answer_to);
  Http1Events events;
  size_t left = 4 * input.size() + 16;  // no event without progress
  while (true) {
    // A copy: reading beyond its end, or what was given before, is found.
    const std::string piece(input.substr(0, step));
    input.remove_prefix(piece.size());
    std::string_view rest = piece;
    for (bool more = true; more;) {
      CHECK(left-- > 0);
      switch (parser.Next(rest)) {
        case Http1Parser::Event::kMore:
          CHECK(rest.empty());
          more = false;
          break;
        case Http1Parser::Event::kHead:
          events.lines.push_back(HeadLine(parser, kind));
          break;
        case Http1Parser::Event::kBody:
          CHECK(parser.body().data() >= piece.data());
          CHECK(parser.body().data() + parser.body().size() <= piece.data() + piece.size());
          events.body += parser.body();
          CHECK(events.body.size() <= kFuzzLimits.body_bytes_max);
          break;
        case Http1Parser::Event::kEnd:
          events.lines.push_back("end " + std::exchange(events.body, {}));
          break;
        case Http1Parser::Event::kFault:
          events.fault = parser.fault();
          CHECK(events.fault != Http1Fault::kNone);
          CHECK(parser.Next(rest) == Http1Parser::Event::kFault);
          return events;
      }
    }
    if (input.empty()) break;
  }
  if (parser.EndsHere()) events.lines.push_back("end " + std::exchange(events.body, {}));
  return events;
}

// The same heads, ends and verdict; at a fault the last body may have got further in one of them,
// and a flood of framing may be noticed before or after what else is wrong with it.
inline void CheckSame(const Http1Events& a, const Http1Events& b) {
  CHECK(a.lines == b.lines);
  CHECK((a.fault == Http1Fault::kNone) == (b.fault == Http1Fault::kNone));
  if (a.fault == Http1Fault::kNone) {
    CHECK(a.body == b.body);
    return;
  }
  CHECK(a.fault == b.fault || a.fault == Http1Fault::kChunkOverhead ||
        b.fault == Http1Fault::kChunkOverhead);
  CHECK(a.body.starts_with(b.body) || b.body.starts_with(a.body));
}

inline void CheckCuts(Http1Parser::Kind kind, Http1Parser::AnswerTo answer_to,
                      std::string_view input) {
  const Http1Events whole = EventsOf(kind, answer_to, input, std::max<size_t>(input.size(), 1));
  for (const size_t step : {size_t{1}, size_t{7}, input.size() / 2 + 1}) {
    CheckSame(whole, EventsOf(kind, answer_to, input, step));
  }
}

}  // namespace denselet::net
