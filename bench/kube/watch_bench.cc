// Ten thousand pods listed and each of them changed once: our client beside client-go's.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "bench/kube/benches.h"
#include "bench/network/child.h"
#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "tests/e2e/many_pods.h"
#include "tests/source_dir.h"

namespace denselet::bench {
namespace {

constexpr int kWatchRounds = 3;
constexpr double kShareMax = 0.25;

// What one process took.
struct Usage {
  double list_seconds = 0, list_cpu = 0, update_cpu = 0, cpu = 0, peak = 0;
};

struct Told {
  double cpu = 0, peak = 0;
};

double SecondsSince(const ApiAccess& api, TimePoint begin) {
  return std::chrono::duration<double>(api.clock().Now() - begin).count();
}

// A process that follows the pods, and what it says of itself.
class Follower {
 public:
  Follower(const ApiAccess& api, std::vector<std::string> command)
      : begin_(api.clock().Now()), child_(std::move(command)) {
    const Told listed = Read("listed");
    usage_.list_seconds = SecondsSince(api, begin_);
    usage_.list_cpu = listed.cpu;
  }

  // To be called when all was changed.
  Usage Finish() {
    const Told updated = Read("updated");
    usage_.update_cpu = updated.cpu - usage_.list_cpu;
    usage_.cpu = updated.cpu;
    usage_.peak = updated.peak;
    CHECK(child_.ReadLine() == "ok");
    return usage_;
  }

 private:
  Told Read(const std::string& what) {
    const std::string line = child_.ReadLine();
    Told told;
    const std::string format = what + " %lf %lf";
    CHECK(std::sscanf(line.c_str(), format.c_str(), &told.cpu, &told.peak) == 2);
    return told;
  }

  const TimePoint begin_;
  Child child_;
  Usage usage_;
};

void Work(ApiAccess& api, const e2e::ManyPods& pods) {
  api.RunUntil([&] { return !pods.busy(); });
  if (pods.failed()) std::fprintf(stderr, "%s\n", pods.failed()->message().c_str());
  CHECK(!pods.failed());
}

e2e::ManyPods MakePods(ApiAccess& api, size_t count) {
  std::ifstream file(tests::SourcePath("bench/codec/pod.json"));
  kube::core::Pod pod;
  CHECK(kube::DecodeJson(std::string(std::istreambuf_iterator<char>(file), {}), pod).ok());
  return e2e::ManyPods(
      api.client(),
      {.ns = "bench", .node = kBenchNode, .count = count, .pod = kube::EncodeWire(pod)});
}

double MedianOf(const std::vector<Usage>& all, double Usage::*part) {
  std::vector<double> samples;
  for (const Usage& usage : all) samples.push_back(usage.*part);
  return Percentile(samples, 0.5);
}

}  // namespace

void LoadPods(ApiAccess& api, size_t count, Report& report) {
  const TimePoint begin = api.clock().Now();
  e2e::ManyPods pods = MakePods(api, count);
  pods.Create();
  Work(api, pods);
  report.Show("load_seconds", "pods made and given a status, " + std::to_string(count),
              SecondsSince(api, begin), "s");
}

void BenchWatch(ApiAccess& api, size_t count, const std::string& own_program,
                const std::string& go_program, Report& report) {
  e2e::ManyPods pods = MakePods(api, count);
  const std::string number = std::to_string(count);
  std::vector<Usage> ours, theirs;
  std::vector<double> update_seconds;
  for (int round = 0; round < kWatchRounds; ++round) {
    // The lists one after the other; the updates are the same for both.
    const std::string label = "round-" + std::to_string(round);
    std::optional<Follower> go;
    if (!go_program.empty()) {
      go.emplace(api, std::vector<std::string>{go_program, kBenchNode, number, number});
    }
    Follower own(api, {own_program, "follow", kBenchNode, number, number, label});
    const TimePoint begin = api.clock().Now();
    pods.Label(label);
    Work(api, pods);
    ours.push_back(own.Finish());
    update_seconds.push_back(SecondsSince(api, begin));
    if (go) theirs.push_back(go->Finish());
  }
  report.Show("update_seconds", "updates, as fast as the server took them",
              Percentile(update_seconds, 0.5), "s");
  if (theirs.empty()) {
    std::puts("client-go was not measured: there is no Go here.");
    report.Show("watch_cpu_seconds", number + " pods, as many updates: CPU",
                MedianOf(ours, &Usage::cpu), "s");
    report.Show("watch_peak_bytes", "the same, peak memory", MedianOf(ours, &Usage::peak), "bytes");
    return;
  }
  const auto row = [&](const char* key, const std::string& work, double Usage::*part,
                       const char* unit, double scale, double limit) {
    report.Cost(key, work, MedianOf(ours, part) * scale, MedianOf(theirs, part) * scale, unit,
                limit);
  };
  row("watch_cpu_vs_client_go", number + " pods, as many updates: CPU", &Usage::cpu, "s", 1,
      kShareMax);
  row("list_cpu_vs_client_go", "  of that the list", &Usage::list_cpu, "s", 1, 0);
  row("update_cpu_vs_client_go", "  of that the updates", &Usage::update_cpu, "s", 1, 0);
  row("watch_rss_vs_client_go", "the same, peak memory", &Usage::peak, "MiB", 1.0 / (1 << 20),
      kShareMax);
  row("list_time_vs_client_go", "the list, from the start of the process", &Usage::list_seconds,
      "s", 1, 0);
}

}  // namespace denselet::bench
