#include "tests/tidy/include_rules.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "tests/tidy/cpp_text.h"
#include "tests/tidy/folder_path.h"
#include "tests/tidy/header_topics.h"
#include "tests/tidy/text.h"

namespace denselet::tidy {
namespace {

constexpr std::string_view kSource = "src/";
constexpr std::array<std::string_view, 2> kFoldersOutsideSource = {"tests", "bench"};

bool IsOutsideSource(std::string_view folder) {
  for (const std::string_view outside : kFoldersOutsideSource) {
    if (Covers(outside, folder)) return true;
  }
  return false;
}

// The most specific rule: reactor/api before reactor.
const IncludeRule* FindRule(const std::vector<IncludeRule>& rules, std::string_view folder) {
  const IncludeRule* best = nullptr;
  for (const IncludeRule& rule : rules) {
    if (!Covers(rule.folder, folder)) continue;
    if (!best || CountComponents(rule.folder) > CountComponents(best->folder)) best = &rule;
  }
  return best;
}

// The folder a rule with a star is about in this place: "managers/cpu".
std::string OwnFolder(const IncludeRule& rule, std::string_view folder) {
  return std::string(FirstComponents(folder, CountComponents(rule.folder)));
}

struct Include {
  int line;
  std::string header;   // empty: a macro or a torn line
  std::string written;  // with its quotes or brackets
};

// `code` tells a directive from text that looks like one; the header's name stands in `source`
// only.
std::optional<Include> ParseInclude(std::string_view code, std::string_view source, int line) {
  constexpr std::string_view kInclude = "include";
  size_t at = code.find_first_not_of(" \t");
  if (at == std::string_view::npos || code[at] != '#') return {};
  at = code.find_first_not_of(" \t", at + 1);
  if (at == std::string_view::npos || !code.substr(at).starts_with(kInclude)) return {};
  at += kInclude.size();
  if (at < code.size() && IsWordCharacter(code[at])) return {};

  const size_t open = code.find_first_not_of(" \t", at);
  if (open == std::string_view::npos) return Include{line, "", ""};
  const char closer = code[open] == '<' ? '>' : '"';
  const size_t close = source.find(closer, open + 1);
  if ((code[open] != '<' && code[open] != '"') || close == std::string_view::npos) {
    return Include{line, "", std::string(Trim(source.substr(open)))};
  }
  return Include{line, std::string(source.substr(open + 1, close - open - 1)),
                 std::string(source.substr(open, close - open + 1))};
}

std::vector<Include> ParseIncludes(std::string_view text) {
  const CppText split = SplitCppText(text);
  const std::vector<std::string_view> code_lines = SplitLines(split.code);
  const std::vector<std::string_view> source_lines = SplitLines(text);
  std::vector<Include> includes;
  for (size_t i = 0; i < code_lines.size(); ++i) {
    auto include = ParseInclude(code_lines[i], source_lines[i], static_cast<int>(i) + 1);
    if (include) includes.push_back(std::move(*include));
  }
  return includes;
}

enum class Origin { kProject, kOutsideSource, kExternal, kUnknown };

struct Target {
  Origin origin;
  std::string folder;  // of kProject
};

bool IsLibraryHeader(std::string_view header) {
  for (const HeaderTopic& library : Libraries()) {
    for (const std::string_view pattern : library.headers) {
      if (MatchesHeader(pattern, header)) return true;
    }
  }
  return false;
}

Target Locate(const std::vector<IncludeRule>& rules, const Include& include) {
  const std::string_view folder = FolderOf(include.header);
  if (IsOutsideSource(folder)) return {Origin::kOutsideSource, ""};
  if (const IncludeRule* rule = FindRule(rules, folder)) {
    return {Origin::kProject, OwnFolder(*rule, folder)};
  }
  for (const GeneratedHeaders& generated : Generated()) {
    if (include.header.starts_with(generated.prefix)) {
      return {Origin::kProject, std::string(generated.folder)};
    }
  }
  if (include.written.starts_with('<') || IsLibraryHeader(include.header)) {
    return {Origin::kExternal, ""};
  }
  return {Origin::kUnknown, ""};
}

std::string AllowedText(const IncludeRule& rule, const std::string& own_folder) {
  if (rule.may_include_all) return own_folder + " may include all of src";
  std::string text = own_folder + " may include itself";
  for (const std::string& folder : rule.may_include) text += ", " + folder;
  return text;
}

const ForbiddenHeader* FindForbidden(const IncludeRule& rule, const Include& include,
                                     const Target& target) {
  for (const ForbiddenHeader& never : rule.never) {
    if (MatchesHeader(never.pattern, include.header)) return &never;
    if (MatchesHeader(never.pattern, target.folder + "/")) return &never;
  }
  return nullptr;
}

bool MayInclude(const IncludeRule& rule, const std::string& own_folder, const Target& target) {
  if (rule.may_include_all || Covers(own_folder, target.folder)) return true;
  for (const std::string& folder : rule.may_include) {
    if (Covers(folder, target.folder)) return true;
  }
  return false;
}

// Why the include is wrong; nothing when it is fine.
std::optional<std::string> Objection(const IncludeRule& rule, const std::string& own_folder,
                                     const Include& include, const Target& target) {
  if (include.header.empty()) return "which names no header";
  if (const ForbiddenHeader* never = FindForbidden(rule, include, target)) {
    return "which " + own_folder + " must never see (" + never->word + ")";
  }
  switch (target.origin) {
    case Origin::kExternal:
      return {};
    case Origin::kOutsideSource:
      return "but nothing in src includes tests or bench";
    case Origin::kUnknown:
      return "which lies in no folder of the table; write it relative to src/, and a library's in "
             "<>";
    case Origin::kProject:
      if (MayInclude(rule, own_folder, target)) return {};
      return "of " + target.folder + ", which " + own_folder + " may not include";
  }
  return {};
}

}  // namespace

std::vector<Violation> CheckIncludes(const std::vector<IncludeRule>& rules, std::string_view path,
                                     std::string_view text) {
  if (IsOutsideSource(path)) return {};
  const std::string file(path);
  std::string_view folder = FolderOf(path);
  if (!path.starts_with(kSource))
    return {{file, 1, "lies neither in src nor in tests nor in bench"}};
  folder.remove_prefix(std::min(folder.size(), kSource.size()));

  const IncludeRule* rule = IsOutsideSource(folder) ? nullptr : FindRule(rules, folder);
  if (rule == nullptr) {
    return {
        {file, 1, "no row of the include table is about the folder src/" + std::string(folder)}};
  }
  const std::string own_folder = OwnFolder(*rule, folder);
  std::vector<Violation> violations;
  for (const Include& include : ParseIncludes(text)) {
    const auto objection = Objection(*rule, own_folder, include, Locate(rules, include));
    if (!objection) continue;
    violations.push_back({file, include.line,
                          "includes " + include.written + ", " + *objection + "; " +
                              AllowedText(*rule, own_folder) + " (row: " + rule->row + ")"});
  }
  return violations;
}

}  // namespace denselet::tidy
