// What ends the program: SIGTERM or SIGINT from outside, a word from one of its own threads, or
// somebody else who opens or removes a file that it was told to look at.
// Waited for by main and nobody else, so that no handler ever runs in the middle of something.
//
// SIGHUP is left as it is, as the kubelet leaves it: it ends the program at once.
//
// Owned by main; made before there are threads, which are born with the two signals blocked.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor {

class ProgramEnd {
 public:
  static Result<std::unique_ptr<ProgramEnd>> Make();

  struct Reason {
    int signal = 0;  // 0: another reason
    int exit_code = 0;
    bool file_opened = false;
  };
  // Nothing: the time is over. Not on a shard: it waits.
  std::optional<Reason> Wait(Duration wait_max);

  // From here on it is a reason, with exit code 0, that somebody opens or removes the file. Once.
  Status EndWhenOpened(const std::string& path);

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
  UniqueFd opened_;         // inotify
  std::atomic<bool> was_told_ = false;
};

}  // namespace denselet::reactor
