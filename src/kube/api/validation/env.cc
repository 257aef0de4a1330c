#include "kube/api/validation/env.h"

#include <map>
#include <string>

#include "kube/api/validation/downward_api.h"
#include "kube/api/validation/names.h"
#include "kube/api/validation/paths.h"
#include "kube/api/validation/pod_parts.h"

namespace denselet::kube {
namespace {

const Words kFields = {"metadata.name",
                       "metadata.namespace",
                       "metadata.uid",
                       "spec.nodeName",
                       "spec.serviceAccountName",
                       "status.hostIP",
                       "status.hostIPs",
                       "status.podIP",
                       "status.podIPs"};

// Of a ConfigMap or of a Secret.
template <class Selector>
void ValidateKeySelector(const Selector& selector, const FieldPath& path, FaultList& out) {
  const std::string& name = selector.localobjectreference().name();
  out.Invalid(path / "name", name, CheckDns1123Subdomain(name));
  if (selector.key().empty()) {
    out.Required(path / "key");
  } else {
    out.Invalid(path / "key", selector.key(), CheckConfigMapKey(selector.key()));
  }
}

void ValidateFileKeySelector(const core::FileKeySelector& selector, const FieldPath& path,
                             FaultList& out) {
  if (selector.key().empty()) {
    out.Required(path / "key");
  } else {
    out.Invalid(path / "key", selector.key(), CheckEnvVarName(selector.key()));
  }
  if (selector.volumename().empty()) {
    out.Required(path / "volumeName");
  } else {
    out.Invalid(path / "volumeName", selector.volumename(),
                CheckDns1123Label(selector.volumename()));
  }
  if (selector.path().empty()) {
    out.Required(path / "path");
  } else {
    ValidateNoStepUp(selector.path(), path / "path", out);
  }
}

void ValidateValueFrom(const core::EnvVar& env, const FieldPath& path, FaultList& out) {
  const auto& from = env.valuefrom();
  if (from.has_fieldref()) ValidateFieldRef(from.fieldref(), kFields, path / "fieldRef", out);
  if (from.has_resourcefieldref()) {
    ValidateResourceFieldRef(from.resourcefieldref(), ContainerName::kOptional,
                             path / "resourceFieldRef", out);
  }
  if (from.has_configmapkeyref()) {
    ValidateKeySelector(from.configmapkeyref(), path / "configMapKeyRef", out);
  }
  if (from.has_secretkeyref()) ValidateKeySelector(from.secretkeyref(), path / "secretKeyRef", out);
  if (from.has_filekeyref()) ValidateFileKeySelector(from.filekeyref(), path / "fileKeyRef", out);

  const int sources = from.has_fieldref() + from.has_resourcefieldref() +
                      from.has_configmapkeyref() + from.has_secretkeyref() + from.has_filekeyref();
  if (sources == 0) {
    out.Invalid(path, "",
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                "`secretKeyRef` or `fileKeyRef`");
  } else if (!env.value().empty()) {
    out.Invalid(path, "", "may not be specified when `value` is not empty");
  } else if (sources > 1) {
    out.Invalid(path, "", "may not have more than one field specified at a time");
  }
}

template <class Source>
void ValidateSource(const Source& source, const FieldPath& path, FaultList& out) {
  const std::string& name = source.localobjectreference().name();
  if (name.empty()) return out.Required(path / "name");
  out.Invalid(path / "name", name, CheckDns1123SubdomainPrefix(name));
}

void ValidateEnvFrom(const core::Container& container, const FieldPath& path, FaultList& out) {
  for (int i = 0; i < container.envfrom_size(); ++i) {
    const auto& from = container.envfrom(i);
    if (!from.prefix().empty()) {
      out.Invalid(path[i] / "prefix", from.prefix(), CheckEnvVarName(from.prefix()));
    }
    if (from.has_configmapref()) ValidateSource(from.configmapref(), path[i] / "configMapRef", out);
    if (from.has_secretref()) ValidateSource(from.secretref(), path[i] / "secretRef", out);
    const int sources = from.has_configmapref() + from.has_secretref();
    if (sources == 0) out.Invalid(path, "", "must specify one of: `configMapRef` or `secretRef`");
    if (sources > 1) out.Invalid(path, "", "may not have more than one field specified at a time");
  }
}

}  // namespace

void ValidateEnv(const core::Container& container, const FieldPath& path, FaultList& out) {
  for (int i = 0; i < container.env_size(); ++i) {
    const auto& env = container.env(i);
    const FieldPath env_path = (path / "env")[i];
    if (env.name().empty()) {
      out.Required(env_path / "name");
    } else {
      out.Invalid(env_path / "name", env.name(), CheckEnvVarName(env.name()));
    }
    if (env.has_valuefrom()) ValidateValueFrom(env, env_path / "valueFrom", out);
  }
  ValidateEnvFrom(container, path / "envFrom", out);
}

void ValidateEnvFileVolumes(const core::PodSpec& spec, const FieldPath& spec_path, FaultList& out) {
  std::map<std::string, const core::VolumeSource*> volumes;
  for (const auto& volume : spec.volumes()) volumes[volume.name()] = &volume.volumesource();
  ForEachContainer(spec, spec_path, [&](const core::Container& container, const FieldPath& path) {
    for (int i = 0; i < container.env_size(); ++i) {
      if (!container.env(i).valuefrom().has_filekeyref()) continue;
      const std::string& name = container.env(i).valuefrom().filekeyref().volumename();
      const FieldPath name_path = (path / "env")[i] / "valueFrom" / "fileKeyRef" / "volumeName";
      const auto volume = volumes.find(name);
      if (volume == volumes.end()) {
        out.NotFound(name_path, name);
      } else if (!volume->second->has_emptydir()) {
        out.Invalid(name_path, name, "referenced volume must be of type emptyDir");
      }
    }
  });
}

}  // namespace denselet::kube
