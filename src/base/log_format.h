// How a log line looks: byte for byte as the kubelet's, so that what parses its logs parses ours.
//
// Text is klog's form. The header's time is local, the number after it is the thread's:
//   I1116 13:32:21.123456   12345 pod_worker.cc:123] "Started container" pod="ns/name" restarts=3
// JSON is what the kubelet's --logging-format=json writes, with the time in milliseconds:
//   {"ts":1763299941123.4568,"caller":"sync/pod_worker.cc:123","msg":"Started container","v":0,...}
//
// Where we differ: NaN and infinities are "NaN", "+Inf" and "-Inf" in text too (klog prints an
// internal error); a key given twice appears once in JSON too, by klog's rule that the last one
// wins (zap writes both, which strict parsers refuse); an object's name is escaped, since a static
// pod's name is logged before it is validated; code points that are not yet assigned are not
// escaped in text, because which ones those are changes with every version of Unicode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/log_value.h"
#include "base/time.h"

namespace denselet {

// klog's severities. FATAL is not among them: CHECK speaks for itself.
enum class Severity : uint8_t { kInfo, kWarning, kError };

enum class LogStyle : uint8_t { kText, kJson };

struct LogFormat {
  LogStyle style = LogStyle::kText;
  Seconds utc_offset{0};  // of the local time zone, for the header of text lines
  uint64_t thread_id = 0;
};

// Everything a line says, borrowed for the time of the call.
struct LogRecord {
  WallTime time;
  Severity severity = Severity::kInfo;
  int32_t verbosity = 0;
  std::string_view file;  // relative to src/, as LogMessage gives it
  uint32_t line = 0;
  std::string_view message;
  std::string_view logger;           // "sync.worker", or empty
  std::span<const LogPair> carried;  // from WithValues, at most kCarriedPairsMax
  const Error* error = nullptr;      // of Logger::Error
  std::span<const LogPair> pairs;    // of this call, at most kPairsMax
};

inline constexpr size_t kCarriedPairsMax = 32;
inline constexpr size_t kPairsMax = 24;

// A line never grows past its buffer. And when full? The value that does not fit is cut between two
// characters, as late as leaves room for short pairs behind it (a giant error must not hide which
// pod it was); pairs that find no room are left out; and the line ends with the pair cutBytes, the
// bytes of values and keys that are missing. It stays one well-formed line.
inline constexpr size_t kLineBytesMax = 16 * 1024;
inline constexpr size_t kLineBytesMin = 256;

// Formats into `buffer` (kLineBytesMin bytes or more) and returns the line, with its '\n', inside
// it. A multi-line value makes a multi-line text line, as in klog; a JSON line is always one line.
std::string_view FormatLine(const LogFormat& format, const LogRecord& record,
                            std::span<char> buffer);

}  // namespace denselet
