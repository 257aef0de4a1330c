#include "app/local_api/process_metrics.h"

#include <string>
#include <utility>

#include "base/check.h"

namespace denselet::app {
namespace {

void Add(std::string name, std::string help, MetricKind kind, double value, MetricsSnapshot& into) {
  FamilySnapshot family{.name = std::move(name), .help = std::move(help), .kind = kind};
  family.series.push_back({.value = value});
  CHECK(into.Add(std::move(family)));  // a constant one that nobody else has
}

}  // namespace

void AddProcessMetrics(const ProcessNumbers& process, MetricsSnapshot& into) {
  const auto seconds = [](Duration d) { return std::chrono::duration<double>(d).count(); };
  Add("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.",
      MetricKind::kCounter, seconds(process.cpu), into);
  Add("process_resident_memory_bytes", "Resident memory size in bytes.", MetricKind::kGauge,
      static_cast<double>(process.rss_bytes), into);
  Add("process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
      MetricKind::kGauge, seconds(process.started.time_since_epoch()), into);
}

}  // namespace denselet::app
