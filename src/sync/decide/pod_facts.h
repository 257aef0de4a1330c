// What others told the pod worker: results of ports (volumes, cgroup, images, probes) and the state
// of the node. Filled by the core, read by Decide.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "sync/decide/pod_plan.h"

namespace denselet::sync {

// Work that somebody else does for the pod and that can fail and be tried again.
enum class WorkState : uint8_t { kNone, kInProgress, kDone, kFailed };

struct Work {
  WorkState state = WorkState::kNone;
  TimePoint retry_at = {};  // of kFailed: not again before this time
  std::string message = {};
};

// The image of one start of a container: policies look at every start.
struct ImageFact {
  WorkState state = WorkState::kNone;
  uint32_t attempt = 0;  // of the container that it is for; of another attempt it does not count
  std::string image_ref = {};
  std::optional<int64_t> image_uid = {};  // the user that it names, by number
  std::string image_username = {};        // ... or by name
  // Of the image volumes that the container mounts: name, and reference of the image.
  std::vector<std::pair<std::string, std::string>> volumes = {};
  // Of the last failure, also while it is tried again: ErrImagePull, ImagePullBackOff, ...
  std::string reason = {};
  std::string message = {};
  TimePoint retry_at = {};
};

enum class ProbeResult : uint8_t { kNone, kUnknown, kSuccess, kFailure };

struct ContainerFacts {
  ImageFact image = {};
  // Of the incarnation `probed_attempt`; results of another one do not count.
  uint32_t probed_attempt = 0;
  ProbeResult startup = ProbeResult::kNone;
  ProbeResult liveness = ProbeResult::kNone;
  // One more than the highest N of <container>/N.log in the pod's log directory; known when
  // `prepare` is done. What the runtime forgot must not be numbered again.
  uint32_t logged_attempts = 0;
};

struct PodFacts {
  Work prepare = {};     // cgroup, data and log directories
  Work volumes = {};     // mounted
  Work release = {};     // after termination: all of that is gone
  Work end_record = {};  // that it ends for good is journalled; retry_at: not waited for any longer
  std::vector<ContainerFacts> containers = {};  // as PodPlan::containers; a missing one: nothing
  // The final status is with the API server: no other will be made of what the runtime remembers.
  bool status_settled = false;
  // And so the pod's objects may go from the runtime, and its logs.
  bool removal_allowed = false;
  // The node has too many dead containers: of each name no more than that are kept.
  std::optional<uint32_t> keep_max = {};
  Work logs = {};  // after that: they are gone
  // Nobody knows the pod, the disk has something of it: what cannot be removed at once is left to
  // the next look.
  bool leftover = false;
};

// What is kept of dead containers.
struct KeepPolicy {
  int32_t per_container_max = 1;  // of each name, the newest; 0 is as 1, negative: all
  Duration age_min = {};          // since it was made: what is younger stays
  friend bool operator==(const KeepPolicy&, const KeepPolicy&) = default;
};

struct NodeFacts {
  bool runtime_ready = true;
  bool network_ready = true;
  std::string why_not = {};  // of the first that is not
  Duration back_off_base = Seconds(10);
  Duration back_off_max = Seconds(300);
  KeepPolicy keep = {};
};

}  // namespace denselet::sync
