// Finding things in statuses, and setting times in them. For .cc files: it needs the whole types.
#pragma once

#include <string_view>

#include "base/time.h"
#include "kube/api/types.h"

namespace denselet::sync {

template <class Statuses>
const kube::core::ContainerStatus* FindStatus(const Statuses& statuses, std::string_view name) {
  for (const kube::core::ContainerStatus& status : statuses) {
    if (status.name() == name) return &status;
  }
  return nullptr;
}

// Of an init container or a regular one.
inline const kube::core::ContainerStatus* FindStatus(const kube::core::PodStatus& pod,
                                                     std::string_view name) {
  const auto* init = FindStatus(pod.initcontainerstatuses(), name);
  return init ? init : FindStatus(pod.containerstatuses(), name);
}

inline const kube::core::PodCondition* FindCondition(const kube::core::PodStatus& pod,
                                                     std::string_view type) {
  for (const kube::core::PodCondition& condition : pod.conditions()) {
    if (condition.type() == type) return &condition;
  }
  return nullptr;
}

inline bool IsTrue(const kube::core::PodCondition* condition) {
  return condition && condition->status() == "True";
}

// The API server's times are whole seconds.
inline kube::meta::Time InSeconds(WallTime time) {
  kube::meta::Time out;
  out.set_seconds(ToTimestamp(time).seconds);
  out.set_nanos(0);
  return out;
}

inline bool HasTime(const kube::meta::Time& time) {
  return (time.has_seconds() || time.has_nanos()) && time.seconds() != kGoZeroTime.seconds;
}

}  // namespace denselet::sync
