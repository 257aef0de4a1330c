// Tells when a file or a directory changes, also across rename, deletion and re-creation of the
// watched path and its parents, swaps of links on the way to it, and overflow of the kernel's
// queue.
#pragma once

#include <string>

#include "base/slot_map.h"
#include "base/unique_function.h"

namespace denselet::reactor {

// Names a watch. A default one, or one that was ended, names nothing.
struct WatchId {
  SlotKey key;
  friend bool operator==(const WatchId&, const WatchId&) = default;
};

// A hint to look again, not a description: events are coalesced, there may be one too many, and
// when some may have been lost all watches hear.
using PathChanged = UniqueFunction<void()>;

class PathWatcher {
 public:
  virtual ~PathWatcher() = default;

  // A file: called after its content may have changed (written and closed, replaced, created,
  // deleted). A directory: also when entries come, go or change. `path` is absolute; neither it nor
  // its parents need to exist yet, and links are followed as open(2) follows them.
  //
  // Watch first, then look: what changes after this call is heard, what came shortly before may be.
  // `changed` runs in turns of the loop, at most once in each, never inside this call, until
  // Unwatch. Refused (a default id): beyond the watcher's bound, not an absolute path, or one with
  // a NUL byte, which names nothing.
  //
  // Not heard: writes through a mapping, truncate(2), what the kernel itself changes (proc, sysfs),
  // changes by other hosts on a network file system; in a directory, writes to an entry through
  // another link to it.
  virtual WatchId Watch(std::string path, PathChanged changed) = 0;

  // From here on `changed` does not run. Fine inside any callback, also the watch's own: what is
  // running is destroyed when it has returned. An id that names nothing is ignored.
  virtual void Unwatch(WatchId watch) = 0;
};

}  // namespace denselet::reactor
