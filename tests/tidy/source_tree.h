#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace denselet::tidy {

struct SourceFile {
  std::string path;  // relative to the root, with '/'
  std::string text;
};

// The checkout this program was built from (tests/source_dir.h).
std::string SourceRoot();

// Nothing when the file cannot be read.
std::optional<std::string> ReadFile(const std::string& root, std::string_view path);

// The .h and .cc files below root/folder, sorted by path. A folder that does not exist has none.
std::vector<SourceFile> ReadCppFiles(const std::string& root, std::string_view folder);

// The files git tracks, sorted. Where git cannot say (a source archive, a checkout of another
// user), all files but those of build folders.
std::vector<SourceFile> ReadTrackedFiles(const std::string& root);

}  // namespace denselet::tidy
