// What ends the program: SIGTERM or SIGINT from outside, or a word from one of its own threads.
// Waited for by main and nobody else, so that no handler ever runs in the middle of something.
//
// SIGHUP is left as it is, as the kubelet leaves it: it ends the program at once.
//
// Owned by main; made before there are threads, which are born with the two signals blocked.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor {

class ProgramEnd {
 public:
  static Result<std::unique_ptr<ProgramEnd>> Make();

  struct Reason {
    int signal = 0;  // 0: one of our own threads
    int exit_code = 0;
  };
  // Nothing: the time is over. Not on a shard: it waits.
  std::optional<Reason> Wait(Duration wait_max);

  // Any thread, any number of times: the first counts.
  void Tell(int exit_code);

  // From here on the program takes no longer than this: whatever hangs then, it ends with 1, and so
  // it does at a second signal. Main, once the end has begun.
  static void Hurry(Seconds time_max);

 private:
  ProgramEnd(UniqueFd signals, UniqueFd told)
      : signals_(std::move(signals)), told_(std::move(told)) {}

  const UniqueFd signals_;  // signalfd
  const UniqueFd told_;     // eventfd; holds the exit code plus one
  std::atomic<bool> was_told_ = false;
};

}  // namespace denselet::reactor
