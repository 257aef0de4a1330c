// The pods that a seed draws: of every kind, with what their containers do when they run, and what
// must be true of each in the end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "kube/api/pod/pod_at_rest.h"
#include "tests/fakes/runtime_model.h"

namespace denselet::sim {

enum class SimPodKind : uint8_t {
  kServer,      // one container that runs
  kInit,        // two init containers, two that run
  kSidecar,     // a sidecar, an init container, one that runs
  kJob,         // Never; ends well
  kRetriedJob,  // OnFailure; fails a few times, then ends well
  kFailedJob,   // Never; ends badly
  kLooper,      // Always; ends again and again
  kStatic,      // from a file
  kHooks,       // postStart and preStop
  kDeadline,    // activeDeadlineSeconds ends it
  kDebugged,    // gets an ephemeral container later
  kJobSidecar,  // Never, with a sidecar that ends after it
};
inline constexpr int kSimPodKinds = 12;

struct SimPod {
  SimPodKind kind = SimPodKind::kServer;
  std::string name = {};
  PodUid uid = {};
  uint32_t version = 1;  // of its image: a new one is another specification
  int64_t grace_seconds = 30;
  bool debugged = false;

  // Where it is, as its source has it.
  bool wished = false;
  bool deleting = false;
  std::optional<int64_t> deletion_grace = {};
  std::optional<bool> succeeded = {};  // as the API server has it: terminal
  bool evicted = false;

  bool is_static() const { return kind == SimPodKind::kStatic; }
  kube::PodRef Build() const;
};

SimPod DrawPod(Random& random, uint32_t number);

// What its containers do; a function of pod, name and attempt alone.
fakes::ContainerBehaviour BehaviourOf(const SimPod& pod, const std::string& container,
                                      uint32_t attempt);

// The containers that run in the end, if nothing disturbs it; nothing: it ends, or loops.
std::vector<std::string> RunsInTheEnd(const SimPod& pod);
bool EndsByItself(SimPodKind kind);
std::string_view SimPodKindName(SimPodKind kind);

}  // namespace denselet::sim
