// What a pod's volumes are to be on this node: where, on which medium, whose. A plan is data; the
// work is volume_setup's.
//
//   <root>/pods/<uid>/volumes/kubernetes.io~<kind>/<volume>
//   <root>/pods/<uid>/plugins/kubernetes.io~empty-dir/[wrapped_]<volume>/ready   set up once
//   <root>/pods/<uid>/volume-subpaths/<volume>/<container>/<index>
//
// A new kind of volume is a value of VolumeKind, its plan here and its part in volume_setup.
//
// Pure functions, on any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "kube/api/fwd.h"
#include "kube/api/pod/pod_fields.h"

namespace denselet::managers {

struct VolumeNode {
  std::string root_folder = {};
  kube::NodeAllocatable allocatable = {};
  // The runtime can make what is mounted below read-only, too.
  bool recursive_read_only = false;
  bool selinux = false;
};

enum class VolumeKind : uint8_t {
  kEmptyDir,
  kHostPath,
  kConfigMap,
  kSecret,
  kDownward,
  kProjected,
  kImage,  // the runtime mounts it: nothing is made here
};

enum class VolumeMedium : uint8_t { kDisk, kMemory, kHugePages };

struct VolumePlan {
  std::string name = {};
  VolumeKind kind = VolumeKind::kEmptyDir;
  std::string path = {};          // of an image: its name, as the pod has it
  std::string ready_folder = {};  // empty: nothing is set up
  VolumeMedium medium = VolumeMedium::kDisk;
  std::string mount_options = {};        // without noswap, which not every kernel knows
  std::string host_path_type = {};       // of a hostPath
  std::vector<std::string> nested = {};  // directories for what is mounted inside of it
  std::optional<uint32_t> fs_group = {};

  friend bool operator==(const VolumePlan&, const VolumePlan&) = default;
};

// Made by us, and ours to remove.
constexpr bool IsOurs(VolumeKind kind) {
  return kind != VolumeKind::kHostPath && kind != VolumeKind::kImage;
}
// Filled by us, and renewed when what it is made of changes; nobody else writes there.
constexpr bool HasContent(VolumeKind kind) { return IsOurs(kind) && kind != VolumeKind::kEmptyDir; }
// Nobody may write there.
constexpr bool IsReadOnly(VolumeKind kind) {
  return HasContent(kind) || kind == VolumeKind::kImage;
}

// kUnsupported: a kind that nobody here can do. kInvalid: it cannot be.
Result<VolumePlan> PlanVolume(const kube::core::Pod& pod, const kube::core::Volume& volume,
                              const VolumeNode& node);

// The volumes that a container mounts. Nobody waits for others, as upstream: a pod may name a
// secret that is not there.
std::set<std::string> UsedVolumes(const kube::core::Pod& pod);

// The one user that all containers run as; none if there are several, or somebody does not say.
std::optional<uint32_t> FsUser(const kube::core::Pod& pod);

// What the pod may use in all; nothing where a container has no limit.
std::optional<int64_t> PodMemoryLimit(const kube::core::Pod& pod);

// Below the volume's directory, for volumes that a container mounts inside of this one.
Result<std::vector<std::string>> NestedMountPoints(const kube::core::Pod& pod,
                                                   std::string_view volume);

std::string PodFolder(const std::string& root, const PodUid& uid);
// "kubernetes.io~empty-dir"
std::string_view FolderOf(VolumeKind kind);

// "a//b/./c/../d/" -> "a/b/d", as Go's filepath.Clean; but "" for what names nothing.
std::string CleanPath(std::string_view path);

}  // namespace denselet::managers
