// The half of include_rules.h that reads the table.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/tidy/folder_path.h"
#include "tests/tidy/header_topics.h"
#include "tests/tidy/include_rules.h"
#include "tests/tidy/text.h"

namespace denselet::tidy {
namespace {

// Backquotes and what stands in parentheses are for the reader.
std::string WithoutProse(std::string_view cell) {
  std::string text;
  int depth = 0;
  for (const char c : cell) {
    if (c == '(') ++depth;
    if (depth == 0 && c != '`') text += c;
    if (c == ')' && depth > 0) --depth;
  }
  return text;
}

// The table writes "managers/x" for each manager and "managers/y" for another one.
bool IsEachFolder(std::string_view name) { return name.ends_with("/x"); }
bool IsAnotherFolder(std::string_view name) { return name.ends_with("/y"); }

std::string WithStar(std::string_view name) {
  return std::string(name.substr(0, name.size() - 1)) + "*";
}

std::string FolderPattern(std::string_view name) {
  return IsEachFolder(name) ? WithStar(name) : std::string(name);
}

const HeaderTopic* FindTopic(std::string_view word) {
  for (const HeaderTopic& topic : Libraries()) {
    if (topic.word == word) return &topic;
  }
  for (const HeaderTopic& topic : Concerns()) {
    if (topic.word == word) return &topic;
  }
  return nullptr;
}

void Forbid(const HeaderTopic& topic, IncludeRule& rule) {
  for (const std::string_view pattern : topic.headers) {
    rule.never.push_back({std::string(topic.word), std::string(pattern)});
  }
}

void ForbidAllLibraries(IncludeRule& rule) {
  for (const HeaderTopic& library : Libraries()) Forbid(library, rule);
}

class TableParser {
 public:
  explicit TableParser(std::vector<std::string>* problems) : problems_(problems) {}

  std::vector<IncludeRule> Parse(std::string_view markdown) {
    if (!CollectRows(SplitLines(markdown))) {
      problems_->push_back("no table with the columns: folder | may include | must never see");
      return {};
    }
    // Folders first: a row may name a folder whose row stands further down.
    for (const Row& row : rows_) AddFolders(row);
    for (size_t i = 0; i < rules_.size(); ++i) {
      const Row& row = rows_[row_of_rule_[i]];
      FillMayInclude(row, rules_[i]);
      FillNever(row, rules_[i]);
      ReportContradictions(row, rules_[i]);
    }
    return std::move(rules_);
  }

 private:
  struct Row {
    size_t line;
    std::vector<std::string> cells;  // without prose
    std::string text;
  };

  void Problem(const Row& row, const std::string& what) {
    problems_->push_back("line " + std::to_string(row.line) + ": " + what);
  }

  bool CollectRows(const std::vector<std::string_view>& lines) {
    const std::vector<std::string_view> header = {"folder", "may include", "must never see"};
    size_t i = 0;
    while (i < lines.size() && SplitCells(lines[i]) != header) ++i;
    if (i == lines.size()) return false;
    // The line below the header is the markdown ruler.
    for (i += 2; i < lines.size() && Trim(lines[i]).starts_with('|'); ++i) CollectRow(i, lines[i]);
    return true;
  }

  void CollectRow(size_t index, std::string_view line) {
    Row row{index + 1, {}, std::string(Trim(line))};
    for (const std::string_view cell : SplitCells(line)) row.cells.push_back(WithoutProse(cell));
    if (row.cells.size() == 3) return rows_.push_back(std::move(row));
    Problem(row, "a row has three cells: " + row.text);
  }

  void AddFolders(const Row& row) {
    const size_t row_index = static_cast<size_t>(&row - rows_.data());
    for (const std::string_view name : SplitWords(row.cells[0], ",;")) {
      if (FindRule(FolderPattern(name)) != nullptr) {
        Problem(row, "a second row for the folder " + std::string(name));
        continue;
      }
      IncludeRule rule;
      rule.folder = FolderPattern(name);
      rule.row = row.text;
      rules_.push_back(std::move(rule));
      row_of_rule_.push_back(row_index);
    }
  }

  const IncludeRule* FindRule(std::string_view folder) const {
    for (const IncludeRule& rule : rules_) {
      if (rule.folder == folder) return &rule;
    }
    return nullptr;
  }

  // "managers" is known because of "managers/*".
  bool IsKnownFolder(std::string_view name) const {
    for (const IncludeRule& rule : rules_) {
      if (Covers(name, rule.folder)) return true;
    }
    return false;
  }

  void FillMayInclude(const Row& row, IncludeRule& rule) {
    for (const std::string_view name : SplitWords(row.cells[1], ",;")) {
      if (name == "itself") continue;
      if (name == "all") {
        rule.may_include_all = true;
      } else if (FindRule(FolderPattern(name)) != nullptr) {
        rule.may_include.push_back(FolderPattern(name));
      } else {
        Problem(row, "may include '" + std::string(name) + "': no row is about that folder");
      }
    }
  }

  void FillNever(const Row& row, IncludeRule& rule) {
    for (const std::string_view word : SplitWords(row.cells[2], ",;")) {
      if (word == "-") continue;
      if (word == "anything else" || word == "all else") {
        ForbidAllLibraries(rule);
      } else if (const HeaderTopic* topic = FindTopic(word)) {
        Forbid(*topic, rule);
      } else if (word.starts_with('<') && word.ends_with('>')) {
        rule.never.push_back({std::string(word), std::string(word.substr(1, word.size() - 2))});
      } else if (IsAnotherFolder(word) && FindRule(WithStar(word)) != nullptr) {
        continue;  // a rule for "managers/*" allows its own folder only
      } else if (IsKnownFolder(word)) {
        rule.never.push_back({std::string(word), std::string(word) + "/"});
      } else {
        Problem(row, "must never see '" + std::string(word) +
                         "': neither a folder of this table nor a word of header_topics.cc");
      }
    }
  }

  void ReportContradictions(const Row& row, const IncludeRule& rule) {
    for (const ForbiddenHeader& never : rule.never) {
      for (const std::string& may : rule.may_include) {
        if (!never.pattern.ends_with('/') || !(may + "/").starts_with(never.pattern)) continue;
        Problem(row, "may include '" + may + "' and must never see '" + never.word + "'");
      }
    }
  }

  std::vector<std::string>* problems_;
  std::vector<Row> rows_;
  std::vector<IncludeRule> rules_;
  std::vector<size_t> row_of_rule_;
};

}  // namespace

std::vector<IncludeRule> ParseIncludeTable(std::string_view markdown,
                                           std::vector<std::string>* problems) {
  return TableParser(problems).Parse(markdown);
}

}  // namespace denselet::tidy
