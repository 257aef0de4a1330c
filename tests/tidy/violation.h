#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace denselet::tidy {

struct Violation {
  std::string file;  // relative to the root of the repository
  int line = 0;
  std::string message;
};

// One `file:line: message` a line, so that editors can jump there; empty when there is none.
std::string Report(const std::vector<Violation>& violations);

// The way out where a rule is wrong for one line: a comment (`//`, `#` or `<!--`) that starts with
// `tidy: allow WHAT because REASON`.
struct Allowance {
  std::string what;
  std::string reason;  // empty: not given, so the allowance does not count
};

std::optional<Allowance> FindAllowance(std::string_view line);

}  // namespace denselet::tidy
