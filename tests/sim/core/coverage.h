// What runs have reached: where a pod was when something hit it, what was decided, in which states
// the ledger's calls were. Which of these can be reached at all is said here too, so that one that
// never is shows: the simulator would prove nothing about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sync/pod_worker/pod_worker.h"

namespace denselet::sim {

// What happens to the world. Those from kRuntimeCrashed on concern all pods at once.
enum class SimEvent : uint8_t {
  kDeleted,         // by the API server, with a grace
  kRemoved,         // its source has it no more
  kWishedAgain,     // a manifest goes and comes back: the same uid
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

// How a call ended that went wrong; seen where it is answered.
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
};
inline constexpr size_t kSimFaults = 9;
std::string_view SimFaultName(SimFault fault);

// Where a worker can rest.
struct SimPlace {
  sync::Phase phase;
  sync::WaitFor wait;
  friend bool operator==(const SimPlace&, const SimPlace&) = default;
};
std::vector<SimPlace> SimPlaces();

class Coverage {
 public:
  Coverage();

  void Hit(SimEvent event, sync::Phase phase, sync::WaitFor wait);
  void Hit(SimFault fault, sync::Phase phase, sync::WaitFor wait);
  void Decided(const sync::PodWorker& worker, const sync::Decision& decision);
  void Add(const Coverage& other);

  // What must be reached.
  size_t legal() const;
  std::vector<std::string> Missing() const;
  // Reached and said to be impossible: the table is wrong then, or the core is.
  std::vector<std::string> Unexpected() const;
  std::vector<std::string> Lines() const;

  // To another process and back.
  const std::vector<uint64_t>& counts() const { return counts_; }
  std::vector<uint64_t>& counts() { return counts_; }

 private:
  std::vector<uint64_t> counts_;
};

}  // namespace denselet::sim
