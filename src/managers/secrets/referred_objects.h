// Which configMaps and secrets a pod refers to, and whether to trust bundles, and what for.
//
// Pure.
#pragma once

#include <cstdint>
#include <map>

#include "kube/api/fwd.h"
#include "sync/ports/pod_objects.h"

namespace denselet::managers {

// What a pod wants of an object.
enum class ObjectUse : uint8_t {
  kOnce,  // read when a container is made or an image is pulled
  kLive,  // in a volume: changes are wanted as long as the pod is there
};

// Optional ones, too: they may come.
std::map<sync::ObjectKey, ObjectUse> ReferredObjects(const kube::core::Pod& pod);

}  // namespace denselet::managers
