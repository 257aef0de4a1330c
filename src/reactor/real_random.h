// Randomness of the agent: seeded once from the kernel, then computed. Not for secrets. One shard
// each.
#pragma once

#include "base/random.h"

namespace denselet::reactor {

class RealRandom final : public Random {
 public:
  RealRandom();
  uint64_t Next() override { return generator_.Next(); }

 private:
  SeededRandom generator_;
};

}  // namespace denselet::reactor
