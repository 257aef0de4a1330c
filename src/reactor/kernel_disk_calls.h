// The disk and the mount table of this machine, as the thread sees them that calls. No state.
#pragma once

#include <string>
#include <vector>

#include "reactor/api/disk_jobs.h"

namespace denselet::reactor {

class KernelDiskCalls final : public DiskCalls {
 public:
  Result<PathInfo> Stat(const std::string& path) override;
  Result<PathInfo> StatTarget(const std::string& path) override;
  Result<std::string> Read(const std::string& path, size_t bytes_max) override;
  Result<std::string> ReadLink(const std::string& path) override;
  Result<std::vector<DirectoryEntry>> List(const std::string& path, size_t entries_max) override;

  Status MakeDirectory(const std::string& path, uint32_t mode) override;
  Status MakeDirectories(const std::string& path, uint32_t mode) override;
  Status WriteNew(const std::string& path, const std::string& content, uint32_t mode) override;
  Status Symlink(const std::string& target, const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Unlink(const std::string& path) override;
  Status RemoveDirectory(const std::string& path) override;
  Status ChangeMode(const std::string& path, uint32_t mode) override;
  Status ChangeUser(const std::string& path, uint32_t uid) override;

  Status RemoveTree(const std::string& path) override;
  Status ShareTree(const std::string& path, const GroupAccess& access) override;

  Status Mount(MountKind kind, const std::string& path, const std::string& options) override;
  Status Unmount(const std::string& path) override;
  Status BindBelow(const PathBelow& from, uint32_t mode, const std::string& target) override;
  Result<std::string> ReadBelow(const PathBelow& file, size_t bytes_max) override;
};

}  // namespace denselet::reactor
