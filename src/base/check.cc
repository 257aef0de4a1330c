#include "base/check.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace denselet {
namespace {

thread_local const WorkScope* current_work = nullptr;
std::atomic<CheckRecorder> check_recorder{nullptr};
std::atomic<bool> failing{false};
thread_local bool failing_here = false;

const char* BaseName(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

}  // namespace

WorkScope::WorkScope(std::string_view pod, std::string_view uid)
    : pod_(pod), uid_(uid), outer_(current_work) {
  current_work = this;
}

WorkScope::~WorkScope() { current_work = outer_; }

const WorkScope* WorkScope::Current() { return current_work; }

void SetCheckRecorder(CheckRecorder recorder) { check_recorder.store(recorder); }

void CheckFailed(const char* file, int line, const char* condition) {
  CheckFailure failure{BaseName(file), line, condition, {}, {}};
  if (current_work != nullptr) {
    failure.pod = current_work->pod();
    failure.uid = current_work->uid();
  }
  // Of two threads that fail at once the second waits for the first to end the process: its abort()
  // would cut the record short.
  if (failing.exchange(true) && !failing_here) failing.wait(true);
  failing_here = true;
  std::fprintf(stderr, "CHECK failed at %s:%d: %s", failure.file, line, condition);
  if (!failure.pod.empty() || !failure.uid.empty()) {
    std::fprintf(stderr, " (while working on pod %.*s, uid %.*s)",
                 static_cast<int>(failure.pod.size()), failure.pod.data(),
                 static_cast<int>(failure.uid.size()), failure.uid.data());
  }
  std::fputc('\n', stderr);
  // The recorder may fail a CHECK of its own: it is taken out before it runs, so the second time
  // only aborts.
  if (CheckRecorder recorder = check_recorder.exchange(nullptr)) recorder(failure);
  std::abort();
}

Error EnsureFailed(const char* file, int line, const char* condition, std::string_view what) {
  std::string message(what);
  message.append(" (").append(BaseName(file)).append(":").append(std::to_string(line));
  message.append(": ").append(condition).append(" does not hold)");
  return Error(ErrorCode::kBug, std::move(message));
}

}  // namespace denselet
