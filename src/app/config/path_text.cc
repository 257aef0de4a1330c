#include "app/config/path_text.h"

#include <algorithm>
#include <vector>

namespace denselet::app {

std::string CleanPath(std::string_view path) {
  const bool rooted = IsAbsolute(path);
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (!rooted) {
      parts.push_back(part);
    }
  }
  std::string cleaned = rooted ? "/" : "";
  for (const std::string_view part : parts) {
    if (!cleaned.empty() && cleaned.back() != '/') cleaned += '/';
    cleaned += part;
  }
  return cleaned.empty() ? "." : cleaned;
}

std::string JoinPath(std::string_view folder, std::string_view path) {
  return CleanPath(std::string(folder).append("/").append(path));
}

std::string FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return CleanPath(slash == path.npos ? std::string_view() : path.substr(0, slash + 1));
}

}  // namespace denselet::app
