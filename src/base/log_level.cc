#include "base/log_level.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace denselet {
namespace {

// One step of a glob: what it may stand for, and the pattern behind it.
struct GlobStep {
  enum class Kind : uint8_t { kLiteral, kAnyOne, kAnyRun, kClass };
  Kind kind = Kind::kLiteral;
  char literal = 0;
  bool negated = false;          // kClass
  std::string_view ranges = {};  // kClass: what stands between the brackets
  std::string_view rest = {};
};

// A character, or a backslash and a character; nothing where the pattern ends too early.
std::optional<char> TakeCharacter(std::string_view& pattern) {
  if (!pattern.empty() && pattern[0] == '\\') pattern.remove_prefix(1);
  if (pattern.empty()) return std::nullopt;
  const char c = pattern[0];
  pattern.remove_prefix(1);
  return c;
}

// A character of a class, where '-' and ']' mean themselves only behind a backslash.
std::optional<char> TakeClassCharacter(std::string_view& ranges) {
  if (ranges.empty() || ranges[0] == '-' || ranges[0] == ']') return std::nullopt;
  return TakeCharacter(ranges);
}

struct Range {
  char first, last;
};

std::optional<Range> TakeRange(std::string_view& ranges) {
  const auto first = TakeClassCharacter(ranges);
  if (!first) return std::nullopt;
  if (ranges.empty() || ranges[0] != '-') return Range{*first, *first};
  ranges.remove_prefix(1);
  const auto last = TakeClassCharacter(ranges);
  if (!last) return std::nullopt;
  return Range{*first, *last};
}

// `pattern` stands behind the opening bracket.
std::optional<GlobStep> TakeClass(std::string_view pattern) {
  GlobStep step{.kind = GlobStep::Kind::kClass};
  if (!pattern.empty() && pattern[0] == '^') {
    step.negated = true;
    pattern.remove_prefix(1);
  }
  step.ranges = pattern;
  do {
    if (!TakeRange(pattern)) return std::nullopt;
  } while (!pattern.empty() && pattern[0] != ']');
  if (pattern.empty()) return std::nullopt;
  step.ranges.remove_suffix(pattern.size());
  step.rest = pattern.substr(1);
  return step;
}

// Nothing when the pattern is malformed. Not for an empty one.
std::optional<GlobStep> TakeStep(std::string_view pattern) {
  const std::string_view behind = pattern.substr(1);
  if (pattern[0] == '*') return GlobStep{.kind = GlobStep::Kind::kAnyRun, .rest = behind};
  if (pattern[0] == '?') return GlobStep{.kind = GlobStep::Kind::kAnyOne, .rest = behind};
  if (pattern[0] == '[') return TakeClass(behind);
  const auto c = TakeCharacter(pattern);
  if (!c) return std::nullopt;
  return GlobStep{.kind = GlobStep::Kind::kLiteral, .literal = *c, .rest = pattern};
}

bool IsWellFormed(std::string_view pattern) {
  while (!pattern.empty()) {
    const auto step = TakeStep(pattern);
    if (!step) return false;
    pattern = step->rest;
  }
  return true;
}

bool ClassHolds(std::string_view ranges, char c) {
  while (!ranges.empty()) {
    const auto range = TakeRange(ranges);
    if (!range) return false;
    if (range->first <= c && c <= range->last) return true;
  }
  return false;
}

bool StepTakes(const GlobStep& step, char c) {
  switch (step.kind) {
    case GlobStep::Kind::kLiteral:
      return c == step.literal;
    case GlobStep::Kind::kAnyOne:
      return c != '/';
    case GlobStep::Kind::kClass:
      return ClassHolds(step.ranges, c) != step.negated;
    case GlobStep::Kind::kAnyRun:
      return false;
  }
  return false;
}

// Goes back to the last star only, so the work is bounded by both lengths multiplied.
bool GlobMatches(std::string_view pattern, std::string_view text) {
  std::optional<std::string_view> behind_star;
  std::string_view star_text;  // what the last star has not taken
  while (true) {
    if (pattern.empty() && text.empty()) return true;
    if (!pattern.empty()) {
      const auto step = TakeStep(pattern);
      if (!step) return false;
      if (step->kind == GlobStep::Kind::kAnyRun) {
        pattern = step->rest;
        behind_star = pattern;
        star_text = text;
        continue;
      }
      if (!text.empty() && StepTakes(*step, text[0])) {
        pattern = step->rest;
        text.remove_prefix(1);
        continue;
      }
    }
    if (!behind_star || star_text.empty() || star_text[0] == '/') return false;
    star_text.remove_prefix(1);
    text = star_text;
    pattern = *behind_star;
  }
}

std::string_view WithoutExtension(std::string_view file) {
  for (const std::string_view extension : {".cc", ".h"}) {
    if (file.ends_with(extension)) return file.substr(0, file.size() - extension.size());
  }
  return file;
}

Error Invalid(std::string_view text, std::string_view why) {
  return Error(ErrorCode::kInvalid, "\"" + std::string(text) + "\" " + std::string(why));
}

Result<VmoduleRule> ParseRule(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals >= text.size() - 1 || text.find('=', equals + 1) != text.npos) {
    return Invalid(text, "does not have the form pattern=N");
  }
  const auto verbosity = ParseVerbosity(text.substr(equals + 1));
  if (!verbosity) return verbosity.error().With("verbosity in", text);
  return MakeVmoduleRule(text.substr(0, equals), *verbosity);
}

}  // namespace

bool VmoduleRule::Matches(std::string_view file) const {
  file = WithoutExtension(file);
  if (pattern.find('/') == pattern.npos) file.remove_prefix(file.rfind('/') + 1);
  return GlobMatches(pattern, file);
}

Result<int32_t> ParseVerbosity(std::string_view text) {
  int32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 0 || text[0] == '-') {
    return Invalid(text, "is not a number from 0 to 2147483647");
  }
  return value;
}

Result<VmoduleRule> MakeVmoduleRule(std::string_view pattern, int32_t verbosity) {
  if (pattern.empty()) return Invalid(pattern, "is not a file pattern");
  if (pattern.find_first_of("=,") != pattern.npos) {
    return Invalid(pattern, "must not contain equal sign or comma");
  }
  if (!IsWellFormed(pattern)) {
    return Invalid(pattern, "is not a file pattern: a bracket or backslash is not completed");
  }
  if (verbosity < 0) return Invalid(pattern, "has a negative verbosity");
  return VmoduleRule{std::string(pattern), verbosity};
}

Result<LogLevels> ParseLogLevels(int32_t verbosity, std::string_view vmodule) {
  LogLevels levels{.verbosity = verbosity, .rules = {}};
  while (!vmodule.empty()) {
    const std::string_view text = vmodule.substr(0, vmodule.find(','));
    vmodule.remove_prefix(std::min(text.size() + 1, vmodule.size()));
    if (text.empty()) continue;  // klog forgives "a=1," and "a=1,,b=2"
    if (levels.rules.size() == kVmoduleRulesMax) {
      return Error(ErrorCode::kInvalid,
                   "more than " + std::to_string(kVmoduleRulesMax) + " file patterns in vmodule");
    }
    auto rule = ParseRule(text);
    if (!rule) return rule.error();
    levels.rules.push_back(*std::move(rule));
  }
  return levels;
}

std::string FormatVmodule(const std::vector<VmoduleRule>& rules) {
  std::string out;
  for (const VmoduleRule& rule : rules) {
    if (!out.empty()) out += ',';
    out += rule.pattern + "=" + std::to_string(rule.verbosity);
  }
  return out;
}

bool LogVerbosity::EnabledIn(std::string_view file, int32_t level) const {
  const Rules* rules = rules_.load(std::memory_order_acquire);
  if (rules == nullptr) return false;
  file = PathFromSrc(file);
  for (const VmoduleRule& rule : *rules) {
    if (rule.verbosity > 0 && rule.Matches(file)) return level <= rule.verbosity;
  }
  return false;
}

void LogVerbosity::SetVerbosity(int32_t verbosity) {
  int32_t highest = verbosity;
  if (const Rules* rules = rules_.load(std::memory_order_relaxed)) {
    for (const VmoduleRule& rule : *rules) highest = std::max(highest, rule.verbosity);
  }
  const auto everywhere = static_cast<uint32_t>(verbosity);
  const auto in_some_file = static_cast<uint32_t>(highest);
  limits_.store(uint64_t{in_some_file} << 32 | everywhere, std::memory_order_relaxed);
}

Status LogVerbosity::Set(const LogLevels& levels) {
  auto list = std::find_if(lists_.begin(), lists_.end(),
                           [&](const auto& known) { return *known == levels.rules; });
  if (list == lists_.end()) {
    if (lists_.size() == kRuleListsMax) {
      return Error(ErrorCode::kOverloaded, "vmodule was changed too often; restart to change it");
    }
    list = lists_.insert(list, std::make_unique<const Rules>(levels.rules));
  }
  rules_.store(list->get(), std::memory_order_release);
  SetVerbosity(levels.verbosity);
  return Ok();
}

LogLevels LogVerbosity::levels() const {
  const Rules* rules = rules_.load(std::memory_order_relaxed);
  return {.verbosity = Everywhere(limits_.load(std::memory_order_relaxed)),
          .rules = rules == nullptr ? Rules() : *rules};
}

}  // namespace denselet
