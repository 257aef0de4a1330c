// One inotify instance: kernel watches, and their events as they come out of its queue. Owned by an
// InotifyWatcher, used on the loop's thread; destroying it ends all kernel watches.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_function.h"
#include "reactor/api/io.h"
#include "reactor/api/loop.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor {

struct InotifyEvent {
  int wd;                 // the kernel watch; -1 when the queue overflowed
  uint32_t mask;          // IN_...
  std::string_view name;  // the directory's entry; empty: the watched thing itself
};

class InotifyQueue {
 public:
  // Must not destroy the queue.
  using OnEvent = UniqueFunction<void(const InotifyEvent&)>;

  // An instance; the kernel allows a user only so many (fs.inotify.max_user_instances).
  static Result<UniqueFd> OpenInstance();

  // `on_event` runs in turns of the loop, for one batch of bounded size in each.
  InotifyQueue(Loop& loop, UniqueFd instance, OnEvent on_event);
  ~InotifyQueue();
  InotifyQueue(const InotifyQueue&) = delete;
  InotifyQueue& operator=(const InotifyQueue&) = delete;

  // The kernel watch of what is at `path` now, whose last component is not followed: its number, or
  // a negative errno. There is one for an inode, however often it is added; adding again adds
  // events to its mask and takes none away.
  int Add(const std::string& path, uint32_t mask);
  // The kernel gives numbers in a circle, so that an event still queued for this one finds nobody.
  void Remove(int wd);

 private:
  struct Source;

  void Wait();
  void WaitLater();
  void OnReady(int32_t result);
  void RunEvents(std::span<const std::byte> batch);

  Loop& loop_;
  OnEvent on_event_;
  // Shared with the operation under way: the loop needs the descriptor until that has called back,
  // which is after the end of the queue when it is cancelled by it.
  const std::shared_ptr<Source> source_;
  OpId wait_;
  TimerId retry_;
};

}  // namespace denselet::reactor
