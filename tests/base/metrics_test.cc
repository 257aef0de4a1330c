#include "base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/metrics_snapshot.h"

namespace denselet {
namespace {

using ::testing::ElementsAre;

enum class TestMetric : uint8_t { kCalls, kDuration, kRunning, kOldest, kWorking, kLate, kSignals };

constexpr double kBounds[] = {1, 2, 4};
constexpr MetricDef kTestMetrics[] = {
    {TestMetric::kCalls, "calls_total", MetricKind::kCounter, "Calls.", {"operation_type"}},
    {TestMetric::kDuration, "duration_seconds", MetricKind::kHistogram, "Time.", {}, kBounds},
    {TestMetric::kRunning, "running", MetricKind::kGauge, "Running."},
    {.id = TestMetric::kOldest,
     .name = "oldest_seconds",
     .kind = MetricKind::kGauge,
     .help = "Oldest.",
     .merge = GaugeMerge::kMin},
    {TestMetric::kWorking, "working", MetricKind::kGauge, "Two labels.", {"lifecycle", "config"}},
    {.id = TestMetric::kLate,
     .name = "late_total",
     .kind = MetricKind::kCounter,
     .help = "Late.",
     .appears = MetricAppears::kOnFirstUse},
    {.id = TestMetric::kSignals,
     .name = "signals_total",
     .kind = MetricKind::kCounter,
     .help = "Bounded.",
     .labels = {"signal", "node"},
     .series_max = 2},
};
constexpr std::span<const MetricDef> MetricsOf(TestMetric) { return kTestMetrics; }

using TestMetrics = MetricSet<TestMetric>;

const FamilySnapshot& FamilyOf(const MetricsSnapshot& snapshot, std::string_view name) {
  const auto found = snapshot.families().find(name);
  EXPECT_NE(found, snapshot.families().end()) << name;
  return found->second;
}

// "a|b=1" for each series.
std::vector<std::string> SeriesOf(const MetricsSnapshot& snapshot, std::string_view name) {
  std::vector<std::string> out;
  for (const SeriesSnapshot& series : FamilyOf(snapshot, name).series) {
    std::string text;
    for (const std::string& value : series.label_values) text += (text.empty() ? "" : "|") + value;
    out.push_back(text + "=" + std::to_string(std::lround(series.value)));
  }
  return out;
}

constexpr MetricDef RowWith(std::string_view name, MetricKind kind, MetricLabelNames labels,
                            std::span<const double> buckets) {
  return {TestMetric{}, name, kind, "Help.", labels, buckets};
}
constexpr bool IsValidRow(const MetricDef& def) { return AreMetricsValid({&def, 1}); }

constexpr double kFalling[] = {2, 1};
constexpr double kEndless[] = {1, std::numeric_limits<double>::infinity()};
static_assert(IsValidRow(RowWith("a_1:b", MetricKind::kCounter, {"x_1"}, {})));
static_assert(!IsValidRow(RowWith("1a", MetricKind::kCounter, {}, {})));
static_assert(!IsValidRow(RowWith("a-b", MetricKind::kCounter, {}, {})));
static_assert(!IsValidRow(RowWith(kMetricsOverflowName, MetricKind::kCounter, {}, {})));
static_assert(!IsValidRow(RowWith("a", MetricKind::kCounter, {"x:y"}, {})));
static_assert(!IsValidRow(RowWith("a", MetricKind::kCounter, {"x", "y", "x"}, {})));
static_assert(!IsValidRow(RowWith("a", MetricKind::kCounter, {}, kBounds)));
static_assert(!IsValidRow(RowWith("a", MetricKind::kHistogram, {}, {})));
static_assert(!IsValidRow(RowWith("a", MetricKind::kHistogram, {}, kFalling)));
static_assert(!IsValidRow(RowWith("a", MetricKind::kHistogram, {}, kEndless)));
static_assert(!IsValidRow(RowWith("a", MetricKind::kHistogram, {"le"}, kBounds)));
static_assert(!AreMetricsValid(std::span(kTestMetrics).subspan(1)), "rows out of the enum's order");

TEST(Metrics, ExponentialBucketsAreThoseOfTheGoClient) {
  // As prometheus.ExponentialBuckets(.005, 2.5, 14) prints them.
  EXPECT_THAT(ExponentialBuckets<14>(.005, 2.5),
              ElementsAre(0.005, 0.0125, 0.03125, 0.078125, 0.1953125, 0.48828125, 1.220703125,
                          3.0517578125, 7.62939453125, 19.073486328125, 47.6837158203125,
                          119.20928955078125, 298.0232238769531, 745.0580596923828));
  static_assert(AreBucketBounds(ExponentialBuckets<14>(.005, 2.5)));
  static_assert(AreBucketBounds(kDefaultBuckets));
}

TEST(Metrics, SameLabelValuesGiveTheSameCell) {
  TestMetrics metrics;
  CounterCell& kept = metrics.Counter(TestMetric::kCalls, "list");
  kept.Increment();
  metrics.Counter(TestMetric::kCalls, std::string("list")).Add(2);
  metrics.Counter(TestMetric::kCalls, std::string_view("stop")).Increment();
  EXPECT_EQ(&kept, &metrics.Counter(TestMetric::kCalls, "list"));
  EXPECT_EQ(kept.value(), 3u);
}

TEST(Metrics, LabelValuesAreNotJoined) {
  TestMetrics metrics;
  EXPECT_NE(&metrics.Gauge(TestMetric::kWorking, "ab", "c"),
            &metrics.Gauge(TestMetric::kWorking, "a", "bc"));
}

TEST(Metrics, ReferencesStayValidWhileSeriesAreAdded) {
  TestMetrics metrics;
  CounterCell& first = metrics.Counter(TestMetric::kCalls, "first");
  for (int i = 0; i < 1000; ++i) {
    metrics.Counter(TestMetric::kCalls, std::to_string(i)).Increment();
  }
  first.Increment();
  EXPECT_EQ(&first, &metrics.Counter(TestMetric::kCalls, "first"));
}

TEST(Metrics, LabelSetsBeyondTheMaximumShareOneSeriesAndAreCounted) {
  TestMetrics metrics;
  metrics.Counter(TestMetric::kSignals, "memory", "a").Increment();
  metrics.Counter(TestMetric::kSignals, "memory", "b").Increment();
  metrics.Counter(TestMetric::kSignals, "memory", "c").Increment();
  metrics.Counter(TestMetric::kSignals, "disk", "d").Increment();
  metrics.Counter(TestMetric::kSignals, "memory", "a").Increment();

  const MetricsSnapshot snapshot = metrics.Gather();
  // By the names of the labels: node before signal.
  EXPECT_THAT(SeriesOf(snapshot, "signals_total"),
              ElementsAre("a|memory=2", "b|memory=1", "other|other=2"));
  EXPECT_THAT(SeriesOf(snapshot, kMetricsOverflowName), ElementsAre("signals_total=2"));
}

TEST(Metrics, UnusedWithoutLabelsIsZeroAndWithLabelsIsAbsent) {
  const MetricsSnapshot snapshot = TestMetrics().Gather();
  EXPECT_THAT(SeriesOf(snapshot, "running"), ElementsAre("=0"));
  EXPECT_THAT(FamilyOf(snapshot, "duration_seconds").series,
              ElementsAre(SeriesSnapshot{.label_values = {}, .bucket_counts = {0, 0, 0, 0}}));
  EXPECT_THAT(SeriesOf(snapshot, "calls_total"), ElementsAre());
  EXPECT_THAT(SeriesOf(snapshot, "late_total"), ElementsAre());
  EXPECT_THAT(SeriesOf(snapshot, kMetricsOverflowName), ElementsAre());
}

TEST(Metrics, LateMetricAppearsWithItsFirstUse) {
  TestMetrics metrics;
  metrics.Counter(TestMetric::kLate);
  EXPECT_THAT(SeriesOf(metrics.Gather(), "late_total"), ElementsAre("=0"));
}

TEST(HistogramCell, BoundBelongsToItsBucket) {
  HistogramCell cell(kBounds);
  for (const double value : {-1.0, 1.0, 1.5, 2.0, 4.0, 4.1}) cell.Observe(value);
  cell.Observe(std::numeric_limits<double>::infinity());
  EXPECT_THAT(cell.counts(), ElementsAre(2, 2, 1, 2));
}

TEST(HistogramCell, NotANumberCountsInTheLastBucketOnly) {
  HistogramCell cell(kBounds);
  cell.Observe(std::nan(""));
  EXPECT_THAT(cell.counts(), ElementsAre(0, 0, 0, 1));
  EXPECT_TRUE(std::isnan(cell.sum()));
}

TEST(HistogramCell, DurationIsInSeconds) {
  HistogramCell cell(kBounds);
  cell.Observe(Milliseconds(1500));
  EXPECT_EQ(cell.sum(), 1.5);
  EXPECT_THAT(cell.counts(), ElementsAre(0, 1, 0, 0));
}

TEST(MetricsSnapshot, ShardsMergeByKind) {
  TestMetrics one;
  TestMetrics two;
  one.Counter(TestMetric::kCalls, "list").Add(2);
  two.Counter(TestMetric::kCalls, "list").Add(3);
  two.Counter(TestMetric::kCalls, "create").Increment();
  one.Gauge(TestMetric::kRunning).Set(10);
  two.Gauge(TestMetric::kRunning).Add(5);
  one.Histogram(TestMetric::kDuration).Observe(1);
  two.Histogram(TestMetric::kDuration).Observe(3);

  MetricsSnapshot merged = one.Gather();
  ASSERT_TRUE(merged.Merge(two.Gather()));
  EXPECT_THAT(SeriesOf(merged, "calls_total"), ElementsAre("create=1", "list=5"));
  EXPECT_THAT(SeriesOf(merged, "running"), ElementsAre("=15"));
  const SeriesSnapshot& duration = FamilyOf(merged, "duration_seconds").series.at(0);
  EXPECT_THAT(duration.bucket_counts, ElementsAre(1, 0, 1, 0));
  EXPECT_EQ(duration.value, 4);
}

TEST(MetricsSnapshot, GaugeThatNobodySetIsNoMinimum) {
  TestMetrics idle;
  TestMetrics busy;
  TestMetrics late;
  busy.Gauge(TestMetric::kOldest).Set(9);
  late.Gauge(TestMetric::kOldest).Set(7);

  MetricsSnapshot merged = idle.Gather();
  EXPECT_THAT(SeriesOf(merged, "oldest_seconds"), ElementsAre("=0"));
  ASSERT_TRUE(merged.Merge(busy.Gather()));
  ASSERT_TRUE(merged.Merge(idle.Gather()));
  EXPECT_THAT(SeriesOf(merged, "oldest_seconds"), ElementsAre("=9"));
  ASSERT_TRUE(merged.Merge(late.Gather()));
  EXPECT_THAT(SeriesOf(merged, "oldest_seconds"), ElementsAre("=7"));
}

TEST(MetricsSnapshot, OrderDoesNotDependOnTheOrderOfUse) {
  TestMetrics up;
  TestMetrics down;
  for (int i = 0; i < 50; ++i) {
    up.Gauge(TestMetric::kWorking, std::to_string(i), "x").Set(i);
    down.Gauge(TestMetric::kWorking, std::to_string(49 - i), "x").Set(49 - i);
  }
  EXPECT_EQ(up.Gather().families(), down.Gather().families());
}

FamilySnapshot PvcFamily() {
  return {.name = "pvc_bytes",
          .help = "Help.",
          .kind = MetricKind::kGauge,
          .merge = GaugeMerge::kMax,
          .label_names = {"ns", "claim"},
          .series = {{.label_values = {"b", "x"}, .value = 1},
                     {.label_values = {"a", "y"}, .value = 2}}};
}

TEST(MetricsSnapshot, CollectorsFamilyIsPutInOrderAndEqualLabelsBecomeOne) {
  FamilySnapshot family = PvcFamily();
  family.series.push_back({.label_values = {"b", "x"}, .value = 3, .timestamp_ms = 17});
  MetricsSnapshot snapshot;
  ASSERT_TRUE(snapshot.Add(family));
  EXPECT_THAT(FamilyOf(snapshot, "pvc_bytes").label_names, ElementsAre("claim", "ns"));
  EXPECT_THAT(SeriesOf(snapshot, "pvc_bytes"), ElementsAre("x|b=3", "y|a=2"));
  EXPECT_EQ(FamilyOf(snapshot, "pvc_bytes").series.at(0).timestamp_ms, 17);
}

TEST(MetricsSnapshot, ConflictIsAnErrorAndTheRestIsMerged) {
  MetricsSnapshot snapshot;
  ASSERT_TRUE(snapshot.Add(PvcFamily()));
  MetricsSnapshot other;
  FamilySnapshot conflicting = PvcFamily();
  conflicting.kind = MetricKind::kCounter;
  ASSERT_TRUE(other.Add(conflicting));
  FamilySnapshot after = PvcFamily();
  after.name = "zz_bytes";
  ASSERT_TRUE(other.Add(after));

  const Status merged = snapshot.Merge(other);
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code(), ErrorCode::kConflict);
  EXPECT_EQ(merged.error().message(),
            "metric \"pvc_bytes\": declared twice with other kind, labels or buckets");
  EXPECT_THAT(SeriesOf(snapshot, "pvc_bytes"), ElementsAre("x|b=1", "y|a=2"));
  EXPECT_THAT(SeriesOf(snapshot, "zz_bytes"), ElementsAre("x|b=1", "y|a=2"));
}

TEST(MetricsSnapshot, OtherLabelsBucketsOrMergeAreConflicts) {
  FamilySnapshot labels = PvcFamily();
  labels.label_names = {"ns", "name"};
  FamilySnapshot merge = PvcFamily();
  merge.merge = GaugeMerge::kSum;
  FamilySnapshot buckets = PvcFamily();
  buckets.kind = MetricKind::kHistogram;
  buckets.bounds = {1};
  buckets.series.clear();
  for (const FamilySnapshot& family : {labels, merge, buckets}) {
    MetricsSnapshot snapshot;
    ASSERT_TRUE(snapshot.Add(PvcFamily()));
    const Status added = snapshot.Add(family);
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code(), ErrorCode::kConflict);
  }
}

TEST(MetricsSnapshot, FamilyNoScraperWouldTakeIsRefused) {
  std::vector<FamilySnapshot> families(7, PvcFamily());
  families[0].name = "no name";
  families[1].label_names[0] = "1";
  families[2].label_names[0] = families[2].label_names[1];
  families[3].series[1].label_values.pop_back();
  families[4].bounds = {1};
  families[5].series[0].bucket_counts = {1};
  families[6].kind = MetricKind::kHistogram;
  for (const FamilySnapshot& family : families) {
    MetricsSnapshot snapshot;
    const Status added = snapshot.Add(family);
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code(), ErrorCode::kInvalid) << added.error().message();
    EXPECT_TRUE(snapshot.families().empty());
  }
}

}  // namespace
}  // namespace denselet
