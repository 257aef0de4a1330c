// What a decision says beyond its action: which verdict on the sandbox it came from, what kind of
// container it is about, what an exit led to, what is tidied up and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sync/pod_worker/pod_worker.h"

namespace denselet::sim {

enum class DecisionDetail : uint8_t {
  // On what the sandbox was judged to be, in the order of sync::SandboxNeed.
  kSandboxDoes,
  kSandboxNotLookedAt,
  kSandboxFirst,
  kSandboxNotReady,
  kSandboxSeveralReady,
  kSandboxNetworkChanged,
  kSandboxNoAddress,
  // In the order of sync::ContainerKind.
  kCreateInit,
  kCreateSidecar,
  kCreateRegular,
  kCreateEphemeral,
  kStartInit,
  kStartSidecar,
  kStartRegular,
  kStartEphemeral,
  // What follows from an exit that was seen.
  kRestartAlways,
  kRestartAfterFailure,
  kRestartByRule,
  kRestartOfAllByRule,
  kDoneAfterSuccess,
  kDoneForGood,
  // How a container is stopped.
  kStopWithHook,
  kStop,
  kStopSooner,
  // Which sandboxes are stopped.
  kStopReplacedSandbox,
  kStopSurplusSandbox,
  kStopSandboxOfEnding,
  // What is removed.
  kRemoveInitForNewSandbox,
  kRemoveForRestartOfAll,
  kRemoveAdopted,
  kRemoveSurplusContainers,
  kRemoveSurplusSandboxes,
  kRemoveSurplusOfEnded,
  kRemoveAllOfEnded,
};
inline constexpr size_t kDecisionDetails = 34;
std::string_view DecisionDetailName(DecisionDetail detail);

std::vector<DecisionDetail> DetailsOf(const sync::PodWorker& worker,
                                      const sync::Decision& decision);

}  // namespace denselet::sim
