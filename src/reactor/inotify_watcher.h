// Path watching on inotify, which knows inodes and not paths: so the watcher keeps, for each path,
// a kernel watch on every directory in which a step of its resolution is looked up, links included,
// and walks the path again whenever one of these steps changes. Lives on the shard of its loop,
// owned by whoever made it; may go with watches alive, but not inside one of its callbacks
// (DeferDelete is for that).
//
//   watched: /pod/config      /pod/config -> ..data/config      /pod/..data -> ..2024_x
//   trail:   / "pod"   /pod "config"   /pod "..data"   /pod "..2024_x"   /pod/..2024_x "config"
//            and the file itself, for writes
//
// Nothing is lost between looking and watching: a directory is watched before it is looked into,
// and the path is walked before its callback runs. So what changes meanwhile makes an event that
// leads to a further walk.
//
// Walking blocks the loop's thread on the file system (two calls for each step, answered from the
// kernel's cache as a rule). A path on a network file system that hangs would hang the shard: there
// are none among what the agent watches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/slot_map.h"
#include "base/time.h"
#include "reactor/api/loop.h"
#include "reactor/api/path_watcher.h"
#include "reactor/inotify_queue.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor {

// As often as the kubelet looks at its files without being told (fileCheckFrequency).
inline constexpr Duration kRecheckPeriod = Seconds(20);

struct InotifyWatcherOptions {
  uint32_t watches_max = 4096;  // further ones are refused
  // Watches heard of in one turn, with their walks; the rest waits for the next turn.
  size_t watches_per_turn_max = 64;
  Duration recheck_period = kRecheckPeriod;
};

struct InotifyWatcherStats {
  size_t watches = 0;
  // Of these, the ones for which the kernel gave no watch (fs.inotify.max_user_watches reached, no
  // permission): they hear every recheck_period, until it does.
  size_t watches_blind = 0;
  uint64_t events = 0;
  uint64_t overflows = 0;  // of the kernel's queue; after each all watches hear
  uint64_t walks = 0;
  uint64_t callbacks = 0;
};

class InotifyWatcher final : public PathWatcher {
 public:
  static Result<std::unique_ptr<InotifyWatcher>> Make(Loop& loop,
                                                      const InotifyWatcherOptions& options = {});
  ~InotifyWatcher() override;

  WatchId Watch(std::string path, PathChanged changed) override;
  void Unwatch(WatchId watch) override;

  // Walks all paths anew; those that lead elsewhere hear. For what inotify does not tell: something
  // mounted over a part of a path (see MountWatcher).
  void LookAgain();

  InotifyWatcherStats stats() const;

 private:
  // One step of a path's resolution: `name` looked up in a directory. An empty name: the end of the
  // path, of which every event matters.
  struct Step {
    int wd;
    std::string name;
    friend auto operator<=>(const Step&, const Step&) = default;
  };
  struct Walked {
    std::vector<Step> trail;  // sorted, no duplicates
    bool blind = false;       // a change may not be heard
  };
  struct Entry {
    std::string path;
    PathChanged changed;  // not here while it runs
    Walked walked;
    bool queued = false;  // in heard_
    bool walk_due = false;
    bool tell_due = false;
  };
  // Who wants to hear of what, by kernel watch and name.
  struct Interest {
    int wd;
    std::string name;
    SlotKey watch;
  };
  struct Place {
    int wd;
    std::string_view name;
  };
  struct InterestOrder {
    using is_transparent = void;
    bool operator()(const Interest& a, const Interest& b) const;
    bool operator()(const Interest& a, const Place& b) const;
    bool operator()(const Place& a, const Interest& b) const;
    bool operator()(const Interest& a, int wd) const { return a.wd < wd; }
    bool operator()(int wd, const Interest& b) const { return wd < b.wd; }
  };
  enum class Due : uint8_t { kTell, kWalk, kWalkAndTell };

  class PathWalk;

  InotifyWatcher(Loop& loop, const InotifyWatcherOptions& options, UniqueFd instance);

  // Walks the path and moves the interests to the new trail. True: it is not the old one.
  bool Walk(SlotKey key, Entry& entry);
  void AddInterests(SlotKey key, const std::vector<Step>& trail);
  // Those of `trail` that are not in `kept`; kernel watches that nobody wants any more end.
  void DropInterests(SlotKey key, const std::vector<Step>& trail, const std::vector<Step>& kept);

  void OnEvent(const InotifyEvent& event);
  void Hear(SlotKey key, Entry& entry, Due due);
  void HearAt(const Place& place, Due due);
  void HearAll(Due due);
  void ArmRunHeard();
  void RunHeard();
  void Settle(SlotKey key);
  void Tell(SlotKey key);
  void Recheck();

  Loop& loop_;
  const InotifyWatcherOptions options_;
  InotifyQueue queue_;
  SlotMap<Entry> watches_;
  std::set<Interest, InterestOrder> interests_;
  std::deque<SlotKey> heard_;  // with something due, each once, oldest first
  TimerId run_heard_;          // armed from the first heard on
  TimerId recheck_;            // armed while a watch is blind
  InotifyWatcherStats stats_;
};

}  // namespace denselet::reactor
