#include "app/metrics_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "base/metrics_snapshot.h"

namespace denselet::app {
namespace {

enum class TextMetric : uint8_t { kWorking, kOperations, kDuration, kRunning, kErrors };

constexpr auto kDurationBuckets = ExponentialBuckets<4>(.005, 2.5);
constexpr MetricDef kTextMetrics[] = {
    {TextMetric::kWorking,
     "kubelet_working_pods",
     MetricKind::kGauge,
     "[ALPHA] Number of pods the kubelet is actually running.",
     {"lifecycle", "config", "static"}},
    {TextMetric::kOperations,
     "kubelet_runtime_operations_total",
     MetricKind::kCounter,
     "[ALPHA] Number of runtime operations.",
     {"operation_type"}},
    {TextMetric::kDuration,
     "kubelet_runtime_operations_duration_seconds",
     MetricKind::kHistogram,
     "[ALPHA] Duration of runtime operations.",
     {"operation_type"},
     kDurationBuckets},
    {TextMetric::kRunning, "kubelet_running_pods", MetricKind::kGauge,
     "[ALPHA] Number of pods that have a running pod sandbox"},
    {TextMetric::kErrors,
     "kubelet_runtime_operations_errors_total",
     MetricKind::kCounter,
     "[ALPHA] Never used here.",
     {"operation_type"}},
};
constexpr std::span<const MetricDef> MetricsOf(TextMetric) { return kTextMetrics; }

FamilySnapshot Gauge(std::string name) {
  return {.name = std::move(name), .help = "Help.", .kind = MetricKind::kGauge};
}

std::string Render(FamilySnapshot family) {
  MetricsSnapshot snapshot;
  EXPECT_TRUE(snapshot.Add(std::move(family)));
  return RenderMetricsText(snapshot);
}

std::string RenderValue(double value) {
  FamilySnapshot family = Gauge("g");
  family.series.push_back({.label_values = {}, .value = value});
  const std::string text = Render(std::move(family));
  constexpr std::string_view kHead = "# HELP g Help.\n# TYPE g gauge\ng ";
  EXPECT_EQ(text.substr(0, kHead.size()), kHead);
  return text.substr(kHead.size(), text.size() - kHead.size() - 1);
}

std::string RenderLabel(std::string value) {
  FamilySnapshot family = Gauge("g");
  family.label_names = {"l"};
  family.series.push_back({.label_values = {std::move(value)}, .value = 1});
  return Render(std::move(family));
}

TEST(MetricsText, SetIsRenderedInTheOrderOfNamesAndLabels) {
  MetricSet<TextMetric> metrics;
  metrics.Counter(TextMetric::kOperations, "list_containers").Add(1000000);
  metrics.Counter(TextMetric::kOperations, "container_status").Increment();
  metrics.Histogram(TextMetric::kDuration, "list_containers").Observe(Milliseconds(5));
  metrics.Histogram(TextMetric::kDuration, "list_containers").Observe(.05);
  metrics.Histogram(TextMetric::kDuration, "list_containers").Observe(20.0);
  metrics.Gauge(TextMetric::kWorking, "terminating", "desired", "").Set(1);
  metrics.Gauge(TextMetric::kWorking, "sync", "orphan", "true").Set(3);
  metrics.Gauge(TextMetric::kWorking, "sync", "desired", "").Set(2);

  EXPECT_EQ(RenderMetricsText(metrics.Gather()),
            R"(# HELP kubelet_running_pods [ALPHA] Number of pods that have a running pod sandbox
# TYPE kubelet_running_pods gauge
kubelet_running_pods 0
# HELP kubelet_runtime_operations_duration_seconds [ALPHA] Duration of runtime operations.
# TYPE kubelet_runtime_operations_duration_seconds histogram
kubelet_runtime_operations_duration_seconds_bucket{operation_type="list_containers",le="0.005"} 1
kubelet_runtime_operations_duration_seconds_bucket{operation_type="list_containers",le="0.0125"} 1
kubelet_runtime_operations_duration_seconds_bucket{operation_type="list_containers",le="0.03125"} 1
kubelet_runtime_operations_duration_seconds_bucket{operation_type="list_containers",le="0.078125"} 2
kubelet_runtime_operations_duration_seconds_bucket{operation_type="list_containers",le="+Inf"} 3
kubelet_runtime_operations_duration_seconds_sum{operation_type="list_containers"} 20.055
kubelet_runtime_operations_duration_seconds_count{operation_type="list_containers"} 3
# HELP kubelet_runtime_operations_total [ALPHA] Number of runtime operations.
# TYPE kubelet_runtime_operations_total counter
kubelet_runtime_operations_total{operation_type="container_status"} 1
kubelet_runtime_operations_total{operation_type="list_containers"} 1e+06
# HELP kubelet_working_pods [ALPHA] Number of pods the kubelet is actually running.
# TYPE kubelet_working_pods gauge
kubelet_working_pods{config="desired",lifecycle="sync",static=""} 2
kubelet_working_pods{config="desired",lifecycle="terminating",static=""} 1
kubelet_working_pods{config="orphan",lifecycle="sync",static="true"} 3
)");
}

TEST(MetricsText, EmptySnapshotIsEmptyText) { EXPECT_EQ(RenderMetricsText({}), ""); }

TEST(MetricsText, ValuesAreAsTheGoClientWritesThem) {
  EXPECT_EQ(RenderValue(0), "0");
  EXPECT_EQ(RenderValue(1), "1");
  EXPECT_EQ(RenderValue(-1.5), "-1.5");
  EXPECT_EQ(RenderValue(.005), "0.005");
  EXPECT_EQ(RenderValue(1e-7), "1e-07");
  EXPECT_EQ(RenderValue(1e6), "1e+06");
  EXPECT_EQ(RenderValue(1753000000.123), "1.753000000123e+09");
  EXPECT_EQ(RenderValue(9007199254740991), "9.007199254740991e+15");
  EXPECT_EQ(RenderValue(1e16), "1e+16");
}

TEST(MetricsText, BucketBoundsKeepAllTheirDigits) {
  FamilySnapshot family = {.name = "h", .help = "Help.", .kind = MetricKind::kHistogram};
  family.bounds = {1e-8, 119.20928955078125, 1e6};
  family.series.push_back({.value = 7.5, .bucket_counts = {1, 0, 2, 4}});
  EXPECT_EQ(Render(std::move(family)),
            "# HELP h Help.\n# TYPE h histogram\n"
            "h_bucket{le=\"1e-08\"} 1\n"
            "h_bucket{le=\"119.20928955078125\"} 1\n"
            "h_bucket{le=\"1e+06\"} 3\n"
            "h_bucket{le=\"+Inf\"} 7\n"
            "h_sum 7.5\n"
            "h_count 7\n");
}

TEST(MetricsText, ValuesThatAreNoNumbersHaveNames) {
  EXPECT_EQ(RenderValue(std::nan("")), "NaN");
  EXPECT_EQ(RenderValue(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(RenderValue(-std::numeric_limits<double>::infinity()), "-Inf");
}

TEST(MetricsText, LabelValuesAreEscaped) {
  EXPECT_EQ(RenderLabel("a\"b\\c\nd"),
            "# HELP g Help.\n# TYPE g gauge\n"
            "g{l=\"a\\\"b\\\\c\\nd\"} 1\n");
}

TEST(MetricsText, HelpIsEscaped) {
  FamilySnapshot family = Gauge("g");
  family.help = "One \"line\"\nand \\ another";
  family.series.push_back({.label_values = {}, .value = 1});
  EXPECT_EQ(Render(std::move(family)),
            "# HELP g One \"line\"\\nand \\\\ another\n# TYPE g gauge\ng 1\n");
}

TEST(MetricsText, BytesThatAreNotUtf8AreReplaced) {
  const auto value = [](std::string label) {
    const std::string text = RenderLabel(std::move(label));
    const size_t from = text.find('"') + 1;
    return text.substr(from, text.rfind('"') - from);
  };
  EXPECT_EQ(value("h\u00e9 \u20ac \U0001F600 ok"), "h\u00e9 \u20ac \U0001F600 ok");
  EXPECT_EQ(value("a\xff"), "a\uFFFD");
  EXPECT_EQ(value("\xc3"), "\uFFFD");                                // cut short
  EXPECT_EQ(value("\xc0\xaf"), "\uFFFD\uFFFD");                      // overlong
  EXPECT_EQ(value("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");            // surrogate
  EXPECT_EQ(value("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond U+10FFFF
  EXPECT_EQ(value("\xe2\x82z"), "\uFFFD\uFFFDz");
}

TEST(MetricsText, TimestampFollowsTheValue) {
  FamilySnapshot family = Gauge("g");
  family.series.push_back({.label_values = {}, .value = 2, .timestamp_ms = 1753000000123});
  EXPECT_EQ(Render(std::move(family)), "# HELP g Help.\n# TYPE g gauge\ng 2 1753000000123\n");
}

}  // namespace
}  // namespace denselet::app
