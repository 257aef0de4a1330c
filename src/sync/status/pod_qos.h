// The quality of service class of a pod, by the name that its status has for it.
#pragma once

#include "kube/api/fwd.h"
#include "sync/spec/resource_spec.h"

namespace denselet::sync {

inline const char* QosName(const kube::core::Pod& pod) {
  switch (QosOf(pod)) {
    case QosClass::kGuaranteed:
      return "Guaranteed";
    case QosClass::kBurstable:
      return "Burstable";
    case QosClass::kBestEffort:
      return "BestEffort";
  }
  return "";
}

}  // namespace denselet::sync
