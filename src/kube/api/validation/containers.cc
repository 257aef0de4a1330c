#include "kube/api/validation/containers.h"

#include <set>
#include <string>

#include "kube/api/validation/env.h"
#include "kube/api/validation/mounts.h"
#include "kube/api/validation/ports.h"
#include "kube/api/validation/probes.h"
#include "kube/api/validation/resources.h"
#include "kube/api/validation/restart_rules.h"
#include "kube/api/validation/security.h"

namespace denselet::kube {
namespace {

using Names = std::set<std::string>;

void ValidateCommon(const core::Container& container, const PodParts& parts, const FieldPath& path,
                    FaultList& out) {
  if (container.name().empty()) {
    out.Required(path / "name");
  } else {
    out.Invalid(path / "name", container.name(), CheckDns1123Label(container.name()));
  }
  if (container.image().empty()) out.Required(path / "image");
  if (container.terminationmessagepolicy().empty()) {
    out.Required(path / "terminationMessagePolicy");
  } else {
    CheckSupported(path / "terminationMessagePolicy", container.terminationmessagepolicy(),
                   {"File", "FallbackToLogsOnError"}, out);
  }
  ValidatePorts(container, path / "ports", out);
  ValidateEnv(container, path, out);
  ValidateVolumeMounts(container, parts, path / "volumeMounts", out);
  ValidateVolumeDevices(container, parts, path / "volumeDevices", out);
  ValidatePullPolicy(container.imagepullpolicy(), path / "imagePullPolicy", out);
  ValidateContainerResources(container.resources(), parts, path / "resources", out);
  ValidateResizePolicy(container, parts.spec().restartpolicy(), path / "resizePolicy", out);
  ValidateSecurityContext(container, parts, path / "securityContext", out);
}

void ValidateRegular(const PodParts& parts, const FieldPath& path, FaultList& out) {
  const core::PodSpec& spec = parts.spec();
  if (spec.containers().empty()) return out.Required(path);
  Names names;
  for (int i = 0; i < spec.containers_size(); ++i) {
    const auto& container = spec.containers(i);
    ValidateCommon(container, parts, path[i], out);
    if (!names.insert(container.name()).second) out.Duplicate(path[i] / "name", container.name());
    ValidateProbesAndHooks(container, spec, path[i], out);
    ValidateRestartRules(container, path[i], out);
  }
  HostPorts taken;
  for (int i = 0; i < spec.containers_size(); ++i) {
    ValidateHostPorts(spec.containers(i), path[i], taken, out);
  }
}

void ForbidProbesAndHooks(const core::Container& container, const FieldPath& path, FaultList& out) {
  const auto forbid = [&](std::string_view field, bool set) {
    if (!set) return;
    out.Forbidden(path / field, "may not be set for init containers without restartPolicy=Always");
  };
  forbid("lifecycle", container.has_lifecycle());
  forbid("livenessProbe", container.has_livenessprobe());
  forbid("readinessProbe", container.has_readinessprobe());
  forbid("startupProbe", container.has_startupprobe());
}

// A container that has ended cannot be resized.
void ForbidRestartOnResize(const core::Container& container, const FieldPath& path,
                           FaultList& out) {
  for (int i = 0; i < container.resizepolicy_size(); ++i) {
    const std::string& policy = container.resizepolicy(i).restartpolicy();
    if (policy != "RestartContainer") continue;
    out.Invalid((path / "resizePolicy")[i] / "restartPolicy", FaultValue::Named(policy),
                "must not be set to 'RestartContainer' for non-sidecar initContainers");
  }
}

void ValidateInit(const PodParts& parts, const FieldPath& path, FaultList& out) {
  const core::PodSpec& spec = parts.spec();
  Names names;
  for (const auto& container : spec.containers()) names.insert(container.name());
  for (int i = 0; i < spec.initcontainers_size(); ++i) {
    const auto& container = spec.initcontainers(i);
    ValidateCommon(container, parts, path[i], out);
    // Without a policy its rules are not looked at.
    if (container.has_restartpolicy())
      ValidateRestartRules(container, path[i], out);
    else if (!container.restartpolicyrules().empty())
      RequireRestartPolicy(path[i], out);
    if (names.contains(container.name())) {
      out.Duplicate(path[i] / "name", container.name());
    } else if (!container.name().empty()) {
      names.insert(container.name());
    }
    // Each runs alone, so only its own ports are compared; upstream names them as the first's.
    HostPorts taken;
    ValidateHostPorts(container, path[0], taken, out);
    if (container.restartpolicy() == "Always") {
      ValidateProbesAndHooks(container, spec, path[i], out);
    } else {
      ForbidProbesAndHooks(container, path[i], out);
      ForbidRestartOnResize(container, path[i], out);
    }
  }
}

void ForbidForEphemeral(const core::Container& container, const FieldPath& path, FaultList& out) {
  const auto forbid = [&](const FieldPath& field, bool set) {
    if (set) out.Forbidden(field, "cannot be set for an Ephemeral Container");
  };
  const auto& resources = container.resources();
  forbid(path / "ports", !container.ports().empty());
  forbid(path / "resources", !resources.limits().empty() || !resources.requests().empty() ||
                                 !resources.claims().empty());
  forbid(path / "resizePolicy", !container.resizepolicy().empty());
  forbid(path / "restartPolicy", container.has_restartpolicy());
  forbid(path / "restartPolicyRules", !container.restartpolicyrules().empty());
  forbid(path / "livenessProbe", container.has_livenessprobe());
  forbid(path / "readinessProbe", container.has_readinessprobe());
  forbid(path / "startupProbe", container.has_startupprobe());
  forbid(path / "lifecycle", container.has_lifecycle());
  for (int i = 0; i < container.volumemounts_size(); ++i) {
    const FieldPath mount = (path / "volumeMounts")[i];
    forbid(mount / "subPath", !container.volumemounts(i).subpath().empty());
    forbid(mount / "subPathExpr", !container.volumemounts(i).subpathexpr().empty());
  }
}

bool IsPadded(const std::string& image) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  return !image.empty() && (kSpaces.find(image.front()) != kSpaces.npos ||
                            kSpaces.find(image.back()) != kSpaces.npos);
}

void ValidateImage(const core::Container& container, const FieldPath& path, FaultList& out) {
  if (!IsPadded(container.image())) return;
  out.Invalid(path / "image", container.image(), "must not have leading or trailing whitespace");
}

void ValidateEphemeral(const PodParts& parts, const FieldPath& path, FaultList& out) {
  const core::PodSpec& spec = parts.spec();
  Names others;
  for (const auto& container : spec.containers()) others.insert(container.name());
  for (const auto& container : spec.initcontainers()) others.insert(container.name());
  Names names = others;
  for (int i = 0; i < spec.ephemeralcontainers_size(); ++i) {
    const core::Container container = ToContainer(spec.ephemeralcontainers(i));
    const std::string& target = spec.ephemeralcontainers(i).targetcontainername();
    ValidateCommon(container, parts, path[i], out);
    ValidateImage(container, path[i], out);
    if (!names.insert(container.name()).second) out.Duplicate(path[i] / "name", container.name());
    if (!target.empty() && !others.contains(target)) {
      out.NotFound(path[i] / "targetContainerName", target);
    }
    ForbidForEphemeral(container, path[i], out);
  }
}

}  // namespace

void ValidatePullPolicy(const std::string& policy, const FieldPath& path, FaultList& out) {
  if (policy.empty()) return out.Required(path);
  CheckSupported(path, policy, {"Always", "IfNotPresent", "Never"}, out);
}

void ValidateContainers(const PodParts& parts, const FieldPath& spec_path, FaultList& out) {
  ValidateRegular(parts, spec_path / "containers", out);
  ValidateInit(parts, spec_path / "initContainers", out);
  ValidateEphemeral(parts, spec_path / "ephemeralContainers", out);
}

void ValidateImages(const core::PodSpec& spec, const FieldPath& spec_path, FaultList& out) {
  for (int i = 0; i < spec.containers_size(); ++i) {
    ValidateImage(spec.containers(i), (spec_path / "containers")[i], out);
  }
  for (int i = 0; i < spec.initcontainers_size(); ++i) {
    ValidateImage(spec.initcontainers(i), (spec_path / "initContainers")[i], out);
  }
}

}  // namespace denselet::kube
