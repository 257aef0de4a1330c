// Who else has a say when a pod is to be taken on: managers that give out devices, CPUs and memory
// at their places, eviction, shutdown. The desk (sync/admission) asks them.
#pragma once

#include <optional>
#include <string>

#include "base/context.h"
#include "base/ids.h"
#include "base/unique_function.h"
#include "kube/api/pod/pod_at_rest.h"

namespace denselet::sync {

// As the pod's status tells it: the pod has failed.
struct Rejection {
  std::string reason = {};
  std::string message = {};

  friend bool operator==(const Rejection&, const Rejection&) = default;
};

// Lives on the shard of the desk, or hands on to where it lives. Each question is answered once, in
// a later turn, however long that takes: it holds up its own pod only.
class AdmissionPlugin {
 public:
  virtual ~AdmissionPlugin() = default;
  // Nothing: it agrees, and has set aside what the pod needs.
  virtual void Admit(const Context&, const kube::PodRef& pod,
                     UniqueFunction<void(std::optional<Rejection>)> done) = 0;
  // What was set aside is free again: the pod is rejected or gone. Also of pods that it knows not.
  virtual void Release(const PodUid& pod) = 0;
};

}  // namespace denselet::sync
