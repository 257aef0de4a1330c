#include "base/metrics.h"

#include <algorithm>
#include <functional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/metrics_snapshot.h"

namespace denselet {
namespace {

using OwnedValues = std::vector<std::string>;
using GivenValues = std::initializer_list<std::string_view>;

// Hash and equality over owned and over given values alike, so that a lookup builds no strings.
struct ValuesHash {
  using is_transparent = void;
  template <class Values>
  size_t operator()(const Values& values) const {
    size_t hash = 0;
    for (const std::string_view value : values) {
      hash = (hash ^ std::hash<std::string_view>{}(value)) * 0x9e3779b97f4a7c15u;
    }
    return hash;
  }
};

struct ValuesEqual {
  using is_transparent = void;
  template <class Left, class Right>
  bool operator()(const Left& left, const Right& right) const {
    return std::ranges::equal(left, right);
  }
};

// All series of one metric on one shard. The map's nodes do not move, hence neither do the cells.
template <class Cell>
class Family {
 public:
  explicit Family(const MetricDef& def) : def_(&def) {
    if (def.labels.size() == 0 && def.appears == MetricAppears::kFromStart) Insert(OwnedValues());
  }

  const MetricDef& def() const { return *def_; }

  // Null when the values are new and there is no room for them.
  Cell* FindOrInsert(GivenValues values) {
    CHECK(values.size() == def_->labels.size());
    if (const auto found = series_.find(values); found != series_.end()) return &found->second;
    if (series_.size() >= def_->series_max) return nullptr;
    return &Insert(OwnedValues(values.begin(), values.end()));
  }

  // A label set that really says "other" everywhere shares this series.
  Cell& Overflow() { return Insert(OwnedValues(def_->labels.size(), "other")); }

  FamilySnapshot Gather() const {
    FamilySnapshot family{.name = std::string(def_->name),
                          .help = std::string(def_->help),
                          .kind = def_->kind,
                          .merge = def_->merge,
                          .label_names = {def_->labels.begin(), def_->labels.end()},
                          .bounds = {def_->buckets.begin(), def_->buckets.end()}};
    family.series.reserve(series_.size());
    // tidy: allow random-order because Normalize sorts the series of a snapshot
    for (const auto& [values, cell] : series_) family.series.push_back(SnapshotOf(cell, values));
    return family;
  }

 private:
  Cell& Insert(OwnedValues values) {
    if constexpr (std::is_same_v<Cell, HistogramCell>) {
      return series_.try_emplace(std::move(values), def_->buckets).first->second;
    } else {
      return series_.try_emplace(std::move(values)).first->second;
    }
  }

  const MetricDef* def_;
  std::unordered_map<OwnedValues, Cell, ValuesHash, ValuesEqual> series_;
};

using AnyFamily = std::variant<Family<CounterCell>, Family<GaugeCell>, Family<HistogramCell>>;

AnyFamily NewFamily(const MetricDef& def) {
  switch (def.kind) {
    case MetricKind::kCounter:
      return Family<CounterCell>(def);
    case MetricKind::kGauge:
      return Family<GaugeCell>(def);
    case MetricKind::kHistogram:
      return Family<HistogramCell>(def);
  }
  __builtin_unreachable();
}

enum class OwnMetric : uint8_t { kOverflow };

// One series per metric of the table, so it needs no bound of its own.
constexpr MetricDef kOverflowMetric = {
    .id = OwnMetric::kOverflow,
    .name = kMetricsOverflowName,
    .kind = MetricKind::kCounter,
    .help =
        "[ALPHA] Uses of a metric with new label values when it had its maximum of series; "
        "they count under the label value other.",
    .labels = {"metric"},
    .series_max = UINT32_MAX};

}  // namespace

struct MetricStore::Families {
  template <class Cell>
  Cell& Find(uint16_t index, LabelValues values) {
    auto* family = std::get_if<Family<Cell>>(&all[index]);
    CHECK(family != nullptr);  // MetricKey looked at the same table
    if (Cell* cell = family->FindOrInsert(values)) return *cell;
    overflow.FindOrInsert({family->def().name})->Increment();
    return family->Overflow();
  }

  std::vector<AnyFamily> all;  // in the order of the table
  Family<CounterCell> overflow{kOverflowMetric};
};

MetricStore::MetricStore(std::span<const MetricDef> table)
    : families_(std::make_unique<Families>()) {
  families_->all.reserve(table.size());
  for (const MetricDef& def : table) families_->all.push_back(NewFamily(def));
}

MetricStore::~MetricStore() = default;

CounterCell& MetricStore::CounterAt(uint16_t index, LabelValues values) {
  return families_->Find<CounterCell>(index, values);
}

GaugeCell& MetricStore::GaugeAt(uint16_t index, LabelValues values) {
  return families_->Find<GaugeCell>(index, values);
}

HistogramCell& MetricStore::HistogramAt(uint16_t index, LabelValues values) {
  return families_->Find<HistogramCell>(index, values);
}

MetricsSnapshot MetricStore::Gather() const {
  MetricsSnapshot snapshot;
  const auto add = [&snapshot](const auto& family) {
    const Status added = snapshot.Add(family.Gather());
    CHECK(added);  // AreMetricsValid has asked the same of the table
  };
  for (const AnyFamily& family : families_->all) std::visit(add, family);
  add(families_->overflow);
  return snapshot;
}

}  // namespace denselet
