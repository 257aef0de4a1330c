#include "base/metrics_snapshot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

namespace denselet {
namespace {

Error Invalid(std::string why) { return Error(ErrorCode::kInvalid, std::move(why)); }

Status ValidateNames(const FamilySnapshot& family) {
  if (!IsMetricName(family.name)) return Invalid("not a name of a metric");
  for (auto label = family.label_names.begin(); label != family.label_names.end(); ++label) {
    if (!IsMetricLabelName(*label)) return Invalid("not a name of a label: " + *label);
    if (std::find(family.label_names.begin(), label, *label) != label) {
      return Invalid("label given twice: " + *label);
    }
    if (family.kind == MetricKind::kHistogram && *label == "le") {
      return Invalid("label le belongs to the buckets");
    }
  }
  return Ok();
}

Status ValidateSeries(const FamilySnapshot& family) {
  const bool is_histogram = family.kind == MetricKind::kHistogram;
  if (family.bounds.empty() == is_histogram || !AreBucketBounds(family.bounds)) {
    return Invalid("bucket bounds do not rise, or do not fit the kind");
  }
  const size_t buckets = is_histogram ? family.bounds.size() + 1 : 0;
  for (const SeriesSnapshot& series : family.series) {
    if (series.label_values.size() != family.label_names.size()) {
      return Invalid("number of label values is not that of the names");
    }
    if (series.bucket_counts.size() != buckets) {
      return Invalid("number of bucket counts is not that of the bounds");
    }
  }
  return Ok();
}

void SortLabels(FamilySnapshot& family) {
  if (std::ranges::is_sorted(family.label_names)) return;
  std::vector<size_t> order(family.label_names.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {},
                    [&](size_t i) -> const std::string& { return family.label_names[i]; });

  const auto reorder = [&order](std::vector<std::string>& strings) {
    std::vector<std::string> sorted;
    sorted.reserve(strings.size());
    for (const size_t i : order) sorted.push_back(std::move(strings[i]));
    strings = std::move(sorted);
  };
  reorder(family.label_names);
  for (SeriesSnapshot& series : family.series) reorder(series.label_values);
}

// NaN gives way to a number, so that the order of the shards does not matter.
double Combine(GaugeMerge merge, double left, double right) {
  switch (merge) {
    case GaugeMerge::kSum:
      return left + right;
    case GaugeMerge::kMax:
      return std::fmax(left, right);
    case GaugeMerge::kMin:
      return std::fmin(left, right);
  }
  __builtin_unreachable();
}

// Counters and histograms say kSum too, and are always set.
void Combine(GaugeMerge merge, SeriesSnapshot& into, const SeriesSnapshot& from) {
  into.timestamp_ms = std::max(into.timestamp_ms, from.timestamp_ms);
  if (!from.is_set) return;
  into.value = into.is_set ? Combine(merge, into.value, from.value) : from.value;
  into.is_set = true;
  for (size_t i = 0; i < into.bucket_counts.size(); ++i) {
    into.bucket_counts[i] += from.bucket_counts[i];
  }
}

// Neighbours with equal labels become one.
void CombineEqual(FamilySnapshot& family) {
  if (family.series.empty()) return;
  auto last = family.series.begin();
  for (auto next = last + 1; next != family.series.end(); ++next) {
    if (next->label_values == last->label_values) {
      Combine(family.merge, *last, *next);
    } else if (++last != next) {
      *last = std::move(*next);
    }
  }
  family.series.erase(last + 1, family.series.end());
}

// Stable, so that sums of doubles are made in the order of arrival.
void SortSeries(FamilySnapshot& family) {
  std::ranges::stable_sort(family.series, {}, &SeriesSnapshot::label_values);
  CombineEqual(family);
}

bool AreCompatible(const FamilySnapshot& left, const FamilySnapshot& right) {
  return left.kind == right.kind && left.merge == right.merge &&
         left.label_names == right.label_names && left.bounds == right.bounds;
}

void AppendSorted(FamilySnapshot& into, std::vector<SeriesSnapshot> from) {
  const auto middle = static_cast<std::ptrdiff_t>(into.series.size());
  std::ranges::move(from, std::back_inserter(into.series));
  std::ranges::inplace_merge(into.series, into.series.begin() + middle, {},
                             &SeriesSnapshot::label_values);
  CombineEqual(into);
}

}  // namespace

SeriesSnapshot SnapshotOf(const CounterCell& cell, std::vector<std::string> label_values) {
  return {.label_values = std::move(label_values), .value = static_cast<double>(cell.value())};
}

SeriesSnapshot SnapshotOf(const GaugeCell& cell, std::vector<std::string> label_values) {
  return {.label_values = std::move(label_values), .value = cell.value(), .is_set = cell.is_set()};
}

SeriesSnapshot SnapshotOf(const HistogramCell& cell, std::vector<std::string> label_values) {
  return {.label_values = std::move(label_values),
          .value = cell.sum(),
          .bucket_counts = {cell.counts().begin(), cell.counts().end()}};
}

Status MetricsSnapshot::Add(FamilySnapshot family) {
  if (const Status s = ValidateNames(family); !s) return s.error().With("metric", family.name);
  if (const Status s = ValidateSeries(family); !s) return s.error().With("metric", family.name);
  if (family.kind != MetricKind::kGauge) family.merge = GaugeMerge::kSum;
  SortLabels(family);
  SortSeries(family);
  return AddSorted(std::move(family));
}

Status MetricsSnapshot::AddSorted(FamilySnapshot family) {
  const auto here = families_.find(family.name);
  if (here == families_.end()) {
    std::string name = family.name;
    families_.emplace(std::move(name), std::move(family));
    return Ok();
  }
  if (!AreCompatible(here->second, family)) {
    return Error(ErrorCode::kConflict, "declared twice with other kind, labels or buckets")
        .With("metric", family.name);
  }
  AppendSorted(here->second, std::move(family.series));
  return Ok();
}

Status MetricsSnapshot::Merge(MetricsSnapshot other) {
  std::optional<Error> first;
  for (auto& [name, family] : other.families_) {
    const Status added = AddSorted(std::move(family));
    if (!added && !first) first = added.error();
  }
  if (first) return *first;
  return Ok();
}

}  // namespace denselet
