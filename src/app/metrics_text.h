// Metrics as Prometheus text (version 0.0.4), the answer to GET /metrics and its siblings.
//
// Written here and not by prometheus-cpp: that one rounds bucket bounds to sixteen digits and
// spells 1e+06 as 1000000, so its le labels are other labels than the kubelet's, and a quantile
// over a mixed fleet would be wrong.
#pragma once

#include <string>
#include <string_view>

#include "base/metrics_snapshot.h"

namespace denselet::app {

// Byte for byte as the Go client writes it. Pure: runs on the merged snapshot. HELP and TYPE once
// per family, nothing for a family without series. Bytes in label values and help that are not
// UTF-8 become U+FFFD: one of them would cost the whole scrape.
std::string RenderMetricsText(const MetricsSnapshot& snapshot);

// "counter", "gauge" or "histogram".
std::string_view MetricTypeName(MetricKind kind);

}  // namespace denselet::app
