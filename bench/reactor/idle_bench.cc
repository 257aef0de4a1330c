// A process with a hundred thousand timers armed far ahead: how much CPU does it use while nothing
// is due?
#include <sys/resource.h>

#include <latch>

#include "bench/reactor/benches.h"
#include "reactor/real_clock.h"
#include "reactor/shards.h"

namespace denselet::bench {
namespace {

using namespace reactor;

constexpr int kTimers = 100'000;
constexpr Duration kWatched = Seconds(3);

Duration CpuUsed() {
  rusage usage{};
  CHECK(::getrusage(RUSAGE_SELF, &usage) == 0);
  const auto of = [](const timeval& t) { return Seconds(t.tv_sec) + Microseconds(t.tv_usec); };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

double PercentOfACore(Backend backend) {
  const RealClock clock;
  auto shards = Shards::Start({.count = 2, .backend = backend}, clock);
  if (!shards) return 0;
  (*shards)->RunAndWait(0, [](Shard& shard) {
    for (int i = 0; i < kTimers; ++i)
      shard.loop().Arm(After(shard.loop().Now(), Hours(1) + Milliseconds(i)), [] {});
  });
  const Duration before = CpuUsed();
  const TimePoint begun = clock.Now();
  // The only timer that comes due: it ends the watch.
  std::latch over(1);
  (*shards)->RunAndWait(1, [&](Shard& shard) {
    shard.loop().Arm(After(shard.loop().Now(), kWatched), [&] { over.count_down(); });
  });
  over.wait();
  const Duration used = CpuUsed() - before;
  return 100.0 * static_cast<double>(used.count()) /
         static_cast<double>((clock.Now() - begun).count());
}

}  // namespace

void BenchIdle(Report& report) {
  report.AtMost("idle_100k_timers_cpu_percent", "idle, 100k timers, uring",
                PercentOfACore(Backend::kUring), "% of a core", 0.1);
  report.AtMost("idle_100k_timers_cpu_percent_epoll", "idle, 100k timers, epoll",
                PercentOfACore(Backend::kEpoll), "% of a core", 0.1);
}

}  // namespace denselet::bench
