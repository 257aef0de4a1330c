// A real loop of each backend that this kernel has, driven on the test's own thread.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reactor/event_loop.h"
#include "reactor/real_clock.h"
#include "reactor/shard.h"
#include "tests/integration/slowness.h"

namespace denselet::reactor {

inline std::vector<Backend> AvailableBackends() {
  const RealClock clock;
  std::vector<Backend> backends = {Backend::kEpoll};
  if (ProbeBackend(clock) == Backend::kUring) backends.push_back(Backend::kUring);
  return backends;
}

// None where this kernel has no io_uring or forbids it.
inline std::vector<Backend> UringIfAvailable() {
  std::vector<Backend> backends = AvailableBackends();
  std::erase(backends, Backend::kEpoll);
  return backends;
}

inline const Duration kPatience = Patiently(Seconds(20));

// Turns until `done()`; fails the test when that takes longer than kPatience.
template <class Predicate>
[[nodiscard]] bool RunLoopUntil(EventLoop& loop, const Clock& clock, Predicate done) {
  const TimePoint limit = After(clock.Now(), kPatience);
  while (!done()) {
    if (clock.Now() > limit) {
      ADD_FAILURE() << "nothing happened for " << FormatDuration(kPatience);
      return false;
    }
    // Short sleeps: what makes done() true may happen before the loop would go to sleep for long.
    loop.RunTurn(After(clock.Now(), Milliseconds(2)));
  }
  return true;
}

inline std::string NameOfBackend(const testing::TestParamInfo<Backend>& info) {
  return std::string(BackendName(info.param));
}

// Use: class MyTest : public LoopTest {}; INSTANTIATE_LOOP_TEST(MyTest); TEST_P(MyTest, Behaviour)
// {...}
class LoopTest : public testing::TestWithParam<Backend> {
 protected:
  LoopTest() : loop_(*MakeEventLoop(GetParam(), clock_)) {}

  Loop& loop() { return *loop_; }
  Io& io() { return loop_->io(); }

  template <class Predicate>
  [[nodiscard]] bool RunUntil(Predicate done) {
    return RunLoopUntil(*loop_, clock_, std::move(done));
  }

  RealClock clock_;
  std::unique_ptr<EventLoop> loop_;
};

// The same with a shard around the loop, for what posts from other threads.
class ShardTest : public LoopTest {
 protected:
  ShardTest() : shard_(0, *loop_, 1, MailLimits{}, all_) { all_.push_back(&shard_); }

  std::vector<Shard*> all_;
  Shard shard_;
};

}  // namespace denselet::reactor

#define INSTANTIATE_LOOP_TEST(Fixture)                                                  \
  INSTANTIATE_TEST_SUITE_P(Loops, Fixture,                                              \
                           testing::ValuesIn(::denselet::reactor::AvailableBackends()), \
                           ::denselet::reactor::NameOfBackend)
