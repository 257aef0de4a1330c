// Cross-shard post: a message to another shard and one back, against two threads that do the same
// with eventfds. Idle: nothing else happens, both sides sleep between messages. Loaded: both sides
// also have local work in every turn, a task on the shards, the same amount of computing beside the
// eventfds.
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "bench/reactor/benches.h"
#include "reactor/real_clock.h"
#include "reactor/shards.h"

namespace denselet::bench {
namespace {

using namespace reactor;

constexpr int kRounds = 5;
constexpr int kTripsPerRound = 20'000;

// Cold: idle, and the shards go to sleep at once instead of looking for an answer first.
enum class Load { kIdle, kLoaded, kCold };

// A few microseconds of computing.
void LocalWork() {
  volatile uint64_t sink = 0;
  for (uint64_t i = 0; i < 2000; ++i) sink = sink + i;
}

// One message back and forth. Its state is touched by whichever shard has the ball.
struct PingPong {
  RealClock clock;
  Shard* home = nullptr;
  Shard* other = nullptr;
  std::vector<double> micros;
  TimePoint begun;
  int left = kTripsPerRound;
  std::latch done{1};

  void Serve(Shard& shard) {
    if (left-- == 0) {
      done.count_down();
      return;
    }
    begun = clock.Now();
    CHECK(shard.Send(1, Context{}, [this](const QueuedContext&) {
      CHECK(other->Send(0, Context{}, [this](const QueuedContext&) {
        micros.push_back(static_cast<double>((clock.Now() - begun).count()) / 1000);
        Serve(*home);
      }));
    }));
  }
};

// A task that posts itself again until told to stop.
void KeepBusy(Shard& shard, std::atomic<bool>& stop) {
  if (stop.load(std::memory_order_relaxed)) return;
  LocalWork();
  shard.loop().Post([&] { KeepBusy(shard, stop); });
}

std::vector<double> OurTrips(Shards& shards, Load load) {
  PingPong game;
  std::atomic<bool> stop = false;
  shards.RunAndWait(1, [&](Shard& shard) { game.other = &shard; });
  if (load == Load::kLoaded) {
    for (uint32_t i = 0; i < 2; ++i)
      shards.RunAndWait(i, [&](Shard& shard) { KeepBusy(shard, stop); });
  }
  shards.RunAndWait(0, [&](Shard& shard) {
    game.home = &shard;
    game.Serve(shard);
  });
  game.done.wait();
  stop = true;
  for (uint32_t i = 0; i < 2; ++i) shards.RunAndWait(i, [](Shard&) {});
  return std::move(game.micros);
}

void PinThread(std::thread& thread, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  (void)::pthread_setaffinity_np(thread.native_handle(), sizeof set, &set);
}

std::vector<double> EventfdTrips(Load load) {
  const std::vector<int> cpus = AllowedCpus();
  const int ping = ::eventfd(0, EFD_CLOEXEC), pong = ::eventfd(0, EFD_CLOEXEC);
  std::vector<double> micros;
  std::thread echo([&] {
    uint64_t value = 0;
    for (int i = 0; i < kTripsPerRound; ++i) {
      CHECK(::read(ping, &value, sizeof value) == sizeof value);
      if (load == Load::kLoaded) LocalWork();
      CHECK(::write(pong, &value, sizeof value) == sizeof value);
    }
  });
  std::thread asker([&] {
    const RealClock clock;
    uint64_t value = 1;
    for (int i = 0; i < kTripsPerRound; ++i) {
      const TimePoint begun = clock.Now();
      CHECK(::write(ping, &value, sizeof value) == sizeof value);
      if (load == Load::kLoaded) LocalWork();
      CHECK(::read(pong, &value, sizeof value) == sizeof value);
      micros.push_back(static_cast<double>((clock.Now() - begun).count()) / 1000);
    }
  });
  PinThread(asker, cpus[0]);
  PinThread(echo, cpus[1 % cpus.size()]);
  asker.join();
  echo.join();
  ::close(ping);
  ::close(pong);
  return micros;
}

struct Medians {
  std::vector<double> p50, p99;
  void Add(std::vector<double> trips) {
    p50.push_back(Percentile(trips, 0.5));
    p99.push_back(Percentile(trips, 0.99));
  }
};

void Compare(Report& report, Shards& shards, Backend backend, Load load) {
  Medians ours, theirs;
  for (int round = 0; round < kRounds; ++round) {
    ours.Add(OurTrips(shards, load));
    theirs.Add(EventfdTrips(load));
  }
  // Rates: one round trip per so many microseconds.
  const auto rate = [](std::vector<double>& samples) { return 1e6 / Percentile(samples, 0.5); };
  const bool idle = load == Load::kIdle;
  const std::string kind = idle ? "idle" : load == Load::kLoaded ? "loaded" : "cold";
  const std::string name(BackendName(backend));
  const std::string key = "post" + (idle ? "" : "_" + kind) + "_vs_eventfd";
  const std::string suffix = backend == Backend::kUring ? "" : "_" + name;
  const std::string work = "cross-shard post, " + kind + ", " + name;
  // The goal is stated for the idle median.
  const double goal = idle ? 1.0 : 0;
  report.Ratio(key + suffix, work + ", median", rate(ours.p50), rate(theirs.p50), "trips/s", goal);
  report.Ratio(key + "_p99" + suffix, work + ", p99", rate(ours.p99), rate(theirs.p99), "trips/s",
               0);
}

}  // namespace

void BenchPost(Report& report) {
  const RealClock clock;
  for (const Backend backend : {Backend::kUring, Backend::kEpoll}) {
    auto shards = Shards::Start({.count = 2, .backend = backend}, clock);
    if (!shards) continue;  // this kernel has no io_uring
    Compare(report, **shards, backend, Load::kIdle);
    Compare(report, **shards, backend, Load::kLoaded);
    (*shards)->Stop();
    shards = Shards::Start({.count = 2, .backend = backend, .loop = {.spin_max = Duration::zero()}},
                           clock);
    CHECK(shards);
    Compare(report, **shards, backend, Load::kCold);
  }
}

}  // namespace denselet::bench
