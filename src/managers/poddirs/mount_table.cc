#include "managers/poddirs/mount_table.h"

namespace denselet::managers {
namespace {

constexpr int kPointField = 4;  // after mount id, parent id, device and root

std::string_view Field(std::string_view line, int number) {
  for (; number > 0; --number) {
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) return {};
    line.remove_prefix(space + 1);
  }
  return line.substr(0, line.find(' '));
}

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

// The kernel writes space, tab, newline and backslash as \ooo.
std::string Unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && IsOctal(text[i + 1]) && IsOctal(text[i + 2]) &&
        IsOctal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

std::optional<std::string> MountBelow(std::string_view table, std::string_view folder) {
  while (!table.empty()) {
    const size_t end = table.find('\n');
    std::string point = Unescaped(Field(table.substr(0, end), kPointField));
    if (point.starts_with(folder) &&
        (point.size() == folder.size() || point[folder.size()] == '/')) {
      return point;
    }
    if (end == std::string_view::npos) break;
    table.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace denselet::managers
