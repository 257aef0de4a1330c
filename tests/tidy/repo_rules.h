#pragma once

#include <string_view>
#include <vector>

#include "tests/tidy/violation.h"

namespace denselet::tidy {

constexpr int kCppLinesMax = 600;

// Rules for every file git tracks. A text file names no absolute path of somebody's machine and no
// host of a package registry: the repository builds anywhere, and takes packages from where the
// machine is configured to. An allowance (violation.h) for machine-path or registry-host in the
// same line excuses it. Our headers start with #pragma once, and our C++ files have at most
// kCppLinesMax lines.
std::vector<Violation> CheckRepoFile(std::string_view path, std::string_view text);

}  // namespace denselet::tidy
