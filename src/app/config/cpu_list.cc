#include "app/config/cpu_list.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "app/flags/text.h"

namespace denselet::app {

namespace {

using CpuRanges = std::vector<std::pair<int64_t, int64_t>>;

// Sorted; they may overlap.
Result<CpuRanges> ParseRanges(std::string_view list) {
  CpuRanges ranges;
  if (list.empty()) return ranges;
  for (const std::string_view range : Split(list, ',')) {
    const size_t dash = range.find('-');
    const auto first = ParseDecimal(range.substr(0, dash));
    const auto last = dash == range.npos ? first : ParseDecimal(range.substr(dash + 1));
    if (!first || !last || *first > *last) {
      return Error(ErrorCode::kInvalid, "no list of CPUs: " + std::string(list));
    }
    ranges.emplace_back(*first, *last);
  }
  std::ranges::sort(ranges);
  return ranges;
}

}  // namespace

Result<size_t> CountCpus(std::string_view list) {
  const Result<CpuRanges> ranges = ParseRanges(list);
  if (!ranges) return ranges.error();
  size_t count = 0;
  int64_t next = 0;
  for (const auto& [first, last] : *ranges) {
    if (last < next) continue;
    count += static_cast<size_t>(last - std::max(first, next)) + 1;
    next = last + 1;
  }
  return count;
}

Result<std::vector<int>> CpusBelow(int end, std::string_view list) {
  const Result<CpuRanges> ranges = ParseRanges(list);
  if (!ranges) return ranges.error();
  std::vector<int> cpus;
  int64_t next = 0;
  for (const auto& [first, last] : *ranges) {
    for (next = std::max(first, next); next <= last && next < end; ++next) {
      cpus.push_back(static_cast<int>(next));
    }
  }
  return cpus;
}

}  // namespace denselet::app
