#include "tests/sim/scenario.h"

namespace denselet::sim {
namespace {

constexpr Duration kTroubled = Seconds(5);
constexpr Duration kPeaceMax = Minutes(10);
constexpr uint64_t kStepsMax = 10'000'000;

// Small mailboxes: the interesting things happen when they are full.
WorldOptions OptionsFor(uint64_t seed, Trace::Mode mode) {
  WorldOptions options;
  options.seed = seed;
  options.shards = 3;
  options.mail = {.requests_max = 8, .replies_max = 16, .hints_max = 8};
  options.trace = mode;
  return options;
}

}  // namespace

ScenarioResult RunReactorScenario(uint64_t seed, Trace::Mode mode) {
  World world(OptionsFor(seed, mode));
  ScenarioResult result;
  {
    world.network().faults() = {.delay_max = Milliseconds(20), .reset = 0.01, .silence = 0.005};
    std::vector<std::unique_ptr<Actor>> actors;
    actors.push_back(MakeTimerActor(world));
    actors.push_back(MakeMailActor(world));
    actors.push_back(MakeEchoActor(world));
    actors.push_back(MakeFileActor(world));
    world.RunUntil(world.clock().Now() + kTroubled);

    world.Note("peace");
    world.network().faults() = {};
    for (const auto& actor : actors) actor->Finish();
    const TimePoint limit = world.clock().Now() + kPeaceMax;
    uint64_t steps = 0;
    while (world.clock().Now() < limit && steps < kStepsMax && world.Step()) ++steps;
    if (world.clock().Now() >= limit || steps == kStepsMax) {
      result.problems.push_back("did not come to rest");
    }
    for (const auto& actor : actors) actor->Check(result.problems);
  }
  result.trace_hash = world.trace().hash();
  result.trace_lines = world.trace().lines();
  result.virtual_time = world.clock().Now().time_since_epoch();
  return result;
}

}  // namespace denselet::sim
