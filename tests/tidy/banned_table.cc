// The half of banned_calls.h that reads tests/tidy/banned.txt.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/tidy/banned_calls.h"
#include "tests/tidy/cpp_tokens.h"
#include "tests/tidy/text.h"

namespace denselet::tidy {
namespace {

std::vector<std::string> Strings(const std::vector<std::string_view>& views) {
  return {views.begin(), views.end()};
}

std::vector<std::string> PatternTokens(std::string_view pattern) {
  std::vector<std::string> tokens;
  for (const CppToken& token : TokenizeCpp(pattern)) tokens.emplace_back(token.text);
  return tokens;
}

bool IsOwnerInside(std::string_view owner, const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(), [owner](const std::string& folder) {
    return owner.starts_with(folder + "/");
  });
}

// What is wrong with a row; empty when it is fine.
std::string RowFault(const std::vector<std::string_view>& cells, const BannedCall& row) {
  if (cells.size() != 4) return "a row has four cells: pattern | where | owners | use instead";
  if (cells[0].empty()) return "no pattern";
  if (row.folders.empty()) return "banned nowhere; name src, tests or both";
  for (const std::string& folder : row.folders) {
    if (folder != "src" && folder != "tests") return "banned in '" + folder + "': not src or tests";
  }
  for (const std::string& owner : row.owners) {
    if (!IsOwnerInside(owner, row.folders))
      return "owner '" + owner + "' is where nothing is banned";
  }
  if (row.use_instead.empty()) return "says nothing to use instead";
  return "";
}

BannedCall ParseRow(const std::vector<std::string_view>& cells) {
  BannedCall row;
  if (cells.size() != 4) return row;
  row.folders = Strings(SplitWords(cells[1], " ,"));
  if (cells[2] != "-") row.owners = Strings(SplitWords(cells[2], " ,"));
  row.use_instead = cells[3];
  return row;
}

}  // namespace

std::vector<BannedCall> ParseBannedCalls(std::string_view table,
                                         std::vector<std::string>* problems) {
  std::vector<BannedCall> banned;
  const std::vector<std::string_view> lines = SplitLines(table);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = Trim(lines[i]);
    if (line.empty() || line.starts_with('#')) continue;
    const std::vector<std::string_view> cells = SplitCells(line);
    const BannedCall row = ParseRow(cells);
    if (const std::string fault = RowFault(cells, row); !fault.empty()) {
      problems->push_back("line " + std::to_string(i + 1) + ": " + fault);
      continue;
    }
    for (const std::string_view pattern : SplitWords(cells[0], " ")) {
      BannedCall call = row;
      call.pattern = pattern;
      call.tokens = PatternTokens(pattern);
      banned.push_back(std::move(call));
    }
  }
  return banned;
}

}  // namespace denselet::tidy
