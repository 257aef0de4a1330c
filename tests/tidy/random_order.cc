#include "tests/tidy/random_order.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "tests/tidy/cpp_text.h"
#include "tests/tidy/cpp_tokens.h"
#include "tests/tidy/text.h"

namespace denselet::tidy {
namespace {

using Tokens = std::span<const CppToken>;
using Names = std::set<std::string, std::less<>>;

constexpr std::string_view kHelper = "src/kube/api/codec/sorted.h";
constexpr std::string_view kRule = "random-order";

bool IsWord(std::string_view text) { return IsWordCharacter(text[0]); }

std::string_view At(Tokens tokens, size_t i) {
  return i < tokens.size() ? tokens[i].text : std::string_view(";");
}

// The index behind the bracket that closes the one at `open`.
size_t BehindBrackets(Tokens tokens, size_t open, std::string_view opener,
                      std::string_view closer) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].text == opener) ++depth;
    if (tokens[i].text == closer && --depth == 0) return i + 1;
  }
  return tokens.size();
}

bool IsMapField(const MapFields& fields, std::string_view accessor) {
  constexpr std::string_view kMutable = "mutable_";
  if (accessor.starts_with(kMutable)) accessor.remove_prefix(kMutable.size());
  // `default` is a word of C++: its accessor has an underscore behind it.
  if (accessor == "default_") accessor.remove_suffix(1);
  return fields.contains(accessor);
}

// What the expression ends with: the name of a call without arguments, or of a variable.
struct Ending {
  std::string_view name;
  bool is_call = false;
  bool is_member = false;
};

std::optional<Ending> EndingOf(Tokens expression) {
  while (!expression.empty() && expression.back().text == ")") {
    const size_t size = expression.size();
    if (size > 1 && expression[size - 2].text == "(") {
      expression = expression.first(size - 2);
      if (expression.empty() || !IsWord(expression.back().text)) return std::nullopt;
      const bool is_member =
          expression.size() > 1 && (expression[expression.size() - 2].text == "." ||
                                    expression[expression.size() - 2].text == "->");
      return Ending{expression.back().text, true, is_member};
    }
    // (*x): only the brackets around a whole expression are looked through.
    if (expression.front().text != "(") return std::nullopt;
    expression = expression.subspan(1, size - 2);
  }
  if (expression.empty() || !IsWord(expression.back().text)) return std::nullopt;
  return Ending{expression.back().text, false, false};
}

class Checker {
 public:
  Checker(const MapFields& fields, Tokens tokens) : fields_(fields), tokens_(tokens) {}

  // unordered_map<K, V> NAME, Map<K, V>& NAME, NAME = x.labels();
  void CollectNames(Tokens tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      const std::string_view text = tokens[i].text;
      if ((text.starts_with("unordered_") || text == "Map") && At(tokens, i + 1) == "<") {
        size_t name = BehindBrackets(tokens, i + 1, "<", ">");
        while (At(tokens, name) == "&" || At(tokens, name) == "*" || At(tokens, name) == "const") {
          ++name;
        }
        const std::string_view behind = At(tokens, name + 1);
        if (IsWord(At(tokens, name)) && behind != "(" && behind != "::") {
          names_.emplace(At(tokens, name));
        }
      }
      if (text == "=" && i > 0 && IsWord(tokens[i - 1].text)) {
        size_t end = i + 1;
        while (end < tokens.size() && tokens[end].text != ";") ++end;
        const auto ending = EndingOf(tokens.subspan(i + 1, end - i - 1));
        if (ending && IsField(*ending)) names_.emplace(tokens[i - 1].text);
      }
    }
  }

  std::vector<std::pair<int, std::string>> Find() const {
    std::vector<std::pair<int, std::string>> found;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].text == "for" && At(tokens_, i + 1) == "(") FindInFor(i, found);
      if (tokens_[i].text == "begin" || tokens_[i].text == "cbegin") FindBegin(i, found);
    }
    return found;
  }

 private:
  bool IsField(const Ending& ending) const {
    return ending.is_call && ending.is_member && IsMapField(fields_, ending.name);
  }
  bool IsRandom(const Ending& ending) const {
    return IsField(ending) || (!ending.is_call && names_.contains(ending.name));
  }

  // The colon of a range-for stands outside of all brackets but those of the for.
  void FindInFor(size_t at, std::vector<std::pair<int, std::string>>& found) const {
    const size_t end = BehindBrackets(tokens_, at + 1, "(", ")") - 1;
    int depth = 0;
    for (size_t i = at + 2; i < end; ++i) {
      const std::string_view text = tokens_[i].text;
      if (text == "(" || text == "[" || text == "{") ++depth;
      if (text == ")" || text == "]" || text == "}") --depth;
      if (text != ":" || depth != 0) continue;
      const auto ending = EndingOf(tokens_.subspan(i + 1, end - i - 1));
      if (ending && IsRandom(*ending)) found.emplace_back(tokens_[at].line, ending->name);
      return;
    }
  }

  void FindBegin(size_t at, std::vector<std::pair<int, std::string>>& found) const {
    if (at < 2 || At(tokens_, at + 1) != "(") return;
    if (tokens_[at - 1].text != "." && tokens_[at - 1].text != "->") return;
    // Only what stands right before it matters.
    const size_t first = at < 6 ? 0 : at - 6;
    const Tokens before = tokens_.subspan(first, at - 1 - first);
    const auto ending = EndingOf(before);
    if (ending && IsRandom(*ending)) found.emplace_back(tokens_[at].line, ending->name);
  }

  const MapFields& fields_;
  const Tokens tokens_;
  Names names_;
};

struct LineAllowance {
  int written_line;
  int allowed_line;
  bool has_reason;
  bool used = false;
};

std::vector<LineAllowance> CollectAllowances(const CppText& split) {
  const std::vector<std::string_view> code = SplitLines(split.code);
  const std::vector<std::string_view> comments = SplitLines(split.comments);
  std::vector<LineAllowance> allowances;
  for (size_t i = 0; i < comments.size(); ++i) {
    const auto allowance = FindAllowance(comments[i]);
    if (!allowance || allowance->what != kRule) continue;
    size_t line = i;
    while (line < code.size() && Trim(code[line]).empty()) ++line;
    allowances.push_back(
        {static_cast<int>(i) + 1, static_cast<int>(line) + 1, !allowance->reason.empty()});
  }
  return allowances;
}

bool IsExcused(std::vector<LineAllowance>& allowances, int line) {
  bool excused = false;
  for (LineAllowance& allowance : allowances) {
    if (allowance.allowed_line != line) continue;
    allowance.used = true;
    excused |= allowance.has_reason;
  }
  return excused;
}

}  // namespace

MapFields ParseMapFields(std::string_view table) {
  MapFields fields;
  for (const std::string_view line : SplitLines(table)) {
    const std::string_view name = Trim(line);
    if (!name.empty() && !name.starts_with('#')) fields.emplace(name);
  }
  return fields;
}

std::vector<Violation> CheckRandomOrder(const MapFields& fields, std::string_view path,
                                        std::string_view text, std::string_view header) {
  if (path == kHelper) return {};
  const CppText split = SplitCppText(text), header_split = SplitCppText(header);
  const std::vector<CppToken> tokens = TokenizeCpp(split.code);
  Checker checker(fields, tokens);
  checker.CollectNames(tokens);
  checker.CollectNames(TokenizeCpp(header_split.code));
  std::vector<LineAllowance> allowances = CollectAllowances(split);
  std::vector<Violation> violations;
  for (const auto& [line, name] : checker.Find()) {
    if (IsExcused(allowances, line)) continue;
    violations.push_back({std::string(path), line,
                          "the order of '" + name + "' is random; walk it with kube::Sorted (" +
                              std::string(kHelper) + "), or write: tidy: allow random-order " +
                              "because REASON"});
  }
  for (const LineAllowance& allowance : allowances) {
    const char* fault = !allowance.has_reason ? "gives no reason" : "allows nothing; remove it";
    if (allowance.has_reason && allowance.used) continue;
    violations.push_back({std::string(path), allowance.written_line,
                          "the allowance 'random-order' " + std::string(fault)});
  }
  return violations;
}

}  // namespace denselet::tidy
