// Two ways to say "this cannot be":
//   CHECK(cond)          the process is wrong: print what and which pod, leave a record, abort. On
//                        in release builds.
//   ENSURE(cond, "...")  one pod's work is wrong: return Error(kBug) from a function that returns
//                        Result, so that only this pod suffers. Everything that handles a pod's
//                        data uses this one.
// Neither is for input from outside: that is an Error with kInvalid or kCorrupt.
#pragma once

#include <string_view>

#include "base/error.h"

namespace denselet {

// Names what the current thread is working on, for the record of a failed CHECK. Nests: the
// innermost speaks. The strings must outlive the scope.
class WorkScope {
 public:
  WorkScope(std::string_view pod, std::string_view uid);
  ~WorkScope();
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

  std::string_view pod() const { return pod_; }
  std::string_view uid() const { return uid_; }

  static const WorkScope* Current();

 private:
  std::string_view pod_;
  std::string_view uid_;
  const WorkScope* outer_;
};

struct CheckFailure {
  const char* file;
  int line;
  const char* condition;
  std::string_view pod;  // empty when no WorkScope was open
  std::string_view uid;
};

// Leaves the record of a failed CHECK; runs on the failing thread before abort() and must not
// allocate or lock. One per process, set once at start (app/crash_record). Without one only
// standard error gets the line.
using CheckRecorder = void (*)(const CheckFailure&);
void SetCheckRecorder(CheckRecorder recorder);

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

// The error of a failed ENSURE: kBug, with place and condition, so that a report names the line.
Error EnsureFailed(const char* file, int line, const char* condition, std::string_view what);

}  // namespace denselet

#define CHECK(condition)                                       \
  do {                                                         \
    if (!(condition)) [[unlikely]]                             \
      ::denselet::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (false)

#define ENSURE(condition, what)                                                \
  do {                                                                         \
    if (!(condition)) [[unlikely]]                                             \
      return ::denselet::EnsureFailed(__FILE__, __LINE__, #condition, (what)); \
  } while (false)
