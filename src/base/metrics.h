// What the agent counts. A folder declares its metrics in one constexpr table, with upstream's
// names, and an enum of the rows beside it; a use site names the row, and kind and number of labels
// are checked by the compiler:
//
//   enum class RuntimeMetric : uint8_t { kOperations, kOperationDuration };
//   inline constexpr auto kOperationBuckets = ExponentialBuckets<14>(.005, 2.5);
//   inline constexpr MetricDef kRuntimeMetrics[] = {
//       {RuntimeMetric::kOperations, "kubelet_runtime_operations_total", MetricKind::kCounter,
//        "[ALPHA] Cumulative number of runtime operations by operation type.", {"operation_type"}},
//       ...};
//   constexpr std::span<const MetricDef> MetricsOf(RuntimeMetric) { return kRuntimeMetrics; }
//
//   MetricSet<RuntimeMetric> metrics;                                           // one per shard
//   metrics.Counter(RuntimeMetric::kOperations, "list_containers").Increment();
//
// Series that come and go with a pod or a probe do not belong in a set, which never forgets one:
// their owner keeps the cells (or the numbers) itself and a collector makes a FamilySnapshot of
// them (base/metrics_snapshot.h).
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/time.h"

namespace denselet {

class MetricsSnapshot;

enum class MetricKind : uint8_t { kCounter, kGauge, kHistogram };

// How the gauges of several shards become one. A gauge nobody has set takes part in no maximum and
// no minimum.
enum class GaugeMerge : uint8_t { kSum, kMax, kMin };

// A metric without labels is exported as 0 before its first use, as by the Go client. A few of
// upstream's are vectors without labels, and appear late.
enum class MetricAppears : uint8_t { kFromStart, kOnFirstUse };

inline constexpr size_t kMetricLabelsMax = 10;
inline constexpr uint32_t kMetricSeriesMax = 256;

// The names of the labels, in the order in which use sites give the values. Too many do not
// compile.
class MetricLabelNames {
 public:
  constexpr MetricLabelNames() = default;
  consteval MetricLabelNames(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) names_[size_++] = name;
  }

  constexpr const std::string_view* begin() const { return names_.data(); }
  constexpr const std::string_view* end() const { return names_.data() + size_; }
  constexpr size_t size() const { return size_; }

 private:
  std::array<std::string_view, kMetricLabelsMax> names_{};
  size_t size_ = 0;
};

// A row's number, made from the folder's enum.
struct MetricIndex {
  // Implicit: a row just says its enumerator.
  template <class Id>
  requires std::is_enum_v<Id>
  constexpr MetricIndex(Id id) : value(static_cast<uint16_t>(id)) {}

  uint16_t value;
};

// One row of a table. Everything it refers to is static.
struct MetricDef {
  MetricIndex id;
  std::string_view name;
  MetricKind kind;
  std::string_view help;  // as exported: with the stability tag in front where upstream has one
  MetricLabelNames labels = {};
  std::span<const double> buckets = {};  // histograms only: upper bounds, rising, without +Inf
  // Per shard. When full: further label sets share one more series, whose values are all "other",
  // and each such use is counted in denselet_metrics_overflow_total{metric}. Sums stay true that
  // way; a gauge of "other" is only the last one set.
  uint32_t series_max = kMetricSeriesMax;
  GaugeMerge merge = GaugeMerge::kSum;
  MetricAppears appears = MetricAppears::kFromStart;  // without labels only
};

inline constexpr std::array<double, 11> kDefaultBuckets = {.005, .01, .025, .05, .1, .25,
                                                           .5,   1,   2.5,  5,   10};

// Multiplied step by step, as the Go client does: the last digits of a bound are part of the `le`
// label.
template <size_t kCount>
constexpr std::array<double, kCount> ExponentialBuckets(double start, double factor) {
  std::array<double, kCount> bounds{};
  for (double& bound : bounds) {
    bound = start;
    start *= factor;
  }
  return bounds;
}

// Letters, digits, '_' and ':', no digit first.
constexpr bool IsMetricName(std::string_view name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_allowed = [is_digit](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == ':';
  };
  return !name.empty() && !is_digit(name.front()) && std::ranges::all_of(name, is_allowed);
}

constexpr bool IsMetricLabelName(std::string_view name) {
  return IsMetricName(name) && name.find(':') == name.npos;
}

constexpr bool AreBucketBounds(std::span<const double> bounds) {
  double last = -std::numeric_limits<double>::infinity();
  for (const double bound : bounds) {
    if (!(bound > last)) return false;
    last = bound;
  }
  return last < std::numeric_limits<double>::infinity();
}

// The number of uses that went to an overflow series, per metric: a metric of every set itself.
inline constexpr std::string_view kMetricsOverflowName = "denselet_metrics_overflow_total";

// A table as MetricSet needs it: rows in the order of the enum, names that a scraper accepts, none
// twice.
constexpr bool AreMetricsValid(std::span<const MetricDef> table) {
  for (size_t i = 0; i < table.size(); ++i) {
    const MetricDef& def = table[i];
    const bool is_histogram = def.kind == MetricKind::kHistogram;
    if (def.id.value != i || !IsMetricName(def.name) || def.help.empty()) return false;
    if (def.name == kMetricsOverflowName || def.series_max == 0) return false;
    if (def.buckets.empty() == is_histogram || !AreBucketBounds(def.buckets)) return false;
    if (def.kind != MetricKind::kGauge && def.merge != GaugeMerge::kSum) return false;
    if (def.labels.size() > 0 && def.appears != MetricAppears::kFromStart) return false;
    for (const std::string_view& label : def.labels) {
      if (!IsMetricLabelName(label) || (is_histogram && label == "le")) return false;
      if (std::find(def.labels.begin(), &label, label) != &label) return false;
    }
    for (const MetricDef& before : table.first(i)) {
      if (before.name == def.name) return false;
    }
  }
  return true;
}

// Cells: plain numbers, written and read by the one shard whose set (or probe, or pod) owns them. A
// hot path looks its cell up once and keeps the reference.
class CounterCell {
 public:
  void Increment() { ++value_; }
  void Add(uint64_t by) { value_ += by; }  // unsigned: a counter cannot go back

  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0;
};

class GaugeCell {
 public:
  void Set(double value) {
    value_ = value;
    is_set_ = true;
  }
  void Add(double by) { Set(value_ + by); }
  void Increment() { Add(1); }
  void Decrement() { Add(-1); }

  double value() const { return value_; }
  bool is_set() const { return is_set_; }

 private:
  double value_ = 0;
  bool is_set_ = false;
};

class HistogramCell {
 public:
  // The bounds are those of a table: static, valid by AreBucketBounds.
  explicit HistogramCell(std::span<const double> bounds)
      : bounds_(bounds), counts_(bounds.size() + 1) {}

  // O(log buckets). A bound belongs to its bucket; NaN, which is below no bound, counts in +Inf
  // only.
  void Observe(double value) {
    const auto bucket =
        std::ranges::partition_point(bounds_, [value](double b) { return !(value <= b); });
    ++counts_[static_cast<size_t>(bucket - bounds_.begin())];
    sum_ += value;
  }
  // In seconds. The few metrics of upstream in milliseconds take the other one.
  void Observe(Duration value) { Observe(std::chrono::duration<double>(value).count()); }

  std::span<const double> bounds() const { return bounds_; }
  // One per bound and one for +Inf, not cumulative.
  std::span<const uint64_t> counts() const { return counts_; }
  double sum() const { return sum_; }

 private:
  std::span<const double> bounds_;
  std::vector<uint64_t> counts_;
  double sum_ = 0;
};

// The cells of one table, without the types that MetricSet adds. See there.
class MetricStore {
 public:
  MetricStore(const MetricStore&) = delete;
  MetricStore& operator=(const MetricStore&) = delete;

  // A copy of all cells, to be sent to whoever answers the scrape and merged there with the other
  // shards'. Runs on the shard of the set, like everything else here.
  MetricsSnapshot Gather() const;

 protected:
  using LabelValues = std::initializer_list<std::string_view>;

  explicit MetricStore(std::span<const MetricDef> table);
  ~MetricStore();

  CounterCell& CounterAt(uint16_t index, LabelValues values);
  GaugeCell& GaugeAt(uint16_t index, LabelValues values);
  HistogramCell& HistogramAt(uint16_t index, LabelValues values);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

// Not constexpr, so that a call of them is where compilation stops.
void MetricHasNoRow();
void MetricIsOfAnotherKind();
void MetricHasAnotherNumberOfLabels();

// An enumerator that the compiler has checked against its row.
template <class Id, MetricKind kKind, size_t kLabels>
struct MetricKey {
  // Implicit: a use site just says the enumerator.
  consteval MetricKey(Id id) : index(static_cast<uint16_t>(id)) {
    const std::span<const MetricDef> table = MetricsOf(id);
    if (index >= table.size()) MetricHasNoRow();
    if (table[index].kind != kKind) MetricIsOfAnotherKind();
    if (table[index].labels.size() != kLabels) MetricHasAnotherNumberOfLabels();
  }

  uint16_t index;
};

// The cells of one folder's table on one shard: owned by the folder's root object of that shard,
// used there only, and gone with it. Finding a series is one hash lookup and allocates only when
// the series is new; a reference to a cell stays valid as long as the set lives. Series are never
// removed; series_max bounds them.
template <class Id>
class MetricSet : public MetricStore {
  static_assert(AreMetricsValid(MetricsOf(Id{})),
                "see AreMetricsValid: a row of this table is wrong");

 public:
  MetricSet() : MetricStore(MetricsOf(Id{})) {}

  template <std::convertible_to<std::string_view>... Values>
  CounterCell& Counter(MetricKey<Id, MetricKind::kCounter, sizeof...(Values)> key,
                       const Values&... values) {
    return CounterAt(key.index, {std::string_view(values)...});
  }
  template <std::convertible_to<std::string_view>... Values>
  GaugeCell& Gauge(MetricKey<Id, MetricKind::kGauge, sizeof...(Values)> key,
                   const Values&... values) {
    return GaugeAt(key.index, {std::string_view(values)...});
  }
  template <std::convertible_to<std::string_view>... Values>
  HistogramCell& Histogram(MetricKey<Id, MetricKind::kHistogram, sizeof...(Values)> key,
                           const Values&... values) {
    return HistogramAt(key.index, {std::string_view(values)...});
  }
};

}  // namespace denselet
