// A loop that knows how many timers are armed by who has it.
#pragma once

#include <memory>
#include <utility>

#include "reactor/api/loop.h"

namespace denselet::managers {

class CountingLoop final : public reactor::Loop {
 public:
  explicit CountingLoop(reactor::Loop& loop) : loop_(loop) {}

  int timers() const { return *armed_; }

  reactor::TimerId Arm(TimePoint when, reactor::Task task) override {
    ++*armed_;
    return loop_.Arm(when, [armed = armed_, task = std::move(task)]() mutable {
      --*armed;
      task();
    });
  }
  bool Disarm(reactor::TimerId timer) override {
    const bool was_armed = loop_.Disarm(timer);
    if (was_armed) --*armed_;
    return was_armed;
  }
  TimePoint Now() const override { return loop_.Now(); }
  WallTime WallNow() const override { return loop_.WallNow(); }
  void Post(reactor::Task task) override { loop_.Post(std::move(task)); }
  void DeferDelete(std::unique_ptr<reactor::Deletable> object) override {
    loop_.DeferDelete(std::move(object));
  }
  reactor::Io& io() override { return loop_.io(); }
  reactor::Activity& activity() override { return loop_.activity(); }

 private:
  reactor::Loop& loop_;
  const std::shared_ptr<int> armed_ = std::make_shared<int>(0);
};

}  // namespace denselet::managers
