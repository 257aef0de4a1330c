// The pods that a seed draws: of every kind, with what their containers do when they run, and what
// must be true of each in the end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "kube/api/fwd.h"
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
  kHooks,       // postStart and preStop
  kDeadline,    // activeDeadlineSeconds ends it
  kJobSidecar,  // Never, with a sidecar that ends after it
  kProbed,      // a sidecar with a startup probe, one that runs
  kRestartAll,  // whose first exit restarts all its containers
  kOnNode,      // on the node's network
  kGuarded,     // hooks, and a sidecar with hooks
  kRuledJob,    // as kRetriedJob, by a rule of its container
};
inline constexpr int kSimPodKinds = 15;

struct SimPod {
  SimPodKind kind = SimPodKind::kServer;
  std::string name = {};
  PodUid uid = {};
  bool is_static = false;  // from a file
  uint32_t version = 1;    // of its image: a new one is another specification
  int64_t grace_seconds = 30;
  bool debugged = false;
  bool gated = false;  // ready only while somebody else says so, too
  // It needs what not all can have: processors, and perhaps a port of the node. Whether it gets
  // them depends on the run.
  bool contested = false;
  int64_t milli_cpus = 0;  // of one that is contested
  int32_t host_port = 0;   // the same; 0: none

  // Where it is, as its source has it.
  bool wished = false;
  bool removed = false;  // as the story has it, whatever the API server still has to do
  bool away = false;     // removed for a while
  bool coming = false;   // made when nothing of its name is left at the API server
  bool follows = false;  // was made so: when it came depends on the run
  bool dropped = false;  // its source had it no more once, and what ran then was not seen ended
  bool deleting = false;
  std::optional<int64_t> deletion_grace = {};
  std::optional<bool> succeeded = {};  // as the API server has it: terminal
  bool evicted = false;
  std::optional<int64_t> eviction_grace = {};
  bool doomed = false;  // its source will have it no more in the end

  // As its source has it: the metadata and the specification that its author gave it.
  kube::core::Pod Object() const;
  // The same with what the story says of its end, for who tells it without an API server.
  kube::PodRef Build() const;

  friend bool operator==(const SimPod&, const SimPod&) = default;
};

// The condition that those wait for which are gated.
inline constexpr const char* kSimGate = "example.com/Open";

inline constexpr const char* kSimNode = "n1";
// Of the node, for those that are contested; the others need none.
inline constexpr int64_t kSimMilliCpus = 3000;

SimPod DrawPod(Random& random, uint32_t number);
// More of them are contested, and static ones need processors, too: these are critical, and what
// runs must make room for them.
void Crowd(SimPod& pod, Random& random);

// By their names: what starts before the others (init containers and sidecars), what runs side by
// side, and what somebody looks in with.
enum class ContainerRole : uint8_t { kInit, kRegular, kEphemeral };
ContainerRole RoleOf(std::string_view container);

// What its containers do; a function of pod, name and attempt alone.
fakes::ContainerBehaviour BehaviourOf(const SimPod& pod, const std::string& container,
                                      uint32_t attempt);

// The containers that run in the end, if nothing disturbs it; nothing: it ends, or loops.
std::vector<std::string> RunsInTheEnd(const SimPod& pod);
bool EndsByItself(SimPodKind kind);
// What becomes of one that ends by itself, if nothing disturbs it; nothing: it does not.
std::optional<bool> Succeeds(SimPodKind kind);
// Its containers may be stopped and made again though nothing happened to it.
bool RestartsByItself(SimPodKind kind);
// It changes by itself, and again before a list has seen it, or at a time that depends on when it
// was seen.
bool ChangesFast(SimPodKind kind);
// While it is stopped some of its containers wait for others, or for a hook.
bool HasSidecar(SimPodKind kind);
bool HasPreStop(SimPodKind kind);
std::string_view SimPodKindName(SimPodKind kind);

}  // namespace denselet::sim
