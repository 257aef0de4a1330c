#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/violation.h"

namespace denselet::tidy {

// One pattern of tests/tidy/banned.txt; that file explains the columns.
struct BannedCall {
  std::string pattern;
  std::vector<std::string> tokens;   // of the pattern
  std::vector<std::string> folders;  // top folders where it is banned: "src", "tests"
  std::vector<std::string> owners;   // files, or folders that end in '/'
  std::string use_instead;
};

// Whatever cannot be understood becomes a problem with its line number.
std::vector<BannedCall> ParseBannedCalls(std::string_view table,
                                         std::vector<std::string>* problems);

// Checks one C++ source; comments and literals do not count. An allowance (violation.h) stands
// behind the line or in the comment right above it; one without a reason, for an unknown pattern or
// for nothing is a violation too.
std::vector<Violation> CheckBannedCalls(const std::vector<BannedCall>& banned,
                                        std::string_view path, std::string_view text);

}  // namespace denselet::tidy
