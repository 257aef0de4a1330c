// Paths as texts, by the rules of Go's path/filepath: what a relative path in a configuration file
// means must be what it means to the kubelet.
#pragma once

#include <string>
#include <string_view>

namespace denselet::app {

// Without "//", "/./" and "/../"; never empty.
std::string CleanPath(std::string_view path);
std::string JoinPath(std::string_view folder, std::string_view path);
// What stands before the last slash, cleaned.
std::string FolderOf(std::string_view path);
inline bool IsAbsolute(std::string_view path) { return path.starts_with('/'); }

}  // namespace denselet::app
