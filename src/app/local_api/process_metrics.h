// What the Go client tells of its process, as far as it is cheap to know here.
#pragma once

#include <cstdint>

#include "base/metrics_snapshot.h"
#include "base/time.h"

namespace denselet::app {

struct ProcessNumbers {
  Duration cpu = {};
  uint64_t rss_bytes = 0;
  WallTime started = {};
};

void AddProcessMetrics(const ProcessNumbers& process, MetricsSnapshot& into);

}  // namespace denselet::app
