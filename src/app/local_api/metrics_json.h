// Metrics as JSON: the same as the text for Prometheus, for programs that read JSON.
#pragma once

#include <string>

#include "base/metrics_snapshot.h"

namespace denselet::app {

// {"families":[{"name","type","help","series":[{"labels":{},"value"}]}]}; of a histogram "sum",
// "count" and "buckets" (cumulative, with "le") in place of the value. Numbers that JSON has no
// word for are texts.
std::string RenderMetricsJson(const MetricsSnapshot& snapshot);

}  // namespace denselet::app
