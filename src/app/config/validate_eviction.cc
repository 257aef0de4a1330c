// Rules about eviction: signals, thresholds, and what belongs to them.
#include <array>
#include <charconv>
#include <optional>

#include "app/config/validate_parts.h"
#include "base/time.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "kube/api/values/quantity.h"

namespace denselet::app {
namespace {

constexpr std::array<std::string_view, 9> kSignals = {
    "memory.available",       "nodefs.available",
    "nodefs.inodesFree",      "imagefs.available",
    "imagefs.inodesFree",     "containerfs.available",
    "containerfs.inodesFree", "allocatableMemory.available",
    "pid.available"};

std::string SignalList() {
  std::string list;
  for (const std::string_view signal : kSignals)
    list.append(list.empty() ? "" : ", ").append(signal);
  return list;
}

// The number before the last percent sign.
std::optional<double> ParsePercent(std::string_view text) {
  while (text.ends_with('%')) text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

bool ConfigRules::Signal(const std::string& path, const std::string& signal) {
  for (const std::string_view known : kSignals) {
    if (known == signal) return true;
  }
  Wanted(path, InQuotes(signal), "one of " + SignalList());
  return false;
}

void ConfigRules::Threshold(const std::string& path, const std::string& signal,
                            const std::string& value) {
  if (!Signal(path, signal)) return;
  if (value.ends_with('%')) {
    const auto percent = ParsePercent(value);
    if (!percent || !(*percent >= 0 && *percent <= 100)) {
      Wanted(path, InQuotes(value), "0% to 100%");
    }
    return;
  }
  const auto quantity = kube::Quantity::Parse(value);
  if (!quantity || quantity->Sign() <= 0) {
    Wanted(path, InQuotes(value), "a quantity above 0, or a percentage");
  }
}

void ConfigRules::Reclaim(const std::string& path, const std::string& value) {
  if (value.ends_with('%')) {
    const auto percent = ParsePercent(value);
    if (!percent || !(*percent > 0)) Wanted(path, InQuotes(value), "more than 0%");
    return;
  }
  const auto quantity = kube::Quantity::Parse(value);
  if (!quantity || quantity->Sign() < 0) {
    Wanted(path, InQuotes(value), "a quantity of 0 or more, or a percentage");
  }
}

void ConfigRules::Eviction() {
  for (const auto* entry : kube::Sorted(config_.evictionhard())) {
    Threshold("evictionHard[" + entry->first + "]", entry->first, entry->second);
  }
  for (const auto* entry : kube::Sorted(config_.evictionsoft())) {
    const std::string path = "evictionSoft[" + entry->first + "]";
    Threshold(path, entry->first, entry->second);
    const bool dropped = entry->second == "0%" || entry->second == "100%";
    if (!dropped && !config_.evictionsoftgraceperiod().contains(entry->first)) {
      Add(path, "found " + InQuotes(entry->second) + ", which needs a time in " +
                    "evictionSoftGracePeriod[" + entry->first + "]");
    }
  }
  for (const auto* entry : kube::Sorted(config_.evictionsoftgraceperiod())) {
    const std::string path = "evictionSoftGracePeriod[" + entry->first + "]";
    if (!Signal(path, entry->first)) continue;
    const auto period = ParseDuration(entry->second);
    if (!period || *period < Duration::zero()) {
      Wanted(path, InQuotes(entry->second), "a duration of 0s or more, such as 1m30s");
    }
  }
  for (const auto* entry : kube::Sorted(config_.evictionminimumreclaim())) {
    const std::string path = "evictionMinimumReclaim[" + entry->first + "]";
    if (Signal(path, entry->first)) Reclaim(path, entry->second);
  }
}

}  // namespace denselet::app
