#include "tests/tidy/banned_calls.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "tests/tidy/cpp_text.h"
#include "tests/tidy/cpp_tokens.h"
#include "tests/tidy/text.h"

namespace denselet::tidy {
namespace {

using Tokens = std::span<const CppToken>;

bool IsWord(const CppToken& token) { return IsWordCharacter(token.text[0]); }

// `return open(` is a call, `File open(` declares one.
bool IsKeywordBeforeExpression(std::string_view word) {
  constexpr std::array<std::string_view, 11> kKeywords = {"return", "else",      "do",      "case",
                                                          "throw",  "co_await",  "not",     "and",
                                                          "or",     "co_return", "co_yield"};
  return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
}

bool IsNameOfSomething(const CppToken& token) {
  return IsWord(token) && !IsKeywordBeforeExpression(token.text);
}

bool IsMemberAccess(Tokens before) {
  return !before.empty() && (before.back().text == "." || before.back().text == "->");
}

// Whether what stands before a `name(` makes it something else than a call of the global or std
// function.
bool IsOtherFunction(Tokens before) {
  if (before.empty()) return false;
  if (before.back().text != "::") return IsNameOfSomething(before.back());
  if (before.size() < 2) return false;
  const CppToken& qualifier = before[before.size() - 2];
  if (qualifier.text == ">") return true;  // Template<T>::name(
  return IsNameOfSomething(qualifier) && qualifier.text != "std";
}

bool MatchesAt(const BannedCall& banned, Tokens tokens, size_t at) {
  const std::vector<std::string>& wanted = banned.tokens;
  if (wanted.size() > tokens.size() - at) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (tokens[at + i].text != wanted[i]) return false;
  }
  const Tokens before = tokens.first(at);
  if (IsMemberAccess(before)) return false;
  const bool is_call = wanted.size() > 1 && wanted[1] == "(";
  return !is_call || !IsOtherFunction(before);
}

bool IsBelow(std::string_view folder, std::string_view path) {
  return path.starts_with(folder) && path.substr(folder.size()).starts_with('/');
}

bool IsBannedIn(const BannedCall& banned, std::string_view path) {
  for (const std::string& owner : banned.owners) {
    if (owner.ends_with('/') ? path.starts_with(owner) : path == owner) return false;
  }
  for (const std::string& folder : banned.folders) {
    if (IsBelow(folder, path)) return true;
  }
  return false;
}

struct LineAllowance {
  Allowance allowance;
  int written_line;
  int allowed_line;
  bool used = false;
};

// An allowance in a line of its own is about the next line that has code.
int AllowedLine(const std::vector<std::string_view>& code_lines, size_t index) {
  while (index < code_lines.size() && Trim(code_lines[index]).empty()) ++index;
  return static_cast<int>(index) + 1;
}

std::vector<LineAllowance> CollectAllowances(const CppText& split) {
  const std::vector<std::string_view> code_lines = SplitLines(split.code);
  const std::vector<std::string_view> comment_lines = SplitLines(split.comments);
  std::vector<LineAllowance> allowances;
  for (size_t i = 0; i < comment_lines.size(); ++i) {
    if (auto found = FindAllowance(comment_lines[i])) {
      const int line = static_cast<int>(i) + 1;
      allowances.push_back({std::move(*found), line, AllowedLine(code_lines, i)});
    }
  }
  return allowances;
}

bool UseAllowance(std::vector<LineAllowance>& allowances, std::string_view pattern, int line) {
  bool allowed = false;
  for (LineAllowance& a : allowances) {
    if (a.allowed_line != line || a.allowance.what != pattern) continue;
    a.used = true;
    allowed = allowed || !a.allowance.reason.empty();
  }
  return allowed;
}

bool IsPattern(const std::vector<BannedCall>& banned, std::string_view text) {
  return std::any_of(banned.begin(), banned.end(),
                     [text](const BannedCall& b) { return b.pattern == text; });
}

// The other checkers (repo_rules.h, random_order.h) have names, this one has patterns.
bool IsOfAnotherRule(std::string_view what) {
  return what == "machine-path" || what == "registry-host" || what == "random-order";
}

void CheckAllowances(const std::vector<BannedCall>& banned, std::string_view path,
                     const std::vector<LineAllowance>& allowances,
                     std::vector<Violation>& violations) {
  for (const LineAllowance& a : allowances) {
    if (IsOfAnotherRule(a.allowance.what)) continue;
    std::string fault;
    if (!IsPattern(banned, a.allowance.what)) {
      fault = "names no pattern of tests/tidy/banned.txt";
    } else if (a.allowance.reason.empty()) {
      fault = "gives no reason; write: tidy: allow " + a.allowance.what + " because REASON";
    } else if (!a.used) {
      fault = "allows nothing; remove it";
    }
    if (fault.empty()) continue;
    violations.push_back(
        {std::string(path), a.written_line, "the allowance '" + a.allowance.what + "' " + fault});
  }
}

std::string Message(const BannedCall& banned) {
  std::string message =
      banned.pattern + " is banned here; use " + banned.use_instead + " (owners: ";
  if (banned.owners.empty()) message += "none";
  for (size_t i = 0; i < banned.owners.size(); ++i) {
    message += (i == 0 ? "" : ", ") + banned.owners[i];
  }
  return message + ")";
}

}  // namespace

std::vector<Violation> CheckBannedCalls(const std::vector<BannedCall>& banned,
                                        std::string_view path, std::string_view text) {
  const CppText split = SplitCppText(text);
  const std::vector<CppToken> tokens = TokenizeCpp(split.code);
  std::vector<LineAllowance> allowances = CollectAllowances(split);
  std::vector<Violation> violations;
  for (const BannedCall& b : banned) {
    if (!IsBannedIn(b, path)) continue;
    for (size_t at = 0; at < tokens.size(); ++at) {
      if (!MatchesAt(b, tokens, at)) continue;
      if (UseAllowance(allowances, b.pattern, tokens[at].line)) continue;
      violations.push_back({std::string(path), tokens[at].line, Message(b)});
    }
  }
  CheckAllowances(banned, path, allowances, violations);
  std::stable_sort(violations.begin(), violations.end(),
                   [](const Violation& a, const Violation& b) { return a.line < b.line; });
  return violations;
}

}  // namespace denselet::tidy
