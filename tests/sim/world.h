// A whole agent's worth of shards in one thread, on virtual time: everything that could differ
// between two runs (who is next, how long things take, what fails) is drawn from one seed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "reactor/shard.h"
#include "tests/sim/network.h"
#include "tests/sim/sim_loop.h"
#include "tests/sim/trace.h"

namespace denselet::sim {

struct WorldOptions {
  uint64_t seed = 1;
  uint32_t shards = 2;
  reactor::MailLimits mail = {};
  reactor::LoopOptions loop = {};
  Trace::Mode trace = Trace::Mode::kHash;
};

class World {
 public:
  explicit World(const WorldOptions& options);
  ~World();

  ManualClock& clock() { return clock_; }
  SeededRandom& random() { return random_; }
  Trace& trace() { return trace_; }
  Network& network() { return network_; }
  uint32_t size() const { return static_cast<uint32_t>(shards_.size()); }
  reactor::Shard& shard(uint32_t i) { return *shards_[i]; }
  SimLoop& loop(uint32_t i) { return *loops_[i]; }

  void Note(std::string_view what) { trace_.Add(clock_.Now(), what); }
  // Runs a task outside of all loops, later.
  void Later(Duration delay, UniqueFunction<void()> task);

  // One turn of one loop that has something to do, chosen by the seed; or, when none has, time goes
  // on to the next event. False: nothing will ever happen any more.
  bool Step();
  uint64_t turns() const { return turns_; }  // of loops, so far
  // Steps until virtual time `end`, where the clock then stands, or until nothing is left.
  void RunUntil(TimePoint end);

 private:
  TimePoint NextEvent() const;

  ManualClock clock_;
  SeededRandom random_;
  Trace trace_;
  // By time, then by the order in which they were asked for.
  std::map<std::pair<TimePoint, uint64_t>, UniqueFunction<void()>> later_;
  uint64_t later_count_ = 0;
  uint64_t turns_ = 0;
  Network network_;
  std::vector<reactor::Shard*> all_;
  std::vector<std::unique_ptr<SimLoop>> loops_;
  std::vector<SimLoop*> runnable_;  // of one step
  std::vector<std::unique_ptr<reactor::Shard>> shards_;
};

}  // namespace denselet::sim
