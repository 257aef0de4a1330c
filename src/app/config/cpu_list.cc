#include "app/config/cpu_list.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "app/flags/text.h"

namespace denselet::app {

Result<size_t> CountCpus(std::string_view list) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  if (list.empty()) return size_t{0};
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
  size_t count = 0;
  int64_t next = ranges.front().first;
  for (const auto& [first, last] : ranges) {
    if (last < next) continue;
    count += static_cast<size_t>(last - std::max(first, next)) + 1;
    next = last + 1;
  }
  return count;
}

}  // namespace denselet::app
