// What a failed CHECK leaves behind: one line of JSON per crash, appended to a file that the next
// start can read, so that a pod that kills the process again and again is known.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace denselet::app {

// When the file is larger than this at the next crash it starts anew.
inline constexpr long kCrashRecordBytesMax = 64 * 1024;

// Installs the process-wide recorder (see SetCheckRecorder). `clock` must live as long as the
// process. Refuses a path that is too long to keep without allocating.
Status InstallCrashRecorder(const std::string& path, const Clock& clock);

}  // namespace denselet::app
