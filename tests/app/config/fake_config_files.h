// Configuration files without a disk, or with a part of it under another name.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/config/config_files.h"
#include "app/config/path_text.h"
#include "app/flags/parsed_flags.h"
#include "tests/source_dir.h"

namespace denselet::app {

using FileKind = reactor::FileInfo::Kind;

// Folders are those that the files' paths name.
class FakeConfigFiles final : public ConfigFiles {
 public:
  FakeConfigFiles() = default;
  explicit FakeConfigFiles(std::map<std::string, std::string> files) : files_(std::move(files)) {}

  void Put(std::string path, std::string text) { files_[std::move(path)] = std::move(text); }
  void PutLink(std::string path) { links_.push_back(std::move(path)); }

  Result<std::string> Read(const std::string& path) override {
    const auto found = files_.find(IsAbsolute(path) ? CleanPath(path) : path);
    if (found == files_.end()) return Missing("read", path);
    return found->second;
  }

  Result<FileKind> KindOf(const std::string& path) override {
    if (std::ranges::find(links_, path) != links_.end()) return FileKind::kSymlink;
    if (files_.contains(path)) return FileKind::kFile;
    if (IsFolder(path)) return FileKind::kDirectory;
    return Missing("stat", path);
  }

  Result<std::vector<reactor::DirectoryEntry>> List(const std::string& path) override {
    std::map<std::string, FileKind> entries;
    const std::string folder = path.ends_with('/') ? path : path + "/";
    const auto add = [&](const std::string& file, FileKind kind) {
      if (!file.starts_with(folder)) return;
      const std::string rest = file.substr(folder.size());
      const size_t slash = rest.find('/');
      entries[rest.substr(0, slash)] = slash == rest.npos ? kind : FileKind::kDirectory;
    };
    for (const auto& [file, text] : files_) add(file, FileKind::kFile);
    for (const std::string& link : links_) add(link, FileKind::kSymlink);
    std::vector<reactor::DirectoryEntry> list;
    for (const auto& [name, kind] : entries) list.push_back({name, kind});
    return list;
  }

  Result<std::string> WorkingFolder() override { return std::string("/here"); }
  bool HasUnifiedCgroups() override { return unified_cgroups; }

  bool unified_cgroups = true;

 private:
  static Error Missing(std::string_view what, const std::string& path) {
    return Error(ErrorCode::kNotFound, std::string(what) + " \"" + path + "\": No such file");
  }
  bool IsFolder(const std::string& path) const {
    const std::string folder = path.ends_with('/') ? path : path + "/";
    return std::ranges::any_of(files_, [&](const auto& f) { return f.first.starts_with(folder); });
  }

  std::map<std::string, std::string> files_;
  std::vector<std::string> links_;
};

// A folder of the disk with all that is in it, as /case.
inline FakeConfigFiles CaseFiles(const std::filesystem::path& folder) {
  FakeConfigFiles files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    files.Put("/case/" + std::filesystem::relative(entry.path(), folder).string(), text);
  }
  return files;
}

inline std::filesystem::path TestFolder() { return tests::SourcePath("tests/app/config"); }

inline ParsedFlags Flags(const std::vector<std::string>& args) {
  std::vector<const char*> words;
  for (const std::string& arg : args) words.push_back(arg.c_str());
  return ParseFlags(words).flags;
}

inline std::string Config(const std::string& body) {
  return "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n" + body;
}

}  // namespace denselet::app
