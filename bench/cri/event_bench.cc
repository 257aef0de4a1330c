// Events as fast as they come: everything on the client's side of the stream on one core.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/check.h"
#include "bench/cri/benches.h"
#include "bench/cri/cri_access.h"
#include "bench/cri/fast_server.h"
#include "bench/cri/usage.h"
#include "bench/network/child.h"
#include "cri/event_stream.h"

namespace denselet::bench {
namespace {

constexpr int kRounds = 5;
constexpr size_t kEvents = 200'000;
constexpr double kEventsPerSecondMin = 20'000;

struct Listener final : sync::RuntimeEventsUser {
  void OnPodHint(const sync::PodHint&) override { ++hints; }
  void OnHintsLost() override {}
  void OnStreamState(sync::EventStreamState) override {}
  uint64_t hints = 0;
};

}  // namespace

void BenchEvents(const CriPeers& peers, Report& report) {
  const FastServer server(peers.own, kEvents);
  std::vector<double> rates, cpu_us, hints;
  for (int round = 0; round < kRounds; ++round) {
    Child child(MeasuredCpu(), {peers.own, "drain", server.socket(), std::to_string(kEvents)});
    double seconds = 0, cpu = 0, told = 0;
    const std::string line = child.ReadLine();
    CHECK(std::sscanf(line.c_str(), "took %lf %lf %lf", &seconds, &cpu, &told) == 3);
    rates.push_back(static_cast<double>(kEvents) / seconds);
    cpu_us.push_back(cpu * 1e6 / static_cast<double>(kEvents));
    hints.push_back(told);
  }
  report.AtLeast("events_per_s", "events drained on one core, 1.6 kB each", Percentile(rates, 0.5),
                 "/s", kEventsPerSecondMin);
  report.Show("event_cpu_us", "  CPU of the client for one", Percentile(cpu_us, 0.5), "us");
  report.Show("event_hints", "  hints told of " + std::to_string(kEvents) + " events of 1000 pods",
              Percentile(hints, 0.5), "");
}

int DrainEvents(const std::string& socket, size_t events) {
  CriAccess access(socket);
  MetricSet<cri::CriMetric>& metrics = access.cri().metrics();
  const CounterCell& counted = metrics.Counter(cri::CriMetric::kEvents);
  Listener listener;
  const std::shared_ptr<cri::PodHints> hints =
      cri::PodHints::Make(access.shard(), listener, metrics);
  const double cpu = CpuSeconds();
  const TimePoint begun = access.clock().Now();
  {
    cri::EventStream stream(access.shard(), access.cri().runtime_client(), access.cri().runtime(),
                            access.random(), access.log(), metrics,
                            std::vector<std::shared_ptr<cri::PodHints>>{hints});
    stream.Start();
    access.RunUntil([&] { return counted.value() >= events; });
    const double seconds = std::chrono::duration<double>(access.clock().Now() - begun).count();
    std::printf("took %f %f %llu\n", seconds, CpuSeconds() - cpu,
                static_cast<unsigned long long>(listener.hints));
  }
  hints->Close();
  return 0;
}

}  // namespace denselet::bench
