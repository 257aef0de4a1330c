// One child process as the kernel sees it: start, kill, end. Nothing here waits for a loop; what is
// done with the pipes and when a child must die is process_runner's.
//
// Nobody in the program may wait for children in general (waitpid(-1)): a number whose process was
// reaped behind our back may be another's by the time we kill its group.
#pragma once

#include <sys/types.h>

#include <optional>
#include <utility>

#include "base/result.h"
#include "reactor/api/process.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor {

// What the program as a whole must have; once, at its start, before it has threads. SIGPIPE is
// ignored: it would end the agent when a child does not read its input. SIGCHLD is not, as a parent
// may have left it to us: the kernel would reap our children itself. Descriptors 0, 1 and 2 are
// open: otherwise our ends of pipes get these numbers, and are in the way where the child's ends
// go. The CPUs that the process may use are remembered: those of children, whichever shard starts
// them.
void PrepareForChildren();
bool IsPreparedForChildren();

// SIGKILL to the groups of all children that were not reaped, up to a thousand of them. Safe in a
// handler of signals: for an end at which nobody is left to stop them. (The kernel could do it, at
// the death of the thread that started a child, but posix_spawn cannot ask for that.)
void KillChildren();

// A child that was started and not reaped: for so long its number, and its group's, cannot be
// used again. The descriptor is readable when it has ended.
class Child {
 public:
  struct End {
    int exit_code = 0;  // meaningful when signal is 0
    int signal = 0;
  };

  Child(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  Child(Child&& other) noexcept
      : pid_(std::exchange(other.pid_, kReaped)), pidfd_(std::move(other.pidfd_)) {}
  Child& operator=(Child&&) = delete;
  // A child that was not reaped is killed with its group; blocks until it has ended, a second at
  // most. Only for a loop that goes while children run: nobody is left to tell of their end.
  ~Child();

  int pidfd() const { return pidfd_.get(); }

  // SIGKILL to everything that the child started and that did not leave its group.
  void KillGroup() const;
  // How it ended; nothing while it runs, or while a tracer has its end before us. Does not reap.
  std::optional<End> PeekEnd() const;
  // For one that has ended.
  void Reap();

 private:
  static constexpr pid_t kReaped = 0;
  pid_t pid_;
  UniqueFd pidfd_;
};

struct Spawned {
  Child child;
  UniqueFd input;  // none when the spec has no input: then the child reads /dev/null
  UniqueFd output;
  UniqueFd error_output;
};

// The child leads a session and group of its own, has every signal at its default and none blocked,
// the CPUs of the process, and no descriptors but 0, 1 and 2. Blocks until exec has happened or
// failed: the program's file is opened meanwhile, so it should not lie on a filesystem that can
// hang.
Result<Spawned> Spawn(const ProcessSpec& spec);

}  // namespace denselet::reactor
