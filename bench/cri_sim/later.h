// Tasks for later that go with their owner: a timer that would find its world gone is disarmed.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "reactor/api/loop.h"

namespace denselet::cri_sim {

class Later {
 public:
  explicit Later(reactor::Loop& loop) : loop_(loop) {}
  Later(const Later&) = delete;
  Later& operator=(const Later&) = delete;
  ~Later() { Clear(); }

  void Run(Duration after, reactor::Task task) {
    const uint64_t key = ++last_;
    timers_[key] =
        loop_.Arm(After(loop_.Now(), after), [this, key, run = std::move(task)]() mutable {
          timers_.erase(key);
          run();
        });
  }
  void Clear() {
    for (const auto& [key, timer] : timers_) loop_.Disarm(timer);
    timers_.clear();
  }
  size_t size() const { return timers_.size(); }

 private:
  reactor::Loop& loop_;
  uint64_t last_ = 0;
  std::map<uint64_t, reactor::TimerId> timers_;
};

}  // namespace denselet::cri_sim
