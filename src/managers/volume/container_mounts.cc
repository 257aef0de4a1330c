#include "managers/volume/container_mounts.h"

#include <algorithm>
#include <set>

#include "base/quoted.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"

namespace denselet::managers {
namespace {

namespace core = kube::core;
using VolumeMounts = google::protobuf::RepeatedPtrField<core::VolumeMount>;

Error Invalid(std::string text) { return {ErrorCode::kInvalid, std::move(text)}; }

const VolumeMounts* MountsOf(const core::Pod& pod, std::string_view container) {
  for (const auto& candidate : pod.spec().initcontainers()) {
    if (candidate.name() == container) return &candidate.volumemounts();
  }
  for (const auto& candidate : pod.spec().containers()) {
    if (candidate.name() == container) return &candidate.volumemounts();
  }
  for (const auto& candidate : pod.spec().ephemeralcontainers()) {
    const auto& common = candidate.ephemeralcontainercommon();
    if (common.name() == container) return &common.volumemounts();
  }
  return nullptr;
}

bool HasBackstep(std::string_view path) {
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == "..") return true;
    begin = end + 1;
  }
  return false;
}

Result<std::string> SubPathOf(const core::VolumeMount& mount, const sync::KeyValues& env) {
  std::string path = mount.subpath();
  if (!mount.subpathexpr().empty()) {
    Result<std::string> expanded = ExpandSubPath(mount.subpathexpr(), env);
    if (!expanded) return expanded;
    path = *std::move(expanded);
  }
  if (path.starts_with('/')) {
    return Invalid("error SubPath `" + path + "` must not be an absolute path");
  }
  if (HasBackstep(path)) {
    return Invalid("unable to provision SubPath `" + path + "`: must not contain '..'");
  }
  return path;
}

Result<sync::MountPropagation> PropagationOf(const core::VolumeMount& mount) {
  const std::string& mode = mount.mountpropagation();
  if (!mount.has_mountpropagation() || mode == "None") return sync::MountPropagation::kPrivate;
  if (mode == "HostToContainer") return sync::MountPropagation::kHostToContainer;
  if (mode == "Bidirectional") return sync::MountPropagation::kBidirectional;
  return Invalid("invalid MountPropagation mode: " + GoQuoted(mode));
}

Result<bool> IsRecursiveReadOnly(const core::VolumeMount& mount, const VolumeNode& node) {
  const std::string& mode = mount.recursivereadonly();
  if (!mount.has_recursivereadonly() || mode == "Disabled") return false;
  const std::string volume = "volume " + GoQuoted(mount.name());
  if (!mount.readonly()) {
    return Invalid(volume + " requested recursive read-only mode, but it is not read-only");
  }
  if (mount.has_mountpropagation() && mount.mountpropagation() != "None") {
    return Invalid(volume +
                   " requested recursive read-only mode, but it is not compatible with "
                   "propagation " +
                   GoQuoted(mount.mountpropagation()));
  }
  if (mode == "IfPossible") return node.recursive_read_only;
  if (mode != "Enabled") return Invalid("unknown recursive read-only mode " + GoQuoted(mode));
  if (!node.recursive_read_only) {
    return Invalid(volume +
                   " requested recursive read-only mode, but it is not supported by the runtime");
  }
  return true;
}

// The runtime brings it, and finds the part of it, too.
Status ShowImage(const VolumePlan& plan, const sync::ContainerWish& container,
                 const std::string& sub_path, const core::Pod& pod, sync::MountSpec& spec) {
  const auto found = std::ranges::find(container.image_volumes, plan.name,
                                       [](const auto& image) { return image.first; });
  if (found == container.image_volumes.end()) {
    return Invalid("the image of volume " + GoQuoted(plan.name) + " was not asked for");
  }
  spec.host_path.clear();
  spec.image = found->second;
  spec.image_user_specified = plan.path;
  spec.image_sub_path = sub_path;
  for (const auto* entry : kube::Sorted(pod.metadata().annotations())) {
    spec.image_annotations.emplace_back(entry->first, entry->second);
  }
  return Ok();
}

Result<PlannedMount> PlanMount(const core::Pod& pod, const sync::ContainerWish& container,
                               int index, const core::VolumeMount& mount,
                               const sync::KeyValues& env, const VolumeNode& node) {
  const auto& volumes = pod.spec().volumes();
  const auto volume =
      std::ranges::find_if(volumes, [&](const auto& v) { return v.name() == mount.name(); });
  if (volume == volumes.end()) {
    return Invalid("cannot find volume " + GoQuoted(mount.name()) + " to mount into container " +
                   GoQuoted(container.name));
  }
  const Result<VolumePlan> plan = PlanVolume(pod, *volume, node);
  if (!plan) return plan.error();
  const Result<std::string> sub_path = SubPathOf(mount, env);
  if (!sub_path) return sub_path.error();
  const Result<sync::MountPropagation> propagation = PropagationOf(mount);
  if (!propagation) return propagation.error();
  Result<bool> recursive = IsRecursiveReadOnly(mount, node);
  if (!recursive) {
    return recursive.error().With("failed to resolve recursive read-only mode");
  }

  PlannedMount planned{.volume = mount.name()};
  planned.spec.container_path =
      mount.mountpath().starts_with('/') ? mount.mountpath() : "/" + mount.mountpath();
  planned.spec.host_path = plan->path;
  planned.spec.read_only = mount.readonly() || IsReadOnly(plan->kind);
  planned.spec.recursive_read_only = *recursive;
  planned.spec.selinux_relabel = node.selinux && IsOurs(plan->kind);
  planned.spec.propagation = *propagation;
  if (plan->kind == VolumeKind::kImage) {
    if (Status shown = ShowImage(*plan, container, *sub_path, pod, planned.spec); !shown) {
      return shown.error();
    }
    return planned;
  }
  if (!sub_path->empty()) {
    planned.part = reactor::PathBelow{.folder = plan->path, .relative = *sub_path};
    planned.spec.host_path = PodFolder(node.root_folder, PodUid(pod.metadata().uid())) +
                             "/volume-subpaths/" + mount.name() + "/" + container.name + "/" +
                             std::to_string(index);
  }
  return planned;
}

}  // namespace

Result<std::string> ExpandSubPath(std::string_view text, const sync::KeyValues& env) {
  std::string out;
  std::set<std::string> missing;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[++i];
    const size_t close = next == '(' ? text.find(')', i) : std::string_view::npos;
    if (close == std::string_view::npos) {
      out += '$';
      if (next != '$') out += next;
      continue;
    }
    const std::string_view name = text.substr(i + 1, close - i - 1);
    const auto found = std::ranges::find(env, name, [](const auto& e) { return e.first; });
    if (found == env.end() || found->second.empty()) {
      missing.emplace(name);
    } else {
      out += found->second;
    }
    i = close;
  }
  if (missing.empty()) return out;
  std::string names;
  for (const std::string& name : missing) names += (names.empty() ? "" : ", ") + name;
  return Invalid("missing value for " + names);
}

Result<std::vector<PlannedMount>> PlanMounts(const core::Pod& pod,
                                             const sync::ContainerWish& container,
                                             const sync::KeyValues& env, const VolumeNode& node) {
  const VolumeMounts* mounts = MountsOf(pod, container.name);
  if (mounts == nullptr) {
    return Error(ErrorCode::kNotFound, "the pod has no container " + GoQuoted(container.name));
  }
  std::vector<PlannedMount> planned;
  for (int i = 0; i < mounts->size(); ++i) {
    Result<PlannedMount> mount = PlanMount(pod, container, i, mounts->Get(i), env, node);
    if (!mount) return mount.error();
    planned.push_back(*std::move(mount));
  }
  return planned;
}

}  // namespace denselet::managers
