#include "reactor/kernel_disk_calls.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/quoted.h"
#include "reactor/file_calls.h"
#include "reactor/path_below.h"

namespace denselet::reactor {
namespace {

constexpr size_t kShownMax = 256;             // bytes of a path in a message
constexpr int kStackedMax = 16;               // mounts on one point that are taken away
constexpr uint32_t kTargetFolderMode = 0750;  // of the places of bind mounts, as upstream's
constexpr uint32_t kTargetFileMode = 0640;

Error Failed(const char* doing, const std::string& path) {
  return Error::FromErrno(errno, doing + std::string(" ") + Quoted(path, kShownMax));
}

Status Check(int result, const char* doing, const std::string& path) {
  if (result != 0) return Failed(doing, path);
  return Ok();
}

PathInfo::Kind KindOf(uint32_t mode) {
  if (S_ISDIR(mode)) return PathInfo::Kind::kDirectory;
  if (S_ISLNK(mode)) return PathInfo::Kind::kSymlink;
  if (S_ISSOCK(mode)) return PathInfo::Kind::kSocket;
  if (S_ISCHR(mode)) return PathInfo::Kind::kChar;
  if (S_ISBLK(mode)) return PathInfo::Kind::kBlock;
  if (S_ISFIFO(mode)) return PathInfo::Kind::kPipe;
  return PathInfo::Kind::kFile;
}

Result<PathInfo> StatWith(int flags, const std::string& path) {
  struct statx info {};
  if (::statx(AT_FDCWD, path.c_str(), flags | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &info) != 0) {
    return Failed("stat", path);
  }
  // From Linux 5.8 on. Who cannot tell a mount point would mount twice.
  if ((info.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) == 0) {
    return Error(ErrorCode::kUnsupported, "this kernel does not tell mount points")
        .With("stat", path);
  }
  return PathInfo{.kind = KindOf(info.stx_mode),
                  .mode = info.stx_mode & 07777u,
                  .uid = info.stx_uid,
                  .gid = info.stx_gid,
                  .mount_point = (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0};
}

std::string ParentOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

// The place for a mount: a directory or an empty file, as what is mounted there is one.
Status MakeTarget(const std::string& target, bool directory) {
  const Result<PathInfo> there = StatWith(AT_SYMLINK_NOFOLLOW, target);
  if (there && (there->kind == PathInfo::Kind::kDirectory) == directory &&
      (directory || there->kind == PathInfo::Kind::kFile)) {
    return Ok();
  }
  if (!there && there.error().code() != ErrorCode::kNotFound) return there.error();
  if (there) {
    const bool was = there->kind == PathInfo::Kind::kDirectory;
    if (Status gone = was ? file_calls::RemoveDirectory(target) : file_calls::Unlink(target);
        !gone) {
      return gone;
    }
  } else if (Status made = file_calls::MakeDirectories(ParentOf(target), kTargetFolderMode);
             !made) {
    return made;
  }
  if (directory) return file_calls::MakeDirectories(target, kTargetFolderMode);
  const Result<UniqueFd> file = file_calls::Open(target, OpenMode::kCreateNew, kTargetFileMode);
  if (!file) return file.error();
  return Ok();
}

// True: the same is mounted at the target already. What else is mounted there goes.
Result<bool> ClearTarget(const struct stat& wanted, const std::string& target) {
  for (int stacked = 0; stacked < kStackedMax; ++stacked) {
    const Result<PathInfo> there = StatWith(AT_SYMLINK_NOFOLLOW, target);
    if (!there && there.error().code() == ErrorCode::kNotFound) return false;
    if (!there) return there.error();
    if (!there->mount_point) return false;
    struct stat mounted {};
    if (::lstat(target.c_str(), &mounted) != 0) return Failed("stat", target);
    if (mounted.st_dev == wanted.st_dev && mounted.st_ino == wanted.st_ino) return true;
    if (::umount2(target.c_str(), UMOUNT_NOFOLLOW) != 0) return Failed("unmount", target);
  }
  return Error(ErrorCode::kUnavailable, "too many mounts at one place").With("unmount", target);
}

}  // namespace

Result<PathInfo> KernelDiskCalls::Stat(const std::string& path) {
  return StatWith(AT_SYMLINK_NOFOLLOW, path);
}

Result<PathInfo> KernelDiskCalls::StatTarget(const std::string& path) { return StatWith(0, path); }

Result<std::string> KernelDiskCalls::Read(const std::string& path, size_t bytes_max) {
  return file_calls::Read(path, bytes_max);
}

Result<std::string> KernelDiskCalls::ReadLink(const std::string& path) {
  return file_calls::ReadLink(path);
}

Result<std::vector<DirectoryEntry>> KernelDiskCalls::List(const std::string& path,
                                                          size_t entries_max) {
  return file_calls::List(path, entries_max);
}

Status KernelDiskCalls::MakeDirectory(const std::string& path, uint32_t mode) {
  if (::mkdir(path.c_str(), 0700) != 0) return Failed("make directory", path);
  return ChangeMode(path, mode);
}

Status KernelDiskCalls::MakeDirectories(const std::string& path, uint32_t mode) {
  return file_calls::MakeDirectories(path, mode);
}

Status KernelDiskCalls::WriteNew(const std::string& path, const std::string& content,
                                 uint32_t mode) {
  const Result<UniqueFd> file = file_calls::Open(path, OpenMode::kCreateNew, mode);
  if (!file) return file.error();
  return content.empty() ? Ok() : file_calls::Append(file->get(), path, content);
}

Status KernelDiskCalls::Symlink(const std::string& target, const std::string& path) {
  return file_calls::Symlink(target, path);
}

Status KernelDiskCalls::Rename(const std::string& from, const std::string& to) {
  return file_calls::Rename(from, to);
}

Status KernelDiskCalls::Unlink(const std::string& path) { return file_calls::Unlink(path); }

Status KernelDiskCalls::RemoveDirectory(const std::string& path) {
  return file_calls::RemoveDirectory(path);
}

Status KernelDiskCalls::ChangeMode(const std::string& path, uint32_t mode) {
  return Check(::chmod(path.c_str(), mode & 07777), "change mode of", path);
}

Status KernelDiskCalls::ChangeUser(const std::string& path, uint32_t uid) {
  return Check(::lchown(path.c_str(), uid, static_cast<gid_t>(-1)), "change owner of", path);
}

Status KernelDiskCalls::RemoveTree(const std::string& path) {
  const Result<PathInfo> there = Stat(path);
  if (!there && there.error().code() == ErrorCode::kNotFound) return Ok();
  if (!there) return there.error();
  if (there->mount_point) {
    return Error(ErrorCode::kUnavailable, "something is mounted there").With("remove", path);
  }
  if (there->kind != PathInfo::Kind::kDirectory) return Unlink(path);
  return path_below::RemoveTree(path);
}

Status KernelDiskCalls::ShareTree(const std::string& path, const GroupAccess& access) {
  return path_below::ShareTree(path, access);
}

Status KernelDiskCalls::Mount(MountKind kind, const std::string& path, const std::string& options) {
  const bool tmpfs = kind == MountKind::kTmpfs;
  return Check(::mount(tmpfs ? "tmpfs" : "nodev", path.c_str(), tmpfs ? "tmpfs" : "hugetlbfs", 0,
                       options.c_str()),
               "mount", path);
}

Status KernelDiskCalls::Unmount(const std::string& path) {
  return Check(::umount2(path.c_str(), UMOUNT_NOFOLLOW), "unmount", path);
}

Status KernelDiskCalls::BindBelow(const PathBelow& from, uint32_t mode, const std::string& target) {
  const Result<UniqueFd> source = path_below::FindOrMake(from, mode);
  if (!source) return source.error();
  struct stat wanted {};
  if (::fstat(source->get(), &wanted) != 0) return Failed("stat", from.relative);
  const Result<bool> mounted = ClearTarget(wanted, target);
  if (!mounted) return mounted.error();
  if (*mounted) return Ok();
  if (Status made = MakeTarget(target, S_ISDIR(wanted.st_mode)); !made) return made;
  // Not by its path, which others may have changed since: by what was found.
  const std::string self = "/proc/self/fd/" + std::to_string(source->get());
  return Check(::mount(self.c_str(), target.c_str(), nullptr, MS_BIND, nullptr), "mount", target);
}

Result<std::string> KernelDiskCalls::ReadBelow(const PathBelow& file, size_t bytes_max) {
  return path_below::Read(file, bytes_max);
}

}  // namespace denselet::reactor
