// How foreign text is written into a log line: escaped as klog (Go's strconv.Quote) or zap do, and
// cut where it does not fit. For log_format alone.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/log_format.h"
#include "base/log_line_writer.h"

namespace denselet::internal {

// The inside of a quoted string; what does not fit in `room` bytes is cut.
void PutEscaped(LineWriter& line, LogStyle style, std::string_view text, size_t room);
void PutQuoted(LineWriter& line, LogStyle style, std::string_view text, size_t room);
// klog's form for values of several lines: as they are, each behind a tab, between "<" and " >".
void PutLines(LineWriter& line, std::string_view text, size_t room);

}  // namespace denselet::internal
