#include "managers/volume/volume_setup.h"

#include <array>
#include <vector>

#include "base/quoted.h"
#include "managers/volume/share_bits.h"

namespace denselet::managers {
namespace {

using reactor::DirectoryEntry;
using reactor::DiskCalls;
using reactor::PathInfo;

constexpr uint32_t kPluginMode = 0755;
constexpr uint32_t kVolumeMode = 0777;
constexpr uint32_t kReadyFolderMode = 0750;
constexpr uint32_t kReadyMode = 0644;
constexpr uint32_t kHostFolderMode = 0755;
constexpr uint32_t kHostFileMode = 0644;
constexpr size_t kEntriesMax = 100'000;
constexpr int kStackedMax = 16;  // mounts on one point

constexpr std::array<VolumeKind, 5> kOurs = {VolumeKind::kEmptyDir, VolumeKind::kConfigMap,
                                             VolumeKind::kSecret, VolumeKind::kDownward,
                                             VolumeKind::kProjected};

bool IsNotFound(const Error& error) { return error.code() == ErrorCode::kNotFound; }

Error TypeCheckFailed(const std::string& path, const char* what) {
  return {ErrorCode::kInvalid, "hostPath type check failed: " + path + " is not a " + what};
}

Status CheckKind(const Result<PathInfo>& there, PathInfo::Kind kind, const std::string& path,
                 const char* what) {
  if (!there || there->kind != kind) return TypeCheckFailed(path, what);
  return Ok();
}

Status CheckHostPathType(DiskCalls& disk, const std::string& path, const std::string& type) {
  if (type.empty()) return Ok();
  const Result<PathInfo> there = disk.StatTarget(path);
  if (type == "DirectoryOrCreate" && !there) return disk.MakeDirectories(path, kHostFolderMode);
  if (type == "DirectoryOrCreate" || type == "Directory") {
    return CheckKind(there, PathInfo::Kind::kDirectory, path, "directory");
  }
  if (type == "FileOrCreate" && !there) {
    const Status made = disk.WriteNew(path, "", kHostFileMode);
    if (!made && made.error().code() != ErrorCode::kAlreadyExists) return made;
    return Ok();
  }
  if (type == "FileOrCreate" || type == "File") {
    return CheckKind(there, PathInfo::Kind::kFile, path, "file");
  }
  if (type == "Socket") return CheckKind(there, PathInfo::Kind::kSocket, path, "socket file");
  if (type == "CharDevice") {
    return CheckKind(there, PathInfo::Kind::kChar, path, "character device");
  }
  if (type == "BlockDevice") {
    return CheckKind(there, PathInfo::Kind::kBlock, path, "block device");
  }
  return Error(ErrorCode::kInvalid, type + " is an invalid volume type");
}

Status MakePlace(DiskCalls& disk, const std::string& path) {
  const std::string parent = path.substr(0, path.rfind('/'));
  if (Status made = disk.MakeDirectories(parent, kPluginMode); !made) return made;
  const Status made = disk.MakeDirectory(path, kVolumeMode);
  if (made || made.error().code() != ErrorCode::kAlreadyExists) return made;
  // Of an agent that was killed in between.
  const Result<PathInfo> there = disk.Stat(path);
  if (!there) return there.error();
  if ((there->mode & 0777) == kVolumeMode) return Ok();
  return disk.ChangeMode(path, kVolumeMode);
}

Status MountMedium(DiskCalls& disk, const VolumePlan& plan) {
  if (plan.medium == VolumeMedium::kHugePages) {
    return disk.Mount(reactor::MountKind::kHugetlbfs, plan.path, plan.mount_options);
  }
  // Secrets stay out of the swap where the kernel can do that (Linux 6.4).
  const std::string options =
      plan.mount_options.empty() ? "noswap" : plan.mount_options + ",noswap";
  const Status mounted = disk.Mount(reactor::MountKind::kTmpfs, plan.path, options);
  if (mounted || mounted.error().code() != ErrorCode::kInvalid) return mounted;
  return disk.Mount(reactor::MountKind::kTmpfs, plan.path, plan.mount_options);
}

Status MarkReady(DiskCalls& disk, const std::string& folder) {
  if (Status made = disk.MakeDirectories(folder, kReadyFolderMode); !made) return made;
  const Status written = disk.WriteNew(folder + "/ready", "", kReadyMode);
  if (!written && written.error().code() == ErrorCode::kAlreadyExists) return Ok();
  return written;
}

// A directory of ours. Once it was ready, what is in there is the pod's business.
Status SetUpFolder(DiskCalls& disk, const VolumePlan& plan) {
  const Result<PathInfo> there = disk.Stat(plan.path);
  if (!there && !IsNotFound(there.error())) return there.error();
  const bool needs_mount = plan.medium != VolumeMedium::kDisk;
  const bool complete = there && (!needs_mount || there->mount_point);
  if (complete && disk.Stat(plan.ready_folder + "/ready")) return Ok();

  if (Status made = MakePlace(disk, plan.path); !made) return made;
  if (needs_mount && !(there && there->mount_point)) {
    if (Status mounted = MountMedium(disk, plan); !mounted) return mounted;
  }
  if (plan.fs_group) {
    if (Status shared = disk.ShareTree(plan.path, WritableBy(*plan.fs_group)); !shared) {
      return shared;
    }
  }
  return MarkReady(disk, plan.ready_folder);
}

// Takes away what is mounted at the path; true: there is something else there.
Result<bool> ClearMounts(DiskCalls& disk, const std::string& path) {
  for (int stacked = 0; stacked <= kStackedMax; ++stacked) {
    const Result<PathInfo> there = disk.Stat(path);
    if (!there && IsNotFound(there.error())) return false;
    if (!there) return there.error();
    if (!there->mount_point) return true;
    if (Status gone = disk.Unmount(path); !gone) return gone.error();
  }
  return Error(ErrorCode::kUnavailable, "too many mounts at one place").With("unmount", path);
}

// What goes wrong stops nobody; the first is told.
class FirstFault {
 public:
  void Note(const Status& status) {
    if (!status && fault_) fault_ = status;
  }
  Status Told() const { return fault_; }

 private:
  Status fault_ = Ok();
};

// The directories in a folder, which need not exist.
std::vector<std::string> NamesIn(DiskCalls& disk, const std::string& folder, FirstFault& faults) {
  const Result<std::vector<DirectoryEntry>> entries = disk.List(folder, kEntriesMax);
  std::vector<std::string> names;
  if (!entries) {
    if (!IsNotFound(entries.error())) faults.Note(entries.error());
    return names;
  }
  for (const DirectoryEntry& entry : *entries) names.push_back(entry.name);
  return names;
}

// Not empty is fine: something failed in there, or it is not ours.
void RemoveIfEmpty(DiskCalls& disk, const std::string& folder, FirstFault& faults) {
  const Status removed = disk.RemoveDirectory(folder);
  if (removed || IsNotFound(removed.error()) ||
      removed.error().code() == ErrorCode::kAlreadyExists) {
    return;
  }
  faults.Note(removed);
}

void RemoveSubPath(DiskCalls& disk, const std::string& path, FirstFault& faults) {
  const Result<bool> left = ClearMounts(disk, path);
  if (!left) return faults.Note(left.error());
  if (!*left) return;
  // A place for a mount: a file or an empty directory.
  Status removed = disk.RemoveDirectory(path);
  if (!removed) removed = disk.Unlink(path);
  if (!removed && !IsNotFound(removed.error())) faults.Note(removed);
}

void RemoveSubPaths(DiskCalls& disk, const std::string& folder, FirstFault& faults) {
  for (const std::string& volume : NamesIn(disk, folder, faults)) {
    const std::string of_volume = folder + "/" + volume;
    for (const std::string& container : NamesIn(disk, of_volume, faults)) {
      const std::string of_container = of_volume + "/" + container;
      for (const std::string& index : NamesIn(disk, of_container, faults)) {
        RemoveSubPath(disk, of_container + "/" + index, faults);
      }
      RemoveIfEmpty(disk, of_container, faults);
    }
    RemoveIfEmpty(disk, of_volume, faults);
  }
  RemoveIfEmpty(disk, folder, faults);
}

void RemoveVolume(DiskCalls& disk, const std::string& path, FirstFault& faults) {
  const Result<bool> left = ClearMounts(disk, path);
  if (!left) return faults.Note(left.error());
  if (*left) faults.Note(disk.RemoveTree(path));
}

}  // namespace

Status SetUpPlace(DiskCalls& disk, const VolumePlan& plan) {
  if (plan.kind == VolumeKind::kHostPath) {
    return CheckHostPathType(disk, plan.path, plan.host_path_type);
  }
  if (plan.kind == VolumeKind::kImage) return Ok();
  if (Status set_up = SetUpFolder(disk, plan); !set_up) return set_up;
  for (const std::string& nested : plan.nested) {
    const Status made = disk.MakeDirectories(plan.path + "/" + nested, kPluginMode);
    if (!made) return made.error().With("unable to create nested volume mountpoints");
  }
  return Ok();
}

Status TearDownPod(DiskCalls& disk, const std::string& root_folder, const PodUid& uid) {
  FirstFault faults;
  const std::string pod = PodFolder(root_folder, uid);
  RemoveSubPaths(disk, pod + "/volume-subpaths", faults);
  // Before what it says is ready.
  faults.Note(disk.RemoveTree(pod + "/plugins/" + std::string(FolderOf(VolumeKind::kEmptyDir))));
  const std::string volumes = pod + "/volumes";
  for (const VolumeKind kind : kOurs) {
    const std::string folder = volumes + "/" + std::string(FolderOf(kind));
    const std::vector<std::string> names = NamesIn(disk, folder, faults);
    for (const std::string& name : names) RemoveVolume(disk, folder + "/" + name, faults);
    if (!names.empty() || disk.Stat(folder)) RemoveIfEmpty(disk, folder, faults);
  }
  return faults.Told();
}

}  // namespace denselet::managers
