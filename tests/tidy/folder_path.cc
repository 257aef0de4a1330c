#include "tests/tidy/folder_path.h"

#include <vector>

#include "tests/tidy/text.h"

namespace denselet::tidy {

std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

size_t CountComponents(std::string_view folder) { return SplitWords(folder, "/").size(); }

std::string_view FirstComponents(std::string_view folder, size_t count) {
  size_t end = 0;
  for (size_t i = 0; i < count && end != std::string_view::npos; ++i) {
    end = folder.find('/', i == 0 ? 0 : end + 1);
  }
  return folder.substr(0, end);
}

bool Covers(std::string_view pattern, std::string_view folder) {
  const std::vector<std::string_view> wanted = SplitWords(pattern, "/");
  const std::vector<std::string_view> found = SplitWords(folder, "/");
  if (wanted.empty() || wanted.size() > found.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] != "*" && wanted[i] != found[i]) return false;
  }
  return true;
}

}  // namespace denselet::tidy
