// A PathWatcher of one simulated loop: whoever changes the disk says so, and the watches hear it
// after a while; hints may be lost, as some changes are not heard by a real one either.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "reactor/api/loop.h"
#include "reactor/api/path_watcher.h"

namespace denselet::sim {

struct WatchFaults {
  Duration delay_max = Milliseconds(5);
  double lost = 0;  // chance that a hint never comes
};

class SimPathWatcher final : public reactor::PathWatcher {
 public:
  SimPathWatcher(reactor::Loop& loop, Random& random) : loop_(loop), random_(random) {}

  WatchFaults& faults() { return faults_; }

  reactor::WatchId Watch(std::string path, reactor::PathChanged changed) override {
    const uint32_t index = ++last_;
    watches_.emplace(index, std::make_shared<Entry>(Entry{std::move(path), std::move(changed)}));
    return reactor::WatchId{{.index = index, .generation = 1}};
  }
  void Unwatch(reactor::WatchId watch) override { watches_.erase(watch.key.index); }

  // Something at this path or below it has changed.
  void Changed(std::string_view path) {
    for (const auto& [index, entry] : watches_) {
      const bool inside =
          path == entry->path || (path.starts_with(entry->path) && path[entry->path.size()] == '/');
      if (!inside || entry->due || random_.Unit() < faults_.lost) continue;
      entry->due = true;
      const auto delay =
          Duration(static_cast<int64_t>(random_.Below(uint64_t(faults_.delay_max.count()) + 1)));
      loop_.Arm(After(loop_.Now(), delay), [this, key = index] { Hear(key); });
    }
  }

 private:
  struct Entry {
    std::string path;
    reactor::PathChanged changed;
    bool due = false;
  };

  void Hear(uint32_t key) {
    const auto found = watches_.find(key);
    if (found == watches_.end()) return;
    const auto entry = found->second;  // lives through its own Unwatch
    entry->due = false;
    entry->changed();
  }

  reactor::Loop& loop_;
  Random& random_;
  WatchFaults faults_;
  uint32_t last_ = 0;
  std::map<uint32_t, std::shared_ptr<Entry>> watches_;
};

}  // namespace denselet::sim
