// Disarm one timer and arm another, with a million armed: the wheel against std::multimap.
#include <map>
#include <vector>

#include "base/random.h"
#include "bench/reactor/benches.h"
#include "reactor/real_clock.h"
#include "reactor/timer_wheel.h"

namespace denselet::bench {
namespace {

constexpr size_t kArmed = 1'000'000;
constexpr size_t kSwaps = 500'000;
constexpr int kRounds = 5;

TimePoint RandomTime(Random& random) {
  return TimePoint(Milliseconds(static_cast<int64_t>(random.Below(600'000))));
}

double Rate(Duration took) {
  return static_cast<double>(kSwaps) / (static_cast<double>(took.count()) / 1e9);
}

class WheelUnderTest {
 public:
  explicit WheelUnderTest(Random& random) {
    for (size_t i = 0; i < kArmed; ++i) ids_.push_back(wheel_.Arm(RandomTime(random), [] {}));
  }
  void Swap(Random& random) {
    reactor::TimerId& id = ids_[random.Below(kArmed)];
    CHECK(wheel_.Disarm(id));
    id = wheel_.Arm(RandomTime(random), [] {});
  }

 private:
  reactor::TimerWheel wheel_{TimePoint()};
  std::vector<reactor::TimerId> ids_;
};

class MapUnderTest {
 public:
  explicit MapUnderTest(Random& random) {
    for (size_t i = 0; i < kArmed; ++i) ids_.push_back(map_.emplace(RandomTime(random), [] {}));
  }
  void Swap(Random& random) {
    auto& id = ids_[random.Below(kArmed)];
    map_.erase(id);
    id = map_.emplace(RandomTime(random), [] {});
  }

 private:
  using Map = std::multimap<TimePoint, reactor::Task>;
  Map map_;
  std::vector<Map::iterator> ids_;
};

template <class Subject>
double MeasureSwaps(Subject& subject, Random& random) {
  const reactor::RealClock clock;
  const TimePoint begun = clock.Now();
  for (size_t i = 0; i < kSwaps; ++i) subject.Swap(random);
  return Rate(clock.Now() - begun);
}

}  // namespace

void BenchTimers(Report& report) {
  SeededRandom random(1);
  WheelUnderTest wheel(random);
  MapUnderTest map(random);
  std::vector<double> ours, theirs;
  for (int round = 0; round < kRounds; ++round) {
    ours.push_back(MeasureSwaps(wheel, random));
    theirs.push_back(MeasureSwaps(map, random));
  }
  report.Ratio("timer_vs_multimap", "timer disarm+arm at 1M armed", Percentile(ours, 0.5),
               Percentile(theirs, 0.5), "/s", 5);
}

}  // namespace denselet::bench
