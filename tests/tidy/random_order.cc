#include "tests/tidy/random_order.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
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
  const std::string_view before =
      expression.size() > 1 ? expression[expression.size() - 2].text : std::string_view();
  return Ending{expression.back().text, false, before == "." || before == "->"};
}

class Checker {
 public:
  Checker(const MapFields& fields, Tokens tokens) : fields_(fields), tokens_(tokens) {}

  void AddAliases(const MapAliases& aliases) { aliases_.insert(aliases.begin(), aliases.end()); }
  const MapAliases& aliases() const { return aliases_; }

  // using NAME = std::unordered_map<K, V>; also of an alias that is known by then.
  void CollectAliases(Tokens tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].text != "using" || At(tokens, i + 2) != "=") continue;
      for (size_t at = i + 3; At(tokens, at) != ";"; ++at) {
        const bool is_path = IsWord(At(tokens, at)) || At(tokens, at) == "::";
        if (!is_path) break;
        if (BehindType(tokens, at) != 0) aliases_.emplace(tokens[i + 1].text);
      }
    }
  }

  // unordered_map<K, V> NAME, Map<K, V>& NAME, ALIAS& NAME, NAME = x.labels();
  void CollectNames(Tokens tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      const std::string_view text = tokens[i].text;
      if (size_t name = BehindType(tokens, i); name != 0) {
        while (At(tokens, name) == "&" || At(tokens, name) == "*" || At(tokens, name) == "const") {
          ++name;
        }
        const std::string_view behind = At(tokens, name + 1);
        if (IsWord(At(tokens, name)) && behind != "(" && behind != "::") {
          Names& names = aliases_.contains(text) ? names_by_alias_ : names_;
          names.emplace(At(tokens, name));
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
      if (tokens_[i].text == "|") FindView(i, found);
      if (tokens_[i].text == "(") FindArgument(i, found);
    }
    return found;
  }

 private:
  using FoundNames = std::vector<std::pair<int, std::string>>;

  // The index behind the type that begins at `i`; 0: there is none of these.
  size_t BehindType(Tokens tokens, size_t i) const {
    const std::string_view text = At(tokens, i);
    if (aliases_.contains(text)) return At(tokens, i + 1) == "<" ? 0 : i + 1;
    const bool is_type = text.starts_with("unordered_") || text == "Map";
    return is_type && At(tokens, i + 1) == "<" ? BehindBrackets(tokens, i + 1, "<", ">") : 0;
  }

  bool IsField(const Ending& ending) const {
    return ending.is_call && ending.is_member && IsMapField(fields_, ending.name);
  }
  bool IsRandom(const Ending& ending) const {
    if (ending.is_call) return IsField(ending);
    // A parameter's type says nothing of members that are called like it.
    return names_.contains(ending.name) ||
           (!ending.is_member && names_by_alias_.contains(ending.name));
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
    AddIfRandom(at, Before(at - 1), found);
  }

  // Only what stands right before it matters.
  Tokens Before(size_t at) const {
    const size_t first = at < 5 ? 0 : at - 5;
    return tokens_.subspan(first, at - first);
  }

  void AddIfRandom(size_t at, Tokens expression, FoundNames& found) const {
    const auto ending = EndingOf(expression);
    if (ending && IsRandom(*ending)) found.emplace_back(tokens_[at].line, ending->name);
  }

  // map | std::views::keys
  void FindView(size_t at, FoundNames& found) const {
    size_t next = at + 1;
    while (At(tokens_, next) == "std" || At(tokens_, next) == "::" ||
           At(tokens_, next) == "ranges") {
      ++next;
    }
    if (At(tokens_, next) == "views") AddIfRandom(at, Before(at), found);
  }

  // std::begin(map), std::ranges::for_each(map, ...), std::views::keys(map). What comes out of
  // these is the same in any order:
  static bool IsOrderless(std::string_view function) {
    constexpr std::string_view kOrderless[] = {"any_of",   "all_of", "none_of", "count",
                                               "count_if", "size",   "ssize",   "empty"};
    return std::ranges::find(kOrderless, function) != std::end(kOrderless);
  }

  void FindArgument(size_t open, FoundNames& found) const {
    if (open < 3 || tokens_[open - 2].text != "::") return;
    const std::string_view function = tokens_[open - 1].text, from = tokens_[open - 3].text;
    const bool walks = from == "ranges" || from == "views" ||
                       (from == "std" && (function == "begin" || function == "cbegin"));
    if (!walks || IsOrderless(function)) return;
    const size_t end = BehindBrackets(tokens_, open, "(", ")") - 1;
    size_t comma = open + 1;
    for (int depth = 0; comma < end; ++comma) {
      const std::string_view text = tokens_[comma].text;
      if (text == "(" || text == "[" || text == "{") ++depth;
      if (text == ")" || text == "]" || text == "}") --depth;
      if (text == "," && depth == 0) break;
    }
    AddIfRandom(open - 1, tokens_.subspan(open + 1, comma - open - 1), found);
  }

  const MapFields& fields_;
  const Tokens tokens_;
  MapAliases aliases_;
  Names names_;
  Names names_by_alias_;
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

MapAliases FindMapAliases(std::string_view text) {
  const CppText split = SplitCppText(text);
  const std::vector<CppToken> tokens = TokenizeCpp(split.code);
  const MapFields none;
  Checker checker(none, tokens);
  checker.CollectAliases(tokens);
  return checker.aliases();
}

std::vector<Violation> CheckRandomOrder(const MapFields& fields, std::string_view path,
                                        std::string_view text, std::string_view header,
                                        const MapAliases& included) {
  if (path == kHelper) return {};
  const CppText split = SplitCppText(text), header_split = SplitCppText(header);
  const std::vector<CppToken> tokens = TokenizeCpp(split.code);
  Checker checker(fields, tokens);
  const std::vector<CppToken> header_tokens = TokenizeCpp(header_split.code);
  checker.AddAliases(included);
  checker.CollectAliases(header_tokens);
  checker.CollectAliases(tokens);
  checker.CollectNames(tokens);
  checker.CollectNames(header_tokens);
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
