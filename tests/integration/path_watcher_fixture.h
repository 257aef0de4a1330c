// A path watcher on each real loop, a folder of its own to watch, and small helpers to change
// files.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "reactor/inotify_watcher.h"
#include "reactor/unique_fd.h"
#include "tests/integration/loop_fixture.h"

namespace denselet::reactor {

namespace fs = std::filesystem;

inline void Write(const fs::path& path, std::string_view content) {
  std::ofstream(path) << content;
}

inline std::string Read(const fs::path& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

// Atomically, as a careful writer does.
inline void Replace(const fs::path& path, std::string_view content) {
  const fs::path fresh = path.parent_path() / ".fresh";
  Write(fresh, content);
  std::error_code ignored;
  fs::rename(fresh, path, ignored);
}

inline void SwapLink(const fs::path& link, const fs::path& target) {
  const fs::path fresh = link.parent_path() / ".fresh_link";
  std::error_code ignored;
  fs::create_symlink(target, fresh, ignored);
  fs::rename(fresh, link, ignored);
}

// Of all inotify instances of this process, as the kernel counts.
inline size_t KernelWatches() {
  size_t count = 0;
  for (const auto& info : fs::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream lines(info.path());
    for (std::string line; std::getline(lines, line);) count += line.starts_with("inotify wd:");
  }
  return count;
}

class PathWatcherTest : public LoopTest {
 protected:
  PathWatcherTest() {
    std::string name = testing::TempDir() + "path_watcher.XXXXXX";
    dir_ = ::mkdtemp(name.data());
    fs::create_directory(dir_ / "sentinel");
    Make({});
  }
  ~PathWatcherTest() override {
    watcher_.reset();
    fs::remove_all(dir_);
  }

  void Make(const InotifyWatcherOptions& options) {
    watcher_ = *InotifyWatcher::Make(loop(), options);
    sentinels_ = 0;
    ASSERT_NE(watcher_->Watch(dir_ / "sentinel", [this] { ++sentinels_; }), WatchId{});
  }

  WatchId Watch(const fs::path& path, int& heard) {
    return watcher_->Watch(path, [&heard] { ++heard; });
  }

  // Until everything done so far was heard: the queue keeps order, so one more change that comes
  // through shows that all before it have. A directory, because its making is a single event.
  void Quiesce() {
    const int before = sentinels_;
    fs::create_directory(dir_ / "sentinel" / std::to_string(++sentinels_made_));
    ASSERT_TRUE(RunUntil([&] { return sentinels_ > before; }));
  }

  // For the change that `act` makes; a turn that ends in its midst makes two of one.
  template <class Act>
  void ExpectHeard(const int& heard, Act act) {
    Quiesce();
    const int before = heard;
    act();
    Quiesce();
    EXPECT_GT(heard, before);
  }

  fs::path dir_;
  std::unique_ptr<InotifyWatcher> watcher_;
  int sentinels_ = 0;
  int sentinels_made_ = 0;
};

}  // namespace denselet::reactor
