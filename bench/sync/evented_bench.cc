// A thousand static pods on a runtime with events.
#include <algorithm>
#include <set>
#include <string>

#include "bench/sync/agent_node.h"

namespace denselet::bench {
namespace {

constexpr double kMegabyte = 1e6;
constexpr Duration kStartLimit = Seconds(60);
constexpr Duration kIdle = Seconds(20);
constexpr Duration kCalm = Seconds(3);  // before a measurement of idleness

constexpr int kChurnSteps = 120;
constexpr Duration kChurnStep = Milliseconds(100);
constexpr size_t kChurnPodsOfStep = 10;
constexpr size_t kChurnStepsOfLife = 30;

std::string NameOf(size_t number) { return "pod-" + std::to_string(number); }

// From zero to running; what the agent had to ask for it.
void Start(AgentNode& node, Report& report) {
  for (size_t i = 0; i < kSyncPods; ++i) node.Stage(NameOf(i));
  const uint64_t calls = Sum(node.Calls());
  const ProcessUsage before = node.AgentUsage();
  const TimePoint began = node.clock().Now();
  for (size_t i = 0; i < kSyncPods; ++i) node.Publish(NameOf(i));
  node.WaitFor("all running", kStartLimit, [&] { return node.State().running == kSyncPods; });
  const double wall = ToSeconds(node.clock().Now() - began);
  const double cpu = node.AgentUsage().cpu_seconds - before.cpu_seconds;
  node.Settle(began);
  const ProcessUsage after = node.AgentUsage();
  report.AtMost("start_1000_s", "1000 static pods from zero to running", wall, "s", 1.5);
  report.Show("start_1000_cpu_s", "  CPU of the agent until then", cpu, "s");
  report.Show("start_1000_all_cpu_s", "  CPU until nothing is asked any more",
              after.cpu_seconds - before.cpu_seconds, "s");
  report.AtMost("cri_calls_per_start", "  calls to the runtime for each",
                static_cast<double>(Sum(node.Calls()) - calls) / kSyncPods, "", 6);
  report.Show("rss_started_mb_1000", "  resident memory of the agent right after it",
              after.rss_bytes / kMegabyte, "MB");
}

// `empty` is what the agent used without pods.
void Idle(const AgentNode& node, const ProcessUsage& empty, Report& report) {
  node.Pass(kCalm);
  const double cpu = node.AgentUsage().cpu_seconds;
  const TimePoint began = node.clock().Now();
  node.Pass(kIdle);
  const ProcessUsage after = node.AgentUsage();
  const double used = after.cpu_seconds - cpu;
  report.AtMost("idle_cpu_pct_evented_1000", "idle, 1000 pods, events",
                used / ToSeconds(node.clock().Now() - began) * 100, "% of a core", 0.5);
  report.AtMost("rss_mb_1000", "  resident memory of the agent", after.rss_bytes / kMegabyte, "MB",
                40);
  report.Show("rss_private_mb_1000", "    of that not backed by files",
              after.private_bytes / kMegabyte, "MB");
  report.Show("rss_mb_0", "    and with no pods", empty.rss_bytes / kMegabyte, "MB");
  report.Show("memory_per_pod_kb", "    growth for each pod",
              (after.rss_bytes - empty.rss_bytes) / 1e3 / kSyncPods, "kB");
}

void Restart(AgentNode& node, Report& report) {
  const std::set<std::string> running = node.RunningContainers();
  node.KillAgent();
  node.Ask(R"({"do":"resetCounters"})");
  const TimePoint began = node.clock().Now();
  node.StartAgent();
  const Duration took = node.Settle(began, Seconds(2));
  if (node.RunningContainers() != running) node.GiveUp("a restart of the agent changed containers");
  std::map<std::string, uint64_t> calls = node.Calls();
  for (const char* method : {"RunPodSandbox", "CreateContainer", "StartContainer", "StopContainer",
                             "StopPodSandbox", "RemoveContainer", "RemovePodSandbox"}) {
    if (calls[method] != 0) node.GiveUp("a restart of the agent called " + std::string(method));
  }
  report.Show("restart_1000_s", "restart with 1000 pods, until all is adopted", ToSeconds(took),
              "s");
  report.Show("restart_1000_cpu_s", "  CPU of the agent", node.AgentUsage().cpu_seconds, "s");
  report.Show("cri_calls_per_adoption", "  calls to the runtime for each pod",
              static_cast<double>(Sum(calls)) / kSyncPods, "");
}

// A hundred pods come and a hundred go each second, beside a thousand that stay.
void Churn(AgentNode& node, Report& report) {
  size_t next = kSyncPods, first = kSyncPods;
  uint64_t behind_max = 0;
  const double cpu = node.AgentUsage().cpu_seconds;
  const TimePoint began = node.clock().Now();
  for (int step = 0; step < kChurnSteps; ++step) {
    for (size_t i = 0; i < kChurnPodsOfStep; ++i, ++next) {
      node.Stage(NameOf(next));
      node.Publish(NameOf(next));
      if (next - first < kChurnPodsOfStep * kChurnStepsOfLife) continue;
      node.Withdraw(NameOf(first++));
    }
    const uint64_t wished = kSyncPods + next - first, running = node.State().running;
    behind_max = std::max(behind_max, wished - std::min(wished, running));
    node.Pass(std::max(began + (step + 1) * kChurnStep - node.clock().Now(), Duration::zero()));
  }
  const double wall = ToSeconds(node.clock().Now() - began);
  const double used = node.AgentUsage().cpu_seconds - cpu;
  const TimePoint ended = node.clock().Now();
  for (; first < next; ++first) node.Withdraw(NameOf(first));
  node.WaitFor("the end of the churn", kStartLimit, [&] {
    const RuntimeState state = node.State();
    return state.running == kSyncPods && state.sandboxes == kSyncPods;
  });
  const double pods = static_cast<double>(next - kSyncPods);
  report.Show("churn_pods_per_s", "churn beside 1000 pods: begun and ended each second",
              pods / wall, "pods/s");
  report.Show("churn_cpu_pct", "  CPU of the agent meanwhile", used / wall * 100, "% of a core");
  report.Show("churn_behind_max", "  wished and not running yet, at most",
              static_cast<double>(behind_max), "pods");
  report.Show("churn_end_s", "  the last 300 gone, after their manifests",
              ToSeconds(node.clock().Now() - ended), "s");
  report.Show("churn_rss_mb", "  resident memory of the agent after it",
              node.AgentUsage().rss_bytes / kMegabyte, "MB");
}

}  // namespace

void BenchEvented(const SyncPrograms& programs, Report& report) {
  AgentNode node(programs, {});
  node.StartAgent();
  node.Settle(node.clock().Now());
  const ProcessUsage empty = node.AgentUsage();
  Start(node, report);
  Idle(node, empty, report);
  Restart(node, report);
  Churn(node, report);
}

}  // namespace denselet::bench
