// The tables of docs/compat, which tests hold the code to.
#pragma once

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/source_dir.h"

namespace denselet::tests {

// A row of a table, and under which heading and which row of column names it stands.
struct MarkdownRow {
  std::string heading;               // "5.1 Not deprecated (24)"
  std::vector<std::string> columns;  // "flag", "type", "default"
  std::vector<std::string> cells;    // blanks and backquotes around them are gone

  // Of the column of that name, or nothing.
  std::string Cell(std::string_view column) const {
    for (size_t i = 0; i < columns.size() && i < cells.size(); ++i) {
      if (columns[i] == column) return cells[i];
    }
    return {};
  }
};

inline std::vector<std::string> MarkdownCells(std::string_view line) {
  std::vector<std::string> cells;
  line.remove_prefix(1);
  while (!line.empty()) {
    const size_t end = std::min(line.find('|'), line.size());
    std::string_view cell = line.substr(0, end);
    while (cell.starts_with(' ')) cell.remove_prefix(1);
    while (cell.ends_with(' ')) cell.remove_suffix(1);
    if (cell.size() >= 2 && cell.starts_with('`') && cell.find('`', 1) == cell.size() - 1) {
      cell = cell.substr(1, cell.size() - 2);
    }
    cells.emplace_back(cell);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return cells;
}

// All rows of all tables of a page, `path` from the top of the sources. Never empty.
inline std::vector<MarkdownRow> ReadMarkdownTables(std::string_view path) {
  std::vector<MarkdownRow> rows;
  std::string heading;
  std::vector<std::string> columns;
  std::ifstream file(SourcePath(path));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) {
      heading = line.substr(std::min(line.find_first_not_of("# "), line.size()));
    }
    if (!line.starts_with("|")) {
      columns.clear();
    } else if (columns.empty()) {
      columns = MarkdownCells(line);
    } else if (!line.starts_with("|---")) {
      rows.push_back({heading, columns, MarkdownCells(line)});
    }
  }
  EXPECT_FALSE(rows.empty()) << path;
  return rows;
}

}  // namespace denselet::tests
