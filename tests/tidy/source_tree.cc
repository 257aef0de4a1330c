#include "tests/tidy/source_tree.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "tests/source_dir.h"
#include "tests/tidy/text.h"

namespace denselet::tidy {
namespace {

namespace fs = std::filesystem;

bool IsSkippedAtTheTop(const fs::path& folder) {
  const fs::path name = folder.filename();
  return name == ".git" || name == ".cache" || name == "build";
}

// Paths relative to root. Symbolic links are left out: what they point to is listed under its own
// name or not ours.
std::vector<std::string> WalkFiles(const fs::path& root, const fs::path& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  fs::recursive_directory_iterator it(root / folder, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    // A file that vanishes meanwhile has no status; that must not end the walk.
    std::error_code vanished;
    const fs::file_status status = it->symlink_status(vanished);
    if (folder.empty() && it.depth() == 0 && IsSkippedAtTheTop(it->path())) {
      it.disable_recursion_pending();
    } else if (fs::is_regular_file(status)) {
      paths.push_back(it->path().lexically_relative(root).generic_string());
    }
  }
  return paths;
}

std::string ShellQuoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Nothing when git is absent, refuses, or tracks nothing here.
std::optional<std::vector<std::string>> GitFiles(const std::string& root) {
  const std::string command = "git -C " + ShellQuoted(root) + " ls-files -z 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string output;
  std::array<char, 4096> buffer;
  while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), n);
  }
  if (pclose(pipe) != 0 || output.empty()) return {};

  std::vector<std::string> paths;
  for (const std::string_view path : SplitWords(output, std::string_view("\0", 1))) {
    // A link's text is its target's, and a tracked file may be deleted in the work tree.
    std::error_code error;
    if (fs::is_regular_file(fs::symlink_status(fs::path(root) / path, error))) {
      paths.emplace_back(path);
    }
  }
  return paths;
}

std::vector<SourceFile> ReadAll(const std::string& root, std::vector<std::string> paths) {
  std::sort(paths.begin(), paths.end());
  std::vector<SourceFile> files;
  for (std::string& path : paths) {
    if (auto text = ReadFile(root, path)) files.push_back({std::move(path), std::move(*text)});
  }
  return files;
}

}  // namespace

std::string SourceRoot() { return std::string(tests::SourceDir()); }

std::optional<std::string> ReadFile(const std::string& root, std::string_view path) {
  std::ifstream file(fs::path(root) / path, std::ios::binary);
  if (!file) return {};
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<SourceFile> ReadCppFiles(const std::string& root, std::string_view folder) {
  std::vector<std::string> paths = WalkFiles(root, folder);
  std::erase_if(paths,
                [](const std::string& p) { return !p.ends_with(".h") && !p.ends_with(".cc"); });
  return ReadAll(root, std::move(paths));
}

std::vector<SourceFile> ReadTrackedFiles(const std::string& root) {
  auto paths = GitFiles(root);
  return ReadAll(root, paths ? std::move(*paths) : WalkFiles(root, ""));
}

}  // namespace denselet::tidy
