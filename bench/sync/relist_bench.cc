// Pods on a runtime without events: the agent lists all of them every second.
#include <string>

#include "bench/sync/agent_node.h"

namespace denselet::bench {
namespace {

constexpr Duration kStartLimit = Seconds(100);
constexpr Duration kCalm = Seconds(3);
// A list of ten thousand takes its time, and reads follow it.
constexpr Duration kQuiet = Seconds(4);
constexpr Duration kIdle = Seconds(15);

}  // namespace

void BenchRelisting(const SyncPrograms& programs, size_t pods, Report& report) {
  AgentNode node(programs, {.pods_max = pods + 1000, .runtime_flags = {"--no-events"}});
  node.StartAgent();
  node.Settle(node.clock().Now());
  const std::string count = std::to_string(pods);
  for (size_t i = 0; i < pods; ++i) node.Stage("pod-" + std::to_string(i));
  const TimePoint began = node.clock().Now();
  for (size_t i = 0; i < pods; ++i) node.Publish("pod-" + std::to_string(i));
  node.WaitFor("all running", kStartLimit, [&] {
    if (pods > kSyncPods) node.Pass(Milliseconds(100));  // to look costs the runtime something
    return node.State().running == pods;
  });
  report.Show("start_" + count + "_relist_s", count + " static pods running, without events",
              ToSeconds(node.clock().Now() - began), "s");
  node.Settle(began, kQuiet);
  node.Pass(kCalm);
  const uint64_t lists = node.Calls()["StreamContainers"];
  const double cpu = node.AgentUsage().cpu_seconds;
  const TimePoint idle = node.clock().Now();
  node.Pass(kIdle);
  const ProcessUsage after = node.AgentUsage();
  const double cycles = static_cast<double>(node.Calls()["StreamContainers"] - lists);
  const double used = after.cpu_seconds - cpu;
  const double percent = used / ToSeconds(node.clock().Now() - idle) * 100;
  const std::string work = "idle, " + count + " pods, lists only";
  if (pods == kSyncPods) {
    report.AtMost("idle_cpu_pct_relist_" + count, work, percent, "% of a core", 3);
  } else {
    report.Show("idle_cpu_pct_relist_" + count, work, percent, "% of a core");
  }
  report.Show("relist_cycle_cpu_ms_" + count, "  CPU of the agent for a list of all",
              used * 1e3 / cycles, "ms");
  report.Show("relist_cycle_s_" + count, "  from one list to the next",
              ToSeconds(node.clock().Now() - idle) / cycles, "s");
  if (pods != kSyncPods) {
    report.Show("rss_mb_" + count, "  resident memory of the agent", after.rss_bytes / 1e6, "MB");
  }
}

}  // namespace denselet::bench
