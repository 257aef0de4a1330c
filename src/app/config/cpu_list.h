// Lists of CPUs as the kernel writes them: "0-3,8".
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace denselet::app {

// How many different CPUs are in it.
Result<size_t> CountCpus(std::string_view list);

}  // namespace denselet::app
