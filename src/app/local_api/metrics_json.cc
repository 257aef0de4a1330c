#include "app/local_api/metrics_json.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "app/local_api/json_out.h"
#include "app/metrics_text.h"

namespace denselet::app {
namespace {

void AppendNumber(double value, std::string& out) {
  if (std::isnan(value)) return JsonText(out, "NaN");
  if (std::isinf(value)) return JsonText(out, value > 0 ? "+Inf" : "-Inf");
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  out.append(text, end);
}

void AddBuckets(const FamilySnapshot& family, const SeriesSnapshot& series, JsonObject& object) {
  uint64_t count = 0;
  {
    JsonList buckets(object.Key("buckets"));
    for (size_t i = 0; i < series.bucket_counts.size(); ++i) {
      count += series.bucket_counts[i];
      JsonObject bucket(buckets.Next());
      AppendNumber(i < family.bounds.size() ? family.bounds[i] : INFINITY, bucket.Key("le"));
      bucket.Number("count", count);
    }
  }
  object.Number("count", count);
  AppendNumber(series.value, object.Key("sum"));
}

void AddSeries(const FamilySnapshot& family, const SeriesSnapshot& series, std::string& out) {
  JsonObject object(out);
  {
    JsonObject labels(object.Key("labels"));
    for (size_t i = 0; i < family.label_names.size(); ++i) {
      labels.Text(family.label_names[i], series.label_values[i]);
    }
  }
  if (family.kind == MetricKind::kHistogram) return AddBuckets(family, series, object);
  AppendNumber(series.value, object.Key("value"));
}

}  // namespace

std::string RenderMetricsJson(const MetricsSnapshot& snapshot) {
  std::string text;
  {
    JsonObject all(text);
    JsonList families(all.Key("families"));
    for (const auto& [name, family] : snapshot.families()) {
      if (family.series.empty()) continue;
      JsonObject object(families.Next());
      object.Text("name", name);
      object.Text("type", MetricTypeName(family.kind));
      object.Text("help", family.help);
      JsonList series(object.Key("series"));
      for (const SeriesSnapshot& one : family.series) AddSeries(family, one, series.Next());
    }
  }
  return text + "\n";
}

}  // namespace denselet::app
