// How often a shard could ask what to do about a pod.
#include <algorithm>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "bench/sync/benches.h"
#include "reactor/real_clock.h"
#include "tests/sync/decide/scene.h"

namespace denselet::bench {
namespace {

using sync::tests::ParseScene;
using sync::tests::Scene;

constexpr int kRounds = 9;
constexpr int kCallsOfRound = 20'000;

double CallsPerSecond(const Scene& scene) {
  const reactor::RealClock clock;
  std::vector<double> rates;
  for (int round = 0; round < kRounds; ++round) {
    const TimePoint began = clock.Now();
    size_t waits = 0;
    for (int i = 0; i < kCallsOfRound; ++i) {
      waits += std::holds_alternative<sync::Wait>(sync::Decide(scene.Input()).action) ? 1 : 0;
    }
    CHECK(waits == 0 || waits == kCallsOfRound);
    const double seconds = std::chrono::duration<double>(clock.Now() - began).count();
    rates.push_back(kCallsOfRound / seconds);
  }
  return Percentile(rates, 0.5);
}

}  // namespace

void BenchDecide(Report& report) {
  report.Show(
      "decide_calls_per_s", "Decide: a pod of two containers that run",
      CallsPerSecond(ParseScene("Always c:app c:side", "sb0=ready app/0=running side/0=running")),
      "calls/s");
  report.Show("decide_start_calls_per_s", "  one whose second container is to be made",
              CallsPerSecond(ParseScene("Always c:app c:side", "sb0=ready app/0=running")),
              "calls/s");
}

}  // namespace denselet::bench
