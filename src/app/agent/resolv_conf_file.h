// The node's resolv.conf, read once at the start and again whenever it changes.
//
// Lives on the API shard; destroying it ends it.
#pragma once

#include <string>
#include <utility>

#include "base/cancel.h"
#include "base/result.h"
#include "base/unique_function.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "reactor/api/path_watcher.h"

namespace denselet::app {

class ResolvConfFile {
 public:
  static constexpr size_t kBytesMax = 10 * 1024 * 1024;  // as upstream
  static constexpr Duration kReadTimeMax = Seconds(10);

  // `path` empty: there is none, and nobody is told of it but once.
  ResolvConfFile(reactor::Loop& loop, reactor::FileSystem& files, reactor::PathWatcher& watcher,
                 std::string path, UniqueFunction<void(Result<std::string>)> tell)
      : loop_(loop),
        files_(files),
        watcher_(watcher),
        path_(std::move(path)),
        tell_(std::move(tell)) {}
  ~ResolvConfFile() {
    cancel_.Cancel();
    watcher_.Unwatch(watch_);
  }
  ResolvConfFile(const ResolvConfFile&) = delete;
  ResolvConfFile& operator=(const ResolvConfFile&) = delete;

  // Answers in a later turn, when the file was read for the first time and told.
  void Start(reactor::Task told) {
    if (path_.empty()) {
      loop_.Post([this, alive = cancel_.token(), told = std::move(told)]() mutable {
        if (alive.cancelled()) return;
        tell_(std::string());
        told();
      });
      return;
    }
    watch_ = watcher_.Watch(path_, [this] { Read([] {}); });
    Read(std::move(told));
  }

 private:
  // One at a time: what changes meanwhile is read after it.
  void Read(reactor::Task told) {
    if (reading_) {
      again_ = true;
      return told();
    }
    reading_ = true;
    Context context;
    context.deadline = After(loop_.Now(), kReadTimeMax);
    context.cancel = cancel_.token();
    files_.ReadFile(
        context, path_, kBytesMax,
        [this, alive = cancel_.token(), told = std::move(told)](Result<std::string> text) mutable {
          if (alive.cancelled()) return;
          reading_ = false;
          tell_(std::move(text));
          told();
          if (std::exchange(again_, false)) Read([] {});
        });
  }

  reactor::Loop& loop_;
  reactor::FileSystem& files_;
  reactor::PathWatcher& watcher_;
  const std::string path_;
  UniqueFunction<void(Result<std::string>)> tell_;
  CancelSource cancel_;
  reactor::WatchId watch_ = {};
  bool reading_ = false;
  bool again_ = false;
};

}  // namespace denselet::app
