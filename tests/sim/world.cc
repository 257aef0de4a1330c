#include "tests/sim/world.h"

#include <algorithm>

namespace denselet::sim {

World::World(const WorldOptions& options)
    : random_(options.seed),
      trace_(options.trace),
      network_(clock_, random_, [this](Duration delay, UniqueFunction<void()> task) {
        Later(delay, std::move(task));
      }) {
  for (uint32_t i = 0; i < options.shards; ++i) {
    loops_.push_back(std::make_unique<SimLoop>(clock_, options.loop, network_));
    shards_.push_back(
        std::make_unique<reactor::Shard>(i, *loops_.back(), options.shards, options.mail, all_));
    all_.push_back(shards_.back().get());
  }
}

World::~World() = default;

void World::Later(Duration delay, UniqueFunction<void()> task) {
  later_.emplace(std::pair(clock_.Now() + delay, later_count_++), std::move(task));
}

TimePoint World::NextEvent() const {
  TimePoint next = later_.empty() ? kNever : later_.begin()->first.first;
  for (const auto& loop : loops_) next = std::min(next, loop->NextWork());
  return next;
}

bool World::Step() {
  if (!later_.empty() && later_.begin()->first.first <= clock_.Now()) {
    auto task = std::move(later_.begin()->second);
    later_.erase(later_.begin());
    task();
    return true;
  }
  runnable_.clear();
  TimePoint next = later_.empty() ? kNever : later_.begin()->first.first;
  for (const auto& loop : loops_) {
    const TimePoint work = loop->NextTurn();
    next = std::min(next, work);
    if (work <= clock_.Now()) runnable_.push_back(loop.get());
  }
  if (!runnable_.empty()) {
    ++turns_;
    runnable_[random_.Below(runnable_.size())]->Turn();
    return true;
  }
  if (next == kNever) return false;
  clock_.Advance(std::max(next - clock_.Now(), Duration(0)));
  return true;
}

void World::RunUntil(TimePoint end) {
  while (clock_.Now() < end) {
    const bool idle =
        std::none_of(loops_.begin(), loops_.end(), [](const auto& l) { return l->Runnable(); });
    if (idle && NextEvent() >= end) {
      clock_.Advance(end - clock_.Now());
      return;
    }
    if (!Step()) return;
  }
}

}  // namespace denselet::sim
