// The files that hold the configuration, and what it is checked against: read once, before there is
// a loop, so these calls block. A seam, so that tests need no disk.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "reactor/api/file_system.h"

namespace denselet::app {

class ConfigFiles {
 public:
  virtual ~ConfigFiles() = default;

  // Larger than kBytesMax is an error, and so is what is no file: it may never end.
  virtual Result<std::string> Read(const std::string& path) = 0;
  // What the command line names may be a pipe too, as a shell makes them of <(...).
  virtual Result<std::string> ReadNamed(const std::string& path) { return Read(path); }
  // Of the path itself: a link is not followed, unless a slash stands behind it.
  virtual Result<reactor::FileInfo::Kind> KindOf(const std::string& path) = 0;
  // Sorted by name. More than kEntriesMax is an error.
  virtual Result<std::vector<reactor::DirectoryEntry>> List(const std::string& path) = 0;
  virtual Result<std::string> WorkingFolder() = 0;
  // Whether the machine has cgroups of version 2 and no others.
  virtual bool HasUnifiedCgroups() = 0;

  static constexpr size_t kBytesMax = 4 << 20;
  static constexpr size_t kEntriesMax = 4096;
};

class DiskConfigFiles final : public ConfigFiles {
 public:
  Result<std::string> Read(const std::string& path) override;
  Result<std::string> ReadNamed(const std::string& path) override;
  Result<reactor::FileInfo::Kind> KindOf(const std::string& path) override;
  Result<std::vector<reactor::DirectoryEntry>> List(const std::string& path) override;
  Result<std::string> WorkingFolder() override;
  bool HasUnifiedCgroups() override;
};

// The drop-ins of --config-dir in the order in which they are merged, and what else lies there. As
// the kubelet walks: folders below too, in the order of their names among the files; links to
// folders are not followed, and a link in the place of the folder itself is no folder.
struct DropInFiles {
  std::vector<std::string> files;
  std::vector<std::string> skipped;  // not named *.conf
};
Result<DropInFiles> FindDropIns(ConfigFiles& files, const std::string& folder);

}  // namespace denselet::app
