// Lists of CPUs as the kernel writes them: "0-3,8".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace denselet::app {

// How many different CPUs are in it.
Result<size_t> CountCpus(std::string_view list);
// The CPUs in it below `end`, sorted.
Result<std::vector<int>> CpusBelow(int end, std::string_view list);

}  // namespace denselet::app
