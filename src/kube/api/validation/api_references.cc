#include <optional>
#include <string>

#include "kube/api/validation/pod_parts.h"
#include "kube/api/validation/static_pod.h"

namespace denselet::kube {
namespace {

using Reference = std::optional<std::string>;

bool RefersToSecret(const core::Container& container) {
  for (const auto& from : container.envfrom()) {
    if (!from.secretref().localobjectreference().name().empty()) return true;
  }
  for (const auto& env : container.env()) {
    if (!env.valuefrom().secretkeyref().localobjectreference().name().empty()) return true;
  }
  return false;
}

bool RefersToConfigMap(const core::Container& container) {
  for (const auto& from : container.envfrom()) {
    if (!from.configmapref().localobjectreference().name().empty()) return true;
  }
  for (const auto& env : container.env()) {
    if (!env.valuefrom().configmapkeyref().localobjectreference().name().empty()) return true;
  }
  return false;
}

// By name; a volume of them without a name is found below.
bool RefersToSecret(const core::VolumeSource& source) {
  for (const auto& projection : source.projected().sources()) {
    if (!projection.secret().localobjectreference().name().empty()) return true;
  }
  return !source.azurefile().secretname().empty() || !source.cephfs().secretref().name().empty() ||
         !source.cinder().secretref().name().empty() ||
         !source.flexvolume().secretref().name().empty() ||
         !source.rbd().secretref().name().empty() || !source.secret().secretname().empty() ||
         !source.scaleio().secretref().name().empty() ||
         !source.iscsi().secretref().name().empty() ||
         !source.storageos().secretref().name().empty() ||
         !source.csi().nodepublishsecretref().name().empty();
}

bool RefersToConfigMap(const core::VolumeSource& source) {
  for (const auto& projection : source.projected().sources()) {
    if (!projection.configmap().localobjectreference().name().empty()) return true;
  }
  return !source.configmap().localobjectreference().name().empty();
}

bool RefersToSecret(const core::PodSpec& spec) {
  bool found = false;
  for (const auto& secret : spec.imagepullsecrets()) found = found || !secret.name().empty();
  ForEachContainer(spec, FieldPath("spec"), [&](const core::Container& c, const FieldPath&) {
    found = found || RefersToSecret(c);
  });
  for (const auto& volume : spec.volumes()) found = found || RefersToSecret(volume.volumesource());
  return found;
}

bool RefersToConfigMap(const core::PodSpec& spec) {
  bool found = false;
  ForEachContainer(spec, FieldPath("spec"), [&](const core::Container& c, const FieldPath&) {
    found = found || RefersToConfigMap(c);
  });
  for (const auto& volume : spec.volumes())
    found = found || RefersToConfigMap(volume.volumesource());
  return found;
}

Reference InProjection(const core::VolumeProjection& source) {
  if (source.has_configmap()) return "configmaps (via projected volumes)";
  if (source.has_secret()) return "secrets (via projected volumes)";
  if (source.has_serviceaccounttoken()) return "serviceaccounts (via projected volumes)";
  if (source.has_clustertrustbundle()) return "clustertrustbundles";
  if (source.has_podcertificate()) return "podcertificates";
  return std::nullopt;
}

Reference InVolume(const core::VolumeSource& source) {
  if (source.has_configmap()) return "configmaps (via configmap volumes)";
  if (source.has_secret()) return "secrets (via secret volumes)";
  if (source.has_csi()) return "csidrivers (via CSI volumes)";
  if (source.has_glusterfs()) return "endpoints (via glusterFS volumes)";
  if (source.has_persistentvolumeclaim()) return "persistentvolumeclaims";
  if (source.has_ephemeral()) return "persistentvolumeclaims (via ephemeral volumes)";
  if (source.has_azurefile()) return "secrets (via azureFile volumes)";
  return std::nullopt;
}

std::string Refusal(const std::string& kind) { return "static pods may not reference " + kind; }

std::optional<std::string> RefusalOfVolume(const core::Volume& volume) {
  if (const auto kind = InVolume(volume.volumesource())) return Refusal(*kind);
  for (const auto& projection : volume.volumesource().projected().sources()) {
    if (const auto kind = InProjection(projection)) return Refusal(*kind);
    if (projection.has_downwardapi()) continue;
    return "unknown source for projected volume " + FaultValue(volume.name()).text();
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> RefuseApiReferences(const core::Pod& pod) {
  const core::PodSpec& spec = pod.spec();
  if (!spec.serviceaccountname().empty()) return Refusal("serviceaccounts");
  if (RefersToSecret(spec)) return Refusal("secrets");
  if (RefersToConfigMap(spec)) return Refusal("configmaps");
  if (!spec.resourceclaims().empty()) return Refusal("resourceclaims");
  for (const auto& volume : spec.volumes()) {
    if (auto refusal = RefusalOfVolume(volume)) return refusal;
  }
  return std::nullopt;
}

}  // namespace denselet::kube
