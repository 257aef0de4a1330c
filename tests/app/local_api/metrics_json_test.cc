#include "app/local_api/metrics_json.h"

#include <gtest/gtest.h>

#include <limits>

namespace denselet::app {
namespace {

TEST(MetricsJson, HasSeriesAndBuckets) {
  MetricsSnapshot all;
  FamilySnapshot gauge{.name = "g", .help = "A \"gauge\".", .label_names = {"l"}};
  gauge.series.push_back({.label_values = {"x"}, .value = 1.5});
  gauge.series.push_back({.label_values = {"y"}, .value = std::numeric_limits<double>::infinity()});
  FamilySnapshot histogram{
      .name = "h", .help = "H.", .kind = MetricKind::kHistogram, .bounds = {0.1, 1}};
  histogram.series.push_back({.value = 7, .bucket_counts = {1, 2, 3}});
  ASSERT_TRUE(all.Add(gauge));
  ASSERT_TRUE(all.Add(histogram));
  ASSERT_TRUE(all.Add({.name = "unused", .help = "U.", .label_names = {"l"}}));
  EXPECT_EQ(
      RenderMetricsJson(all),
      R"({"families":[{"name":"g","type":"gauge","help":"A \"gauge\".","series":[)"
      R"({"labels":{"l":"x"},"value":1.5},{"labels":{"l":"y"},"value":"+Inf"}]},)"
      R"({"name":"h","type":"histogram","help":"H.","series":[{"labels":{},"buckets":[)"
      R"({"le":0.1,"count":1},{"le":1,"count":3},{"le":"+Inf","count":6}],"count":6,"sum":7}]}]})"
      "\n");
}

}  // namespace
}  // namespace denselet::app
