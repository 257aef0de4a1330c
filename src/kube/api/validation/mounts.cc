#include "kube/api/validation/mounts.h"

#include <algorithm>
#include <set>

#include "kube/api/validation/paths.h"

namespace denselet::kube {
namespace {

// The last path for each name counts, as upstream has it.
using Places = std::map<std::string, std::string>;

bool HasPath(const Places& places, const std::string& path) {
  return std::ranges::any_of(places, [&](const auto& place) { return place.second == path; });
}

void ValidatePropagation(const core::VolumeMount& mount, const core::Container& container,
                         const FieldPath& path, FaultList& out) {
  CheckSupported(path, mount.mountpropagation(), {"Bidirectional", "HostToContainer", "None"}, out);
  if (mount.mountpropagation() == "Bidirectional" && !container.securitycontext().privileged()) {
    out.Forbidden(path,
                  "Bidirectional mount propagation is available only to privileged containers");
  }
}

void ValidateRecursiveReadOnly(const core::VolumeMount& mount, const FieldPath& path,
                               FaultList& out) {
  const std::string& mode = mount.recursivereadonly();
  if (!CheckSupported(path, mode, {"Disabled", "Enabled", "IfPossible"}, out)) return;
  if (mode == "Disabled") return;
  if (!mount.readonly()) out.Forbidden(path, "may only be specified when readOnly is true");
  if (mount.has_mountpropagation() && mount.mountpropagation() != "None") {
    out.Forbidden(path, "may only be specified when mountPropagation is None or not specified");
  }
}

// Faults of some fields name the list and not its entry, as upstream's do.
void ValidateMountOptions(const core::VolumeMount& mount, const core::Container& container,
                          const FieldPath& list, const FieldPath& path, FaultList& out) {
  if (!mount.subpath().empty()) ValidateDescendingPath(mount.subpath(), list / "subPath", out);
  if (!mount.subpathexpr().empty()) {
    if (!mount.subpath().empty()) {
      out.Invalid(path / "subPathExpr", mount.subpathexpr(),
                  "subPathExpr and subPath are mutually exclusive");
    }
    ValidateDescendingPath(mount.subpathexpr(), list / "subPathExpr", out);
  }
  if (mount.has_mountpropagation()) {
    ValidatePropagation(mount, container, list / "mountPropagation", out);
  }
  if (mount.has_recursivereadonly()) {
    ValidateRecursiveReadOnly(mount, list / "recursiveReadOnly", out);
  }
}

}  // namespace

void ValidateVolumeMounts(const core::Container& container, const PodParts& parts,
                          const FieldPath& path, FaultList& out) {
  Places devices;
  for (const auto& device : container.volumedevices()) devices[device.name()] = device.devicepath();
  std::set<std::string> taken;
  for (int i = 0; i < container.volumemounts_size(); ++i) {
    const auto& mount = container.volumemounts(i);
    const FieldPath name_path = path[i] / "name";
    const FieldPath mount_path = path[i] / "mountPath";
    if (mount.name().empty()) out.Required(name_path);
    if (!parts.volumes.contains(mount.name())) out.NotFound(name_path, mount.name());
    if (mount.mountpath().empty()) out.Required(mount_path);
    if (!taken.insert(mount.mountpath()).second) {
      out.Invalid(mount_path, mount.mountpath(), "must be unique");
    }
    if (devices.contains(mount.name())) {
      out.Invalid(name_path, mount.name(), "must not already exist in volumeDevices");
    }
    if (HasPath(devices, mount.mountpath())) {
      out.Invalid(mount_path, mount.mountpath(),
                  "must not already exist as a path in volumeDevices");
    }
    ValidateMountOptions(mount, container, path, path[i], out);
  }
}

void ValidateVolumeDevices(const core::Container& container, const PodParts& parts,
                           const FieldPath& path, FaultList& out) {
  Places mounts;
  for (const auto& mount : container.volumemounts()) mounts[mount.name()] = mount.mountpath();
  std::set<std::string> names;
  std::set<std::string> paths;
  for (int i = 0; i < container.volumedevices_size(); ++i) {
    const std::string& name = container.volumedevices(i).name();
    const std::string& device = container.volumedevices(i).devicepath();
    const FieldPath name_path = path[i] / "name";
    const FieldPath device_path = path[i] / "devicePath";
    if (name.empty()) out.Required(name_path);
    if (names.contains(name)) out.Invalid(name_path, name, "must be unique");
    const auto volume = parts.volumes.find(name);
    if (volume == parts.volumes.end()) {
      out.NotFound(name_path, name);
    } else if (!volume->second->has_persistentvolumeclaim() && !volume->second->has_ephemeral()) {
      out.Invalid(name_path, name,
                  "can only use volume source type of PersistentVolumeClaim or Ephemeral for block "
                  "mode");
    }
    if (device.empty()) out.Required(device_path);
    if (paths.contains(device)) out.Invalid(device_path, device, "must be unique");
    if (HasStepUp(device)) {
      out.Invalid(device_path, device, "can not contain backsteps ('..')");
    } else {
      paths.insert(device);
    }
    if (mounts.contains(name))
      out.Invalid(name_path, name, "must not already exist in volumeMounts");
    if (HasPath(mounts, device)) {
      out.Invalid(device_path, device, "must not already exist as a path in volumeMounts");
    }
    if (!name.empty()) names.insert(name);
  }
}

}  // namespace denselet::kube
