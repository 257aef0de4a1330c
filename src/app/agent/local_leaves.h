// The machine as the code on one shard reaches it: files, changes of files, child processes, names
// of hosts.
//
// Made on its shard. Stops in two steps: Stop(), which answers when the last operation has ended,
// and then the destructor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "managers/node/host_calls.h"
#include "reactor/blocking_pool.h"
#include "reactor/inotify_watcher.h"
#include "reactor/net/resolve.h"
#include "reactor/pool_file_system.h"
#include "reactor/process_runner.h"
#include "reactor/shared_mount.h"

namespace denselet::app {

class LocalLeaves {
 public:
  static Result<std::unique_ptr<LocalLeaves>> Make(reactor::Shard& shard,
                                                   reactor::BlockingPool& pool) {
    Result<std::unique_ptr<reactor::InotifyWatcher>> watcher =
        reactor::InotifyWatcher::Make(shard.loop());
    if (!watcher) return watcher.error().With("watch files");
    return std::unique_ptr<LocalLeaves>(new LocalLeaves(shard, pool, *std::move(watcher)));
  }

  reactor::FileSystem& files() { return files_; }
  reactor::PathWatcher& watcher() { return *watcher_; }
  reactor::ProcessRunner& processes() { return processes_; }
  node::HostCalls& host_calls() { return host_calls_; }

  void Lookup(const Context& context, const std::string& host, uint16_t port,
              reactor::Done<std::vector<net::Address>> done) {
    net::Resolve(shard_, pool_, context, host, port, std::move(done));
  }

  // True: it was not one.
  void MakeSharedMount(const Context& context, const std::string& path, reactor::Done<bool> done) {
    pool_.Run<bool>(
        shard_, context, {"share", path}, [path] { return reactor::MakeSharedMount(path); },
        std::move(done));
  }

  void Stop(reactor::Task stopped) { files_.Stop(std::move(stopped)); }

 private:
  LocalLeaves(reactor::Shard& shard, reactor::BlockingPool& pool,
              std::unique_ptr<reactor::InotifyWatcher> watcher)
      : shard_(shard),
        pool_(pool),
        files_(shard, pool),
        watcher_(std::move(watcher)),
        processes_(shard.loop()),
        host_calls_(shard, pool) {}

  reactor::Shard& shard_;
  reactor::BlockingPool& pool_;
  reactor::PoolFileSystem files_;
  const std::unique_ptr<reactor::InotifyWatcher> watcher_;
  reactor::RealProcessRunner processes_;
  node::RealHostCalls host_calls_;
};

}  // namespace denselet::app
