#include "managers/secrets/referred_objects.h"

#include <algorithm>
#include <string>

#include "kube/api/types.h"

namespace denselet::managers {
namespace {

namespace core = kube::core;

class Collector {
 public:
  explicit Collector(std::string ns) : ns_(std::move(ns)) {}

  void Add(sync::ObjectKind kind, const std::string& name, ObjectUse use) {
    if (name.empty()) return;
    ObjectUse& known = objects_.try_emplace({kind, {ns_, name}}, use).first->second;
    known = std::max(known, use);
  }

  // Of containers and of ephemeral ones alike.
  template <class Container>
  void AddEnvironment(const Container& container) {
    for (const core::EnvFromSource& from : container.envfrom()) {
      Add(sync::ObjectKind::kConfigMap, from.configmapref().localobjectreference().name(),
          ObjectUse::kOnce);
      Add(sync::ObjectKind::kSecret, from.secretref().localobjectreference().name(),
          ObjectUse::kOnce);
    }
    for (const core::EnvVar& variable : container.env()) {
      const core::EnvVarSource& from = variable.valuefrom();
      Add(sync::ObjectKind::kConfigMap, from.configmapkeyref().localobjectreference().name(),
          ObjectUse::kOnce);
      Add(sync::ObjectKind::kSecret, from.secretkeyref().localobjectreference().name(),
          ObjectUse::kOnce);
    }
  }

  void AddVolume(const core::VolumeSource& volume) {
    Add(sync::ObjectKind::kConfigMap, volume.configmap().localobjectreference().name(),
        ObjectUse::kLive);
    Add(sync::ObjectKind::kSecret, volume.secret().secretname(), ObjectUse::kLive);
    for (const core::VolumeProjection& source : volume.projected().sources()) {
      Add(sync::ObjectKind::kConfigMap, source.configmap().localobjectreference().name(),
          ObjectUse::kLive);
      Add(sync::ObjectKind::kSecret, source.secret().localobjectreference().name(),
          ObjectUse::kLive);
      if (source.has_clustertrustbundle()) {
        objects_[{.kind = sync::ObjectKind::kTrustBundles}] = ObjectUse::kLive;
      }
    }
  }

  std::map<sync::ObjectKey, ObjectUse> objects() && { return std::move(objects_); }

 private:
  const std::string ns_;
  std::map<sync::ObjectKey, ObjectUse> objects_;
};

}  // namespace

std::map<sync::ObjectKey, ObjectUse> ReferredObjects(const core::Pod& pod) {
  Collector all(pod.metadata().namespace_());
  for (const auto& secret : pod.spec().imagepullsecrets()) {
    all.Add(sync::ObjectKind::kSecret, secret.name(), ObjectUse::kOnce);
  }
  for (const auto& container : pod.spec().initcontainers()) all.AddEnvironment(container);
  for (const auto& container : pod.spec().containers()) all.AddEnvironment(container);
  for (const auto& container : pod.spec().ephemeralcontainers()) {
    all.AddEnvironment(container.ephemeralcontainercommon());
  }
  for (const auto& volume : pod.spec().volumes()) all.AddVolume(volume.volumesource());
  return std::move(all).objects();
}

}  // namespace denselet::managers
