#include "app/config/config_files.h"

#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "app/config/path_text.h"
#include "reactor/file_calls.h"

namespace denselet::app {
namespace {

constexpr int kFolderDepthMax = 32;

void Sort(std::string path, std::string_view name, DropInFiles& into) {
  (name.ends_with(".conf") ? into.files : into.skipped).push_back(std::move(path));
}

Status Walk(ConfigFiles& files, const std::string& folder, int depth, DropInFiles& into) {
  if (depth > kFolderDepthMax) {
    return Error(ErrorCode::kInvalid, "folder \"" + folder + "\": folders are nested too deeply");
  }
  const auto entries = files.List(folder);
  if (!entries) return entries.error();
  for (const auto& entry : *entries) {
    std::string path = JoinPath(folder, entry.name);
    if (entry.kind != reactor::FileInfo::Kind::kDirectory) {
      Sort(std::move(path), entry.name, into);
    } else if (Status status = Walk(files, path, depth + 1, into); !status) {
      return status.error();
    }
  }
  return Ok();
}

}  // namespace

Result<std::string> DiskConfigFiles::Read(const std::string& path) {
  // Whether it is there at all, Read itself tells better.
  if (const auto info = reactor::file_calls::StatTarget(path);
      info && info->kind == reactor::FileInfo::Kind::kOther) {
    return Error(ErrorCode::kInvalid, "a pipe, a socket or a device, wanted a file")
        .With("read", path);
  }
  return reactor::file_calls::Read(path, kBytesMax);
}

Result<std::string> DiskConfigFiles::ReadNamed(const std::string& path) {
  constexpr Duration kIdleMax = Seconds(10);
  const auto info = reactor::file_calls::StatTarget(path);
  if (!info || info->kind != reactor::FileInfo::Kind::kOther) return Read(path);
  return reactor::file_calls::ReadPipe(path, kBytesMax, kIdleMax);
}

Result<reactor::FileInfo::Kind> DiskConfigFiles::KindOf(const std::string& path) {
  const auto info = reactor::file_calls::Stat(path);
  if (!info) return info.error();
  return info->kind;
}

Result<std::vector<reactor::DirectoryEntry>> DiskConfigFiles::List(const std::string& path) {
  return reactor::file_calls::List(path, kEntriesMax);
}

Result<std::string> DiskConfigFiles::WorkingFolder() {
  char folder[PATH_MAX];
  if (getcwd(folder, sizeof folder) == nullptr) return Error::FromErrno(errno, "working folder");
  return std::string(folder);
}

bool DiskConfigFiles::HasUnifiedCgroups() {
  struct statfs info {};
  return statfs("/sys/fs/cgroup", &info) == 0 && info.f_type == CGROUP2_SUPER_MAGIC;
}

Result<DropInFiles> FindDropIns(ConfigFiles& files, const std::string& folder) {
  const auto kind = files.KindOf(folder);
  if (!kind) return kind.error();
  DropInFiles found;
  if (*kind != reactor::FileInfo::Kind::kDirectory) {
    Sort(folder, folder.substr(folder.rfind('/') + 1), found);
    return found;
  }
  if (Status status = Walk(files, folder, 0, found); !status) return status.error();
  return found;
}

}  // namespace denselet::app
