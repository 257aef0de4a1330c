// The simulated loop, under several seeds.
#include "tests/fakes/loop_contract.h"

#include "tests/sim/world.h"

namespace denselet::reactor {
namespace {

class SimulatedLoop final : public LoopUnderTest {
 public:
  SimulatedLoop(uint64_t seed, const LoopOptions& options)
      : world_({.seed = seed, .shards = 1, .loop = options}) {}

  EventLoop& loop() override { return world_.loop(0); }
  // Time goes on when the loop has nothing to do, as it does on its own elsewhere.
  void RunOneTurn() override {
    if (world_.loop(0).Runnable()) return world_.loop(0).Turn();
    world_.Step();
  }
  bool RunUntil(const std::function<bool()>& done) override {
    while (!done() && world_.Step()) {
    }
    return done();
  }

 private:
  sim::World world_;
};

std::vector<LoopMaker> SimMakers() {
  std::vector<LoopMaker> makers;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    makers.push_back({"seed_" + std::to_string(seed), [seed](const LoopOptions& options) {
                        return std::make_unique<SimulatedLoop>(seed, options);
                      }});
  }
  return makers;
}

INSTANTIATE_TEST_SUITE_P(Simulated, LoopContract, testing::ValuesIn(SimMakers()), NameOfLoop);

}  // namespace
}  // namespace denselet::reactor
