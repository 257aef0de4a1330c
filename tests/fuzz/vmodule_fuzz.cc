// Any --vmodule is either refused or taken whole: it can be written down and read again, and its
// patterns can be matched against any path, in bounded time and by rules that hold for every glob.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/log_level.h"

namespace denselet {
namespace {

void CheckLiteral(const VmoduleRule& rule) {
  if (rule.pattern.find_first_of("\\*?[") != rule.pattern.npos) return;
  // Folders stay as they are, and only one extension is taken off.
  CHECK(rule.Matches(rule.pattern + ".cc"));
  CHECK(rule.Matches(rule.pattern + ".h"));
  CHECK(!rule.Matches(rule.pattern + "x.cc"));
}

// A star in front takes any beginning of the name, and one behind any end.
void CheckStars(const VmoduleRule& rule, std::string_view file) {
  if (!rule.Matches(file)) return;
  CHECK(VmoduleRule({"*" + rule.pattern, 1}).Matches(file));
  CHECK(VmoduleRule({rule.pattern + "*", 1}).Matches(file));
}

void CheckLevels(const LogLevels& levels, std::string_view file) {
  LogVerbosity verbosity;
  CHECK(verbosity.Set(levels));
  CHECK(verbosity.levels() == levels);
  const auto rule = std::find_if(
      levels.rules.begin(), levels.rules.end(),
      [&](const VmoduleRule& r) { return r.verbosity > 0 && r.Matches(PathFromSrc(file)); });
  const int32_t own = rule == levels.rules.end() ? 0 : rule->verbosity;
  const int32_t highest = std::max(levels.verbosity, own);
  CHECK(verbosity.Enabled(highest, file));
  CHECK(highest == INT32_MAX || !verbosity.Enabled(highest + 1, file));
}

}  // namespace
}  // namespace denselet

// The input: --vmodule, and after the first line end a path.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace denselet;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view vmodule = input.substr(0, input.find('\n'));
  const std::string_view file = input.substr(std::min(vmodule.size() + 1, input.size()));
  const auto levels = ParseLogLevels(2, vmodule);
  if (!levels) {
    CHECK(levels.error().code() == ErrorCode::kInvalid);
    CHECK(!levels.error().message().empty());
    return 0;
  }
  const auto again = ParseLogLevels(2, FormatVmodule(levels->rules));
  CHECK(again && *again == *levels);
  CHECK(levels->rules.size() <= kVmoduleRulesMax);
  for (const VmoduleRule& rule : levels->rules) {
    CheckLiteral(rule);
    CheckStars(rule, file);
  }
  CheckLevels(*levels, file);
  return 0;
}
