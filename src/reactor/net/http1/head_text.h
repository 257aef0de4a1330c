// Heads of HTTP/1 messages as they stand on the wire.
//
// Headers that could not stand in a message without changing its shape (a line end in a value that
// came from elsewhere) are left out, and so are those that frame the body: they are said here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "reactor/net/http/message.h"

namespace denselet::net {

// How the end of a body is told.
struct BodyFraming {
  enum class Kind : uint8_t {
    kNone,     // there is no body, and nothing is said about one
    kLength,   // Content-Length: `length`
    kChunked,  //
    kClose,    // it ends with the connection
  };
  Kind kind = Kind::kNone;
  uint64_t length = 0;
};

enum class AfterMessage : uint8_t { kKeepAlive, kClose, kUpgrade };

// The Date header's line, made anew once a second.
class DateLine {
 public:
  // "Date: Tue, 03 Nov 2026 08:49:37 GMT\r\n"
  std::string_view At(WallTime now);

 private:
  int64_t second_ = INT64_MIN;
  char line_[38];
};

void AppendNumber(std::string& out, uint64_t number);
void AppendHeader(std::string& out, std::string_view name, std::string_view value);

// Up to where `headers` come.
void AppendStatusLine(std::string& out, int status);
void AppendFraming(std::string& out, const BodyFraming& framing);
// All of them but Content-Length, Transfer-Encoding, Connection (kUpgrade keeps it) and Host.
void AppendHeaders(std::string& out, const Headers& headers, AfterMessage after);

// The chunk's head, its data and its end.
void AppendChunk(std::string& out, std::string_view data);

// The value of a Content-Length that the user gave; nothing when it is no number.
std::optional<uint64_t> LengthIn(const Headers& headers);

size_t TextBytes(const Headers& headers);  // at least what AppendHeaders needs

}  // namespace denselet::net
