// What a failed CHECK or a deadly signal (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) leaves behind:
// one line of JSON per crash, appended to a file that the next start can read, so that a pod that
// kills the process again and again is known.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"

namespace denselet::app {

// When the file is larger than this at the next crash it starts anew.
inline constexpr long kCrashRecordBytesMax = 64 * 1024;

// Installs the process-wide recorder (see SetCheckRecorder) and the handlers of deadly signals,
// which end the process by the signal all the same. Built with a sanitizer it leaves those to that.
// `clock` must live as long as the process. Refuses a path that is too long to keep without
// allocating.
Status InstallCrashRecorder(const std::string& path, const Clock& clock);

// The whole record; empty: there is none, or it cannot be read.
std::string ReadCrashRecord(const std::string& path);

// The pods under whose work the process died this often running since it last ended in order.
// Deaths under nobody's work do not count, neither for nor against. More than one can be: while the
// first is held back, the next shows.
inline constexpr int kDeathsToHoldBack = 3;
std::set<PodUid> PodsToHoldBack(std::string_view record);

// The process ends in order: what it died of before counts no more.
void ForgetCrashes(const std::string& path);

}  // namespace denselet::app
