// Questions about a pod that more than one builder asks. For .cc files: it needs the whole types.
#pragma once

#include <string_view>

#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"

namespace denselet::sync {

inline bool IsSidecar(const kube::core::Container& init_container) {
  return init_container.restartpolicy() == "Always";
}

inline bool IsSidecarOf(const kube::core::Pod& pod, std::string_view name) {
  for (const auto& container : pod.spec().initcontainers()) {
    if (container.name() == name) return IsSidecar(container);
  }
  return false;
}

// Whether the pod itself has requests or limits of a kind that pods may have.
inline bool HasPodResources(const kube::core::Pod& pod) {
  const auto any = [](const auto& list) {
    for (const auto* entry : kube::Sorted(list)) {
      const std::string_view name = entry->first;
      if (name == "cpu" || name == "memory" || name.starts_with("hugepages-")) return true;
    }
    return false;
  };
  return any(pod.spec().resources().requests()) || any(pod.spec().resources().limits());
}

inline std::string_view AnnotationOf(const kube::core::Pod& pod, const char* key) {
  const auto found = pod.metadata().annotations().find(key);
  return found == pod.metadata().annotations().end() ? std::string_view() : found->second;
}

inline bool IsStaticPod(const kube::core::Pod& pod) {
  const std::string_view source = AnnotationOf(pod, "kubernetes.io/config.source");
  return !source.empty() && source != "api";
}

inline bool IsCriticalPod(const kube::core::Pod& pod) {
  constexpr int32_t kSystemCritical = 2'000'000'000;
  const auto& annotations = pod.metadata().annotations();
  return IsStaticPod(pod) || annotations.contains("kubernetes.io/config.mirror") ||
         (pod.spec().has_priority() && pod.spec().priority() >= kSystemCritical);
}

inline bool IsNodeCriticalPod(const kube::core::Pod& pod) {
  return IsCriticalPod(pod) && pod.spec().priorityclassname() == "system-node-critical";
}

}  // namespace denselet::sync
