// What can hit a pod, where a pod's worker can rest, and which pairs of both a run of many seeds
// has to reach. For a pair that it need not reach there is a reason, in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sync/decide/decision.h"

namespace denselet::sim {

// What happens to the world. Those from kRuntimeCrashed on concern all pods at once.
enum class SimEvent : uint8_t {
  kDeleted,         // by the API server, with a grace
  kRemoved,         // its source has it no more
  kWishedAgain,     // a manifest went and comes back: the same uid
  kReplaced,        // a manifest changes: another uid under the same name
  kChanged,         // a new image
  kDebugged,        // gets an ephemeral container
  kToldAgain,       // nothing changed
  kEvicted,         // by a manager of ours
  kExited,          // a container ends by itself
  kSandboxDied,     // with its containers
  kStateLost,       // the runtime cannot say any more whether a container runs
  kLivenessFailed,  // a container's probe
  kRuntimeCrashed,  // its containers live on
  kMachineCrashed,  // nothing lives on; the agent, if it was only the runtime's machine
  kAgentKilled,     // between two turns or between two calls of one
  kApiOutage,       // what changes meanwhile comes as one list
  kNodeNotReady,    // the runtime or the network says so
  kDiskFull,        // for a while
};
inline constexpr size_t kSimEvents = 18;
std::string_view SimEventName(SimEvent event);

// What went wrong. A call is counted where it is answered, the others where they happen.
enum class SimFault : uint8_t {
  kNotSent,
  kDown,
  kRefused,
  kLostBefore,
  kLostAfter,
  kLate,
  kHang,
  kLeafFailed,
  kLeafHung,
  // Of the runtime's word about a change of the pod.
  kEventLost,
  kEventLostTold,
  kEventsBroken,
  kEventLate,
  kEventRepeated,
  // Of a request about the pod, or of the API server's word about it.
  kApiRequestLost,
  kApiRequestLate,
  kApiBusy,
  kApiAnswerLost,
  kApiWatchBroken,
};
inline constexpr size_t kSimFaults = 19;
std::string_view SimFaultName(SimFault fault);

// Where a worker can rest.
struct SimPlace {
  sync::Phase phase;
  sync::WaitFor wait;
  friend bool operator==(const SimPlace&, const SimPlace&) = default;
};
inline constexpr size_t kSimPhases = 4;
std::vector<SimPlace> SimPlaces();

// Who waits for what in which phase.
bool CanWait(const SimPlace& place);
// Where something can hit a pod: also one that is through, which rests in its last phase until its
// wish is gone.
bool CanBeHit(const SimPlace& place);

// Of a place where something can hit a pod: why this need not be reached there. Empty: it must be.
std::string_view WhyNotDemanded(SimEvent event, const SimPlace& place);
std::string_view WhyNotDemanded(SimFault fault, const SimPlace& place);

}  // namespace denselet::sim
