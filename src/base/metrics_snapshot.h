// Metrics at one moment, as plain data: what a set gathers on its shard, what a collector makes of
// its own state, and what both become when they are merged for a scrape. Always in order (families
// by name, labels by name, series by label values: the order of the Go client), so equal metrics
// give equal text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"

namespace denselet {

struct SeriesSnapshot {
  std::vector<std::string> label_values = {};  // as many as the family has names
  double value = 0;                            // of a histogram: the sum of the observations
  bool is_set = true;                          // false: the 0 of a gauge that nobody has set
  std::vector<uint64_t> bucket_counts = {};    // as HistogramCell::counts()
  int64_t timestamp_ms = 0;                    // 0: none, the time of the scrape holds

  friend bool operator==(const SeriesSnapshot&, const SeriesSnapshot&) = default;
};

struct FamilySnapshot {
  std::string name = {};
  std::string help = {};
  MetricKind kind = MetricKind::kGauge;
  GaugeMerge merge = GaugeMerge::kSum;
  std::vector<std::string> label_names = {};
  std::vector<double> bounds = {};  // of a histogram
  std::vector<SeriesSnapshot> series = {};

  friend bool operator==(const FamilySnapshot&, const FamilySnapshot&) = default;
};

SeriesSnapshot SnapshotOf(const CounterCell& cell, std::vector<std::string> label_values);
SeriesSnapshot SnapshotOf(const GaugeCell& cell, std::vector<std::string> label_values);
SeriesSnapshot SnapshotOf(const HistogramCell& cell, std::vector<std::string> label_values);

// Families by name. A value: it travels between shards as a message and belongs to whoever holds
// it. Bounded by what was added: a set adds at most series_max + 1 series per metric, a collector
// what its owner bounds.
class MetricsSnapshot {
 public:
  // Series with equal labels become one, within the family as well as with what is already here:
  // counters and histograms add up, gauges follow the family's `merge`, the newest timestamp and
  // the first help text stay. Errors, after which the snapshot is as before: kInvalid, a family no
  // scraper would take (names, counts, bounds); kConflict, the name is here with another kind,
  // labels, bounds or way to merge.
  Status Add(FamilySnapshot family);

  // Adds all families of `other`. One that fails is left out and does not stop the rest: the scrape
  // is served without it. The error is that of the first.
  Status Merge(MetricsSnapshot other);

  // Also those without series: declared, labelled and not used yet.
  const std::map<std::string, FamilySnapshot, std::less<>>& families() const { return families_; }

 private:
  Status AddSorted(FamilySnapshot family);

  std::map<std::string, FamilySnapshot, std::less<>> families_;
};

}  // namespace denselet
