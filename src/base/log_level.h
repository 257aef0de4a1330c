// Which lines are wanted: -v for all files and --vmodule for some, with klog's meaning.
//
// --vmodule is a comma-separated list of pattern=N. A pattern is a glob (* ? [a-z] [^a-z] and \ to
// take a character literally; * and ? stop at '/') for the file's name without folder and .cc or
// .h; a pattern with a '/' is for its path from src/ on, "managers/probe/*=4". The first pattern
// that matches decides, and only ever adds lines to those that -v lets through. N = 0 is skipped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace denselet {

// Where src/ starts: ".../src/sync/pod_worker.cc" is "sync/pod_worker.cc". A path without one (a
// test's) stays whole.
constexpr std::string_view PathFromSrc(std::string_view path) {
  const size_t folder = path.rfind("/src/");
  if (folder != path.npos) return path.substr(folder + 5);
  return path.starts_with("src/") ? path.substr(4) : path;
}

struct VmoduleRule {
  std::string pattern;
  int32_t verbosity = 0;

  // `file` is a path from src/ on.
  bool Matches(std::string_view file) const;

  friend bool operator==(const VmoduleRule&, const VmoduleRule&) = default;
};

struct LogLevels {
  int32_t verbosity = 0;
  std::vector<VmoduleRule> rules;

  friend bool operator==(const LogLevels&, const LogLevels&) = default;
};

// Past this --vmodule is refused: every line below its levels is matched against every pattern.
inline constexpr size_t kVmoduleRulesMax = 128;

// 0 to 2147483647 in digits, as -v and /debug/flags/v take it.
Result<int32_t> ParseVerbosity(std::string_view text);

// Also a pattern that could never match is an error, where klog would ignore it in silence.
Result<VmoduleRule> MakeVmoduleRule(std::string_view pattern, int32_t verbosity);
Result<LogLevels> ParseLogLevels(int32_t verbosity, std::string_view vmodule);

// The rules as --vmodule takes them.
std::string FormatVmodule(const std::vector<VmoduleRule>& rules);

// The levels in force, asked by every thread before every line. One per process, owned by the
// composition root, outlives all loggers. Set and SetVerbosity are for one thread, the one that
// serves /debug/flags/v; a line that is logged meanwhile may see the old or the new levels.
class LogVerbosity {
 public:
  explicit LogVerbosity(int32_t verbosity = 0) { SetVerbosity(verbosity); }
  LogVerbosity(const LogVerbosity&) = delete;
  LogVerbosity& operator=(const LogVerbosity&) = delete;

  // One relaxed load where --vmodule is not set, or does not go as far as `level`. `file` may be
  // a whole path.
  bool Enabled(int32_t level, std::string_view file) const {
    const uint64_t limits = limits_.load(std::memory_order_relaxed);
    if (level <= Everywhere(limits)) return true;
    if (level > InSomeFile(limits)) [[likely]]
      return false;
    return EnabledIn(file, level);
  }

  // Keeps the rules.
  void SetVerbosity(int32_t verbosity);
  // kOverloaded after kRuleListsMax different lists of rules: readers take no lock, so a list that
  // was once in force is kept until the end. Nobody edits --vmodule that often.
  Status Set(const LogLevels& levels);
  static constexpr size_t kRuleListsMax = 64;

  LogLevels levels() const;  // for the thread that sets

 private:
  using Rules = std::vector<VmoduleRule>;

  static int32_t Everywhere(uint64_t limits) { return static_cast<int32_t>(limits & UINT32_MAX); }
  static int32_t InSomeFile(uint64_t limits) { return static_cast<int32_t>(limits >> 32); }
  bool EnabledIn(std::string_view file, int32_t level) const;

  // Both limits in one word: -v in the lower half, the highest level of any rule in the upper.
  std::atomic<uint64_t> limits_ = 0;
  std::atomic<const Rules*> rules_ = nullptr;  // one of lists_
  std::vector<std::unique_ptr<const Rules>> lists_;
};

}  // namespace denselet
