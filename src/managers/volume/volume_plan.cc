#include "managers/volume/volume_plan.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/quoted.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"

namespace denselet::managers {
namespace {

namespace core = kube::core;
using kube::Quantity;

constexpr std::string_view kHugePagesMedium = "HugePages";
constexpr std::string_view kHugePagesPrefix = "hugepages-";

Error Invalid(std::string text) { return {ErrorCode::kInvalid, std::move(text)}; }

// Which of the sources it has, by the name that people write.
std::string SourceName(const core::VolumeSource& source) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  source.GetReflection()->ListFields(source, &fields);
  return fields.empty() ? "" : std::string(fields.front()->json_name());
}

std::optional<VolumeKind> KindOf(const core::VolumeSource& source) {
  if (source.has_hostpath()) return VolumeKind::kHostPath;
  if (source.has_secret()) return VolumeKind::kSecret;
  if (source.has_configmap()) return VolumeKind::kConfigMap;
  if (source.has_downwardapi()) return VolumeKind::kDownward;
  if (source.has_projected()) return VolumeKind::kProjected;
  if (source.has_image()) return VolumeKind::kImage;
  // A volume that says nothing is one, too.
  if (source.has_emptydir() || SourceName(source).empty()) return VolumeKind::kEmptyDir;
  return std::nullopt;
}

// The most that a tmpfs may hold: what the pod may use, what the volume says, what the node has.
int64_t MemorySize(const core::Pod& pod, const core::EmptyDirVolumeSource& source,
                   const VolumeNode& node) {
  const auto found = node.allocatable.find("memory");
  int64_t size = found == node.allocatable.end() ? 0 : found->second.Units();
  const auto lower = [&size](int64_t limit) {
    if (limit > 0 && (size == 0 || limit <= size)) size = limit;
  };
  if (const auto limit = PodMemoryLimit(pod)) lower(*limit);
  if (source.has_sizelimit()) {
    if (const auto limit = Quantity::Parse(source.sizelimit().string())) lower(limit->Units());
  }
  return size;
}

std::set<std::string> RequestedPageSizes(const core::Pod& pod) {
  std::set<std::string> sizes;
  const auto add = [&sizes](const core::ResourceRequirements& resources) {
    for (const auto* entry : kube::Sorted(resources.requests())) {
      const std::string& name = entry->first;
      if (name.starts_with(kHugePagesPrefix)) sizes.insert(name.substr(kHugePagesPrefix.size()));
    }
  };
  if (pod.spec().has_resources()) add(pod.spec().resources());
  for (const auto& container : pod.spec().containers()) add(container.resources());
  for (const auto& container : pod.spec().initcontainers()) add(container.resources());
  return sizes;
}

Result<std::string> HugePagesOption(const core::Pod& pod, const std::string& medium) {
  const std::set<std::string> sizes = RequestedPageSizes(pod);
  std::optional<Quantity> wanted;
  if (medium != kHugePagesMedium) {
    const Result<Quantity> size = Quantity::Parse(medium.substr(kHugePagesMedium.size() + 1));
    if (!size) return size.error();
    wanted = *size;
  } else if (sizes.size() > 1) {
    return Invalid("medium: " + medium +
                   " can't be used if container requests multiple huge page sizes");
  }
  for (const std::string& text : sizes) {
    const Result<Quantity> size = Quantity::Parse(text);
    if (!size) return size.error();
    if (!wanted || *wanted == *size) return "pagesize=" + size->ToString();
  }
  return Invalid("medium " + medium +
                 ": hugePages storage requested, but there is no resource request for huge pages");
}

Status PlanMedium(const core::Pod& pod, const core::EmptyDirVolumeSource& source,
                  const VolumeNode& node, VolumePlan& plan) {
  const std::string& medium = source.medium();
  if (medium.empty()) return Ok();
  if (medium == "Memory") {
    plan.medium = VolumeMedium::kMemory;
    const int64_t size = MemorySize(pod, source, node);
    if (size > 0) plan.mount_options = "size=" + std::to_string(size);
    return Ok();
  }
  if (medium == kHugePagesMedium || medium.starts_with(std::string(kHugePagesMedium) + "-")) {
    plan.medium = VolumeMedium::kHugePages;
    Result<std::string> option = HugePagesOption(pod, medium);
    if (!option) return option.error();
    plan.mount_options = *std::move(option);
    return Ok();
  }
  return Invalid("unknown storage medium " + GoQuoted(medium));
}

Status CheckHostPath(const std::string& path) {
  if (path.empty()) return Invalid("no path given");
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (std::string_view(path).substr(begin, end - begin) == "..") {
      return Invalid("invalid HostPath `" + path + "`: must not contain '..'");
    }
    begin = end + 1;
  }
  return Ok();
}

std::optional<int64_t> LimitOf(const core::ResourceRequirements& resources) {
  const auto found = resources.limits().find("memory");
  if (found == resources.limits().end()) return std::nullopt;
  const Result<Quantity> limit = Quantity::Parse(found->second.string());
  if (!limit || limit->IsZero()) return std::nullopt;
  return limit->Units();
}

}  // namespace

std::string PodFolder(const std::string& root, const PodUid& uid) {
  return root + "/pods/" + uid.value();
}

std::string_view FolderOf(VolumeKind kind) {
  switch (kind) {
    case VolumeKind::kEmptyDir:
      return "kubernetes.io~empty-dir";
    case VolumeKind::kConfigMap:
      return "kubernetes.io~configmap";
    case VolumeKind::kSecret:
      return "kubernetes.io~secret";
    case VolumeKind::kDownward:
      return "kubernetes.io~downward-api";
    case VolumeKind::kProjected:
      return "kubernetes.io~projected";
    case VolumeKind::kHostPath:
      return "kubernetes.io~host-path";
    case VolumeKind::kImage:
      return "kubernetes.io~image";
  }
  return "";
}

std::string CleanPath(std::string_view path) {
  const bool absolute = path.starts_with('/');
  std::vector<std::string_view> names;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty() || name == ".") continue;
    if (name != ".." || (!absolute && (names.empty() || names.back() == ".."))) {
      names.push_back(name);
    } else if (!names.empty()) {
      names.pop_back();
    }
  }
  std::string clean;
  for (const std::string_view name : names) {
    if (absolute || !clean.empty()) clean += '/';
    clean += name;
  }
  return absolute && clean.empty() ? "/" : clean;
}

Result<VolumePlan> PlanVolume(const core::Pod& pod, const core::Volume& volume,
                              const VolumeNode& node) {
  const core::VolumeSource& source = volume.volumesource();
  const std::optional<VolumeKind> kind = KindOf(source);
  if (!kind) {
    return Error(ErrorCode::kUnsupported, SourceName(source) + " volumes are not supported yet");
  }
  VolumePlan plan{.name = volume.name(), .kind = *kind};
  if (*kind == VolumeKind::kHostPath) {
    if (Status checked = CheckHostPath(source.hostpath().path()); !checked) return checked.error();
    plan.path = source.hostpath().path();
    plan.host_path_type = source.hostpath().type();
    return plan;
  }
  if (*kind == VolumeKind::kImage) {
    plan.path = source.image().reference();
    return plan;
  }
  const std::string folder = PodFolder(node.root_folder, PodUid(pod.metadata().uid()));
  plan.path = folder + "/volumes/" + std::string(FolderOf(*kind)) + "/" + volume.name();
  plan.ready_folder = folder + "/plugins/" + std::string(FolderOf(VolumeKind::kEmptyDir)) + "/" +
                      (HasContent(*kind) ? "wrapped_" : "") + volume.name();
  if (pod.spec().securitycontext().has_fsgroup()) {
    plan.fs_group = static_cast<uint32_t>(pod.spec().securitycontext().fsgroup());
  }
  if (*kind == VolumeKind::kEmptyDir) {
    if (Status planned = PlanMedium(pod, source.emptydir(), node, plan); !planned) {
      return planned.error();
    }
    return plan;
  }
  Result<std::vector<std::string>> nested = NestedMountPoints(pod, volume.name());
  if (!nested) return nested.error();
  plan.nested = *std::move(nested);
  // What is secret, or told of the pod, is not written to a disk.
  if (*kind != VolumeKind::kConfigMap) {
    core::EmptyDirVolumeSource memory;
    memory.set_medium("Memory");
    if (Status planned = PlanMedium(pod, memory, node, plan); !planned) return planned.error();
  }
  return plan;
}

std::set<std::string> UsedVolumes(const core::Pod& pod) {
  std::set<std::string> names;
  const auto look = [&names](const auto& container) {
    for (const auto& mount : container.volumemounts()) names.insert(mount.name());
    for (const auto& device : container.volumedevices()) names.insert(device.name());
  };
  for (const auto& container : pod.spec().initcontainers()) look(container);
  for (const auto& container : pod.spec().containers()) look(container);
  for (const auto& container : pod.spec().ephemeralcontainers()) {
    look(container.ephemeralcontainercommon());
  }
  return names;
}

std::optional<uint32_t> FsUser(const core::Pod& pod) {
  std::optional<int64_t> user;
  bool one = true;
  const auto look = [&](const core::SecurityContext& own) {
    const core::PodSecurityContext& shared = pod.spec().securitycontext();
    if (!own.has_runasuser() && !shared.has_runasuser()) {
      one = false;
      return;
    }
    const int64_t runs_as = own.has_runasuser() ? own.runasuser() : shared.runasuser();
    if (user && *user != runs_as) one = false;
    user = runs_as;
  };
  for (const auto& container : pod.spec().initcontainers()) look(container.securitycontext());
  for (const auto& container : pod.spec().containers()) look(container.securitycontext());
  for (const auto& container : pod.spec().ephemeralcontainers()) {
    look(container.ephemeralcontainercommon().securitycontext());
  }
  if (!one || !user) return std::nullopt;
  return static_cast<uint32_t>(*user);
}

std::optional<int64_t> PodMemoryLimit(const core::Pod& pod) {
  const core::PodSpec& spec = pod.spec();
  if (spec.has_resources()) {
    if (const auto own = LimitOf(spec.resources())) return own;
  }
  int64_t running = 0;
  for (const auto& container : spec.containers()) {
    const auto limit = LimitOf(container.resources());
    if (!limit) return std::nullopt;
    running += *limit;
  }
  int64_t sidecars = 0;
  int64_t initializing = 0;
  for (const auto& container : spec.initcontainers()) {
    const auto limit = LimitOf(container.resources());
    if (!limit) return std::nullopt;
    if (container.restartpolicy() == "Always") {
      sidecars += *limit;
      initializing = std::max(initializing, sidecars);
    } else {
      initializing = std::max(initializing, sidecars + *limit);
    }
  }
  int64_t overhead = 0;
  if (const auto found = spec.overhead().find("memory"); found != spec.overhead().end()) {
    if (const auto amount = Quantity::Parse(found->second.string())) overhead = amount->Units();
  }
  return std::max(running + sidecars, initializing) + overhead;
}

Result<std::vector<std::string>> NestedMountPoints(const core::Pod& pod, std::string_view volume) {
  std::vector<std::string> nested;
  Status fault = Ok();
  const auto look = [&](const auto& mounts) {
    std::vector<std::string> all;
    for (const auto& mount : mounts) all.push_back(CleanPath(mount.mountpath()));
    std::ranges::sort(all);
    for (const auto& mount : mounts) {
      if (mount.name() != volume) continue;
      const std::string point_of_mine = CleanPath(mount.mountpath());
      if (point_of_mine.starts_with("../")) {
        fault = Invalid("invalid container mount point " + point_of_mine);
      }
      const std::string mine = point_of_mine + "/";
      std::vector<std::string> before;
      for (const std::string& point : all) {
        if (!point.starts_with(mine)) continue;
        const bool deeper = std::ranges::any_of(
            before, [&](const std::string& other) { return point.starts_with(other); });
        if (deeper) continue;
        before.push_back(point + "/");
        nested.push_back(point.substr(mine.size()));
      }
    }
  };
  for (const auto& container : pod.spec().initcontainers()) look(container.volumemounts());
  for (const auto& container : pod.spec().containers()) look(container.volumemounts());
  for (const auto& container : pod.spec().ephemeralcontainers()) {
    look(container.ephemeralcontainercommon().volumemounts());
  }
  if (!fault) return fault.error();
  return nested;
}

}  // namespace denselet::managers
