// Tells when the mount table changes: something was mounted, unmounted, moved or remounted in the
// mount namespace of the thread that made the watcher. Lives on the shard of its loop, owned by
// whoever made it; not to be destroyed inside its own callback (DeferDelete is for that).
//
// The kernel tells of a change once: the poll that sees it forgets it (mounts_poll, in
// fs/proc_namespace.c). A loop on epoll polls more often than it tells us, when it arms and again
// when it wakes up, so a plain Io::Poll of the table would lose changes there. Therefore an epoll
// instance of our own stands between, edge-triggered: a change puts the table on its ready list,
// where it stays, however often that is polled, until we take it. The table itself need not be read
// for that.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/unique_function.h"
#include "reactor/api/io.h"
#include "reactor/api/loop.h"

namespace denselet::reactor {

class MountWatcher {
 public:
  // A hint to read the mount table again.
  using Changed = UniqueFunction<void()>;

  // `changed` runs in turns of the loop, at most once in each, after one or more changes since Make
  // or since it began to run the last time.
  static Result<std::unique_ptr<MountWatcher>> Make(Loop& loop, Changed changed);
  ~MountWatcher();
  MountWatcher(const MountWatcher&) = delete;
  MountWatcher& operator=(const MountWatcher&) = delete;

 private:
  struct Source;

  MountWatcher(Loop& loop, std::shared_ptr<Source> source, Changed changed);

  void Poll();
  void OnPolled(int32_t result);

  Loop& loop_;
  Changed changed_;
  // Shared with the poll under way: the loop needs the descriptor until that has called back, which
  // is after the end of the watcher when it is cancelled by it.
  const std::shared_ptr<Source> source_;
  OpId poll_;
  TimerId retry_;
};

}  // namespace denselet::reactor
