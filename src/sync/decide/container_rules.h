// Which containers of a pod with a good sandbox are to be started, which to be stopped, and whether
// the pod has come to its end.
#pragma once

#include <optional>
#include <vector>

#include "sync/decide/known_pod.h"
#include "sync/decide/sandbox_rules.h"
#include "sync/decide/steps.h"

namespace denselet::sync {

struct ContainerVerdict {
  // In the order in which they are to be started. One that is on its way (created, started, its
  // hook run) is among them until it is there.
  std::vector<ContainerIndex> ephemeral = {};
  std::vector<ContainerIndex> init = {};
  std::vector<ContainerIndex> regular = {};
  std::vector<Kill> kills = {};
  bool initialized = false;
  // The pod has ended for good: nothing runs that counts, nothing is to be started.
  std::optional<PodOutcome> ended = {};
  // While not initialized: who is waited for.
  ContainerIndex initializing = kNoContainer;
};

// Of a pod whose sandbox is `sandbox`.
ContainerVerdict JudgeContainers(const DecideInput& input, const KnownPod& pod,
                                 const KnownSandbox& sandbox);

// How a pod ended one of whose init containers failed for good, or whose regular containers all
// ended for good, whatever its sandbox and its sidecars do.
std::optional<PodOutcome> AlreadyOver(const PodPlan& plan, const KnownPod& pod);

// Of a pod that needs another sandbox: nothing if it is worth one, else how it ended.
std::optional<PodOutcome> EndsWithItsSandbox(const DecideInput& input, const KnownPod& pod,
                                             const SandboxVerdict& sandbox);

// Whether an exit was seen that restarts all containers.
bool AllRestart(const PodPlan& plan, const KnownPod& pod);

// The instance of a container that counts in this sandbox. Of init containers those of an earlier
// one do not: a new sandbox starts from the beginning.
const KnownContainer* SubjectIn(const PodPlan& plan, const KnownPod& pod, ContainerIndex index,
                                const KnownSandbox& sandbox);

bool IsInitFailure(const KnownContainer& container);

// The exit that crash-loop back-off counts from: of the newest instance that ended, `but` not this
// one. Nothing: none ended.
std::optional<TimePoint> ExitBefore(const DecideInput& input, const KnownPod& pod,
                                    ContainerIndex index, const KnownContainer* but);

}  // namespace denselet::sync
