// What is to be done next about a pod: one action of a closed set, and whether calls under way are
// not wanted any more.
//
// An action may be begun at once, whatever else is under way for the pod: Decide never asks for
// what the ledger shows as in flight, and orders what must be ordered by waiting. When the action
// is begun (and is in the ledger or the facts), Decide is asked again; it says Wait when there is
// nothing more to begin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "sync/decide/ledger_view.h"
#include "sync/decide/pod_memory.h"
#include "sync/decide/pod_plan.h"
#include "sync/decide/pod_state.h"

namespace denselet::sync {

// What a pod waits for. Every wait names one.
enum class WaitFor : uint8_t {
  kChange,     // all is as it should be: for an event or a new wish
  kRead,       // the answer of a read
  kReadRetry,  // the time to read again after a failed read
  kRuntime,    // the container runtime, which is down
  kNetwork,    // the network, which is not ready
  kPrepare,    // cgroup and directories
  kVolumes,
  kSandboxRun,
  kSandboxStop,
  kSandboxRetry,  // the time to try again after a failure
  kImage,
  kImageRetry,
  kCreate,
  kStart,
  kContainerRetry,
  kPostStart,
  kBackOff,        // crash loop
  kInitContainer,  // an init container to finish
  kStartupProbe,   // of a sidecar
  kPreStop,
  kStopTurn,  // sidecars stop after those that need them
  kStop,
  kStopRetry,
  kRemove,
  kRemoveRetry,
  kEndRecord,       // the journal to have it that the pod ends
  kRelease,         // volumes unmounted, cgroup, directories and logs gone
  kRemovalAllowed,  // the API server's acknowledgement of the final status
};
inline constexpr size_t kWaitForCount = size_t{1} + static_cast<size_t>(WaitFor::kRemovalAllowed);

struct Wait {
  WaitFor what = WaitFor::kChange;
  ContainerIndex container = kNoContainer;
  TimePoint until = kNever;  // look again then, if nothing happens before
  std::string detail = {};   // of retries: the last failure
  // All containers that a crash loop's back-off holds, whatever is named first.
  std::vector<ContainerIndex> in_back_off = {};
};

// Reads the whole pod, or objects by id. The answers come as a new observation (whole pod) or in
// the ledger's `seen`.
struct Read {
  bool whole_pod = false;
  std::vector<SandboxId> sandboxes = {};
  std::vector<ContainerId> containers = {};
};

struct PreparePod {};  // cgroup, data and log directories; how far logs are numbered
struct MountVolumes {};

struct RunSandbox {
  uint32_t attempt = 0;
};

// Finds or pulls, by policy and with its own back-off; in parallel, none holds up another.
struct EnsureImages {
  struct Item {
    ContainerIndex container = kNoContainer;
    uint32_t attempt = 0;
    friend bool operator==(const Item&, const Item&) = default;
  };
  std::vector<Item> items = {};
};

struct CreateContainer {
  ContainerIndex container = kNoContainer;
  uint32_t attempt = 0;
  SandboxId sandbox = {};
  uint32_t sandbox_attempt = 0;  // CreateContainer is given the sandbox's specification again
  std::vector<std::string> pod_ips = {};
  ContainerId pid_target = {};  // of an ephemeral container with a target
  // To be remembered when the call is sent (PodMemory::NoteCreate).
  std::optional<BackOffEntry> back_off = {};
};

struct StartContainer {
  ContainerIndex container = kNoContainer;
  uint32_t attempt = 0;
  ContainerId id = {};
  SandboxId sandbox = {};
};

struct RunPostStart {
  ContainerIndex container = kNoContainer;
  uint32_t attempt = 0;
  ContainerId id = {};
};

// One step of stopping one container.
struct ContainerStop {
  enum class Step : uint8_t { kPreStop, kStop };

  Step step = Step::kStop;
  ContainerIndex container = kNoContainer;  // none: of a name that the pod has not (any more)
  std::string name = {};
  uint32_t attempt = 0;
  ContainerId id = {};
  SandboxId sandbox = {};
  Duration grace = {};  // what is left of it, in whole seconds; 2 s at least in kStop
  KillReason reason = KillReason::kNone;
  bool restart_at_once = false;
  bool supersedes = false;  // a kStop with a longer grace is in flight: to be cancelled
};
struct StopContainers {
  std::vector<ContainerStop> steps = {};
};

struct StopSandboxes {
  std::vector<SandboxId> ids = {};
};

enum class KeepLogs : uint8_t { kNo, kYes };
struct Remove {
  std::vector<ContainerId> containers = {};  // before the sandboxes
  std::vector<SandboxId> sandboxes = {};
  KeepLogs logs = KeepLogs::kNo;
};

// The pod's phase moves on. `ending` of kTerminating.
struct EnterPhase {
  Phase phase = Phase::kTerminating;
  std::optional<Ending> ending = {};
};

struct RecordEnd {};   // of kTerminating: in the journal, before anything stops
struct ReleasePod {};  // of kTerminated: unmount, remove directories and cgroup
struct RemoveLogs {};  // of kFinished: all that its containers wrote

struct Nothing {};  // the end

using Action =
    std::variant<Wait, Read, PreparePod, MountVolumes, RunSandbox, EnsureImages, CreateContainer,
                 StartContainer, RunPostStart, StopContainers, StopSandboxes, Remove, EnterPhase,
                 RecordEnd, ReleasePod, RemoveLogs, Nothing>;

struct Decision {
  Action action = Wait{};
  // Starting work under way (run, create, start, hooks, images, volumes) that the end of the pod
  // made pointless: to be cancelled. A call that was cancelled has an unknown outcome.
  bool cancel_starts = false;
};

// For logs, metrics and coverage.
std::string_view ActionName(const Action& action);
std::string_view WaitName(WaitFor what);
// For people: "wait for the image of container "app" for 3s: manifest unknown".
std::string Describe(const Decision& decision, const PodPlan& plan, TimePoint now);

// What keeps a container from running, for its status: ContainerCreating, PodInitializing,
// CrashLoopBackOff, ErrImagePull, ...
struct ContainerWaiting {
  ContainerIndex container = kNoContainer;
  std::string reason = {};
  std::string message = {};
  friend bool operator==(const ContainerWaiting&, const ContainerWaiting&) = default;
};

}  // namespace denselet::sync
