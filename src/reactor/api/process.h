// Child processes: started without copying the agent's memory, watched by descriptor, bounded in
// time and output, and killed as a group.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "base/unique_function.h"

namespace denselet::reactor {

struct ProcessSpec {
  // argv[0] is the path of the program: no search. A relative one is seen from working_directory.
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=value"; nothing is inherited
  std::string working_directory;         // empty: the agent's
  // Given on standard input, which then ends. A child that does not read all of it is no error.
  std::string input;
  size_t output_bytes_max = 1 << 20;  // of standard output and of standard error, each
};

struct ProcessResult {
  int exit_code = 0;  // meaningful when signal is 0
  int signal = 0;     // the signal that ended it
  std::string output;
  std::string error_output;
  // More came than output_bytes_max; the rest was read and dropped, so the child was not held up.
  bool output_cut = false;
  // The child ended, but something it had started kept its output open. It was waited for a short
  // time and then killed with the group; what it would still have written is missing.
  bool output_held_open = false;
};

using ProcessDone = UniqueFunction<void(Result<ProcessResult>)>;

class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;

  // Calls back once, in a later turn, when the child has ended and its output is read. A program
  // that ran is a result, whatever its exit code. Errors:
  //   the program could not be started   the code of its errno: kNotFound, kPermission, ...
  //   the spec makes no sense            kInvalid
  //   more children than the bound       kOverloaded; not started
  //   deadline, cancel before the start  kDeadlineExceeded, kCancelled; nothing was started
  //   deadline, cancel later             kUnknownOutcome, kCancelled: the whole process group got
  //                                      SIGKILL and the child has ended; what it had done stays
  //                                      done
  //   killed, but still there            kUnknownOutcome: the kernel has not let go of it for a
  //                                      while. It is reaped in the background and counts towards
  //                                      the bound until then; it may still do what it was doing.
  // A child that has ended well leaves the processes that it started in the background alone,
  // unless they keep its output open (see output_held_open).
  virtual void Run(const Context& context, ProcessSpec spec, ProcessDone done) = 0;
};

}  // namespace denselet::reactor
