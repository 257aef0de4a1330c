// What a container said last: the end of its termination message file, or of its log.
//
// Pure functions but for ReadTail, which hands its work from callback to callback.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"
#include "reactor/api/file_system.h"

namespace denselet::managers {

constexpr size_t kMessageBytesMax = 4096;
constexpr size_t kLogLinesMax = 80;
constexpr size_t kLogBytesMax = 2048;
// That many bytes of a log hold the last lines, or as much of them as is told: runtimes break lines
// at 16 KiB.
constexpr size_t kLogTailBytesMax = 64 * 1024;

struct FileTail {
  std::string bytes = {};
  bool whole = true;  // there is nothing before them
};

// The last bytes of a regular file. kInvalid: it is something else.
void ReadTail(reactor::FileSystem& files, const Context& context, std::string path,
              size_t bytes_max, reactor::Done<FileTail> done);

// What was written, of the last lines of a log in CRI's format: parts of a line are put together,
// lines in no such format are left out.
std::string LastOfLog(const FileTail& tail);

// Each byte that is no UTF-8 becomes U+FFFD, as it would on its way to the API server.
std::string ToText(std::string_view bytes);

}  // namespace denselet::managers
