// The way from gRPC's threads to the simulator's shard: an unbounded line with one mark in the
// shard's mail while it is not empty, so that nothing is refused; calls bound it themselves, since
// each has a few entries at most.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "reactor/shards.h"

namespace denselet::cri_sim {

class Inbox {
 public:
  explicit Inbox(reactor::Shards& shards) : shards_(shards) {}

  // Any thread. What comes when the shards have stopped is destroyed unrun, later.
  void Post(reactor::Task task) {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = tasks_.empty();
      tasks_.push_back(std::move(task));
    }
    if (!first) return;
    (void)shards_.TryPost(0, [this](reactor::Shard&) { Run(); });
  }

 private:
  void Run() {
    std::vector<reactor::Task> tasks;
    {
      const std::lock_guard lock(mutex_);
      tasks.swap(tasks_);
    }
    for (reactor::Task& task : tasks) task();
  }

  reactor::Shards& shards_;
  std::mutex mutex_;
  std::vector<reactor::Task> tasks_;
};

}  // namespace denselet::cri_sim
