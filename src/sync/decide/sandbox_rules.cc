#include "sync/decide/sandbox_rules.h"

#include <algorithm>

namespace denselet::sync {

SandboxVerdict JudgeSandbox(const PodPlan& plan, const KnownPod& pod) {
  if (pod.sandboxes.empty()) return {.need = SandboxNeed::kFirst};
  const KnownSandbox& newest = pod.sandboxes.front();
  SandboxVerdict verdict{.attempt = newest.attempt + 1, .current = &newest};
  if (std::ranges::count_if(pod.sandboxes, &KnownSandbox::ready) > 1) {
    verdict.need = SandboxNeed::kSeveralReady;
  } else if (!newest.ready) {
    verdict.need = SandboxNeed::kNotReady;
  } else if (!newest.seen) {
    // On the node's network there is nothing to be learnt that a container needs.
    if (plan.network == NetworkMode::kPod) verdict.need = SandboxNeed::kLook;
  } else if (newest.network != plan.network) {
    verdict.need = SandboxNeed::kNetworkChanged;
  } else if (plan.network == NetworkMode::kPod && newest.ips->empty()) {
    verdict.need = SandboxNeed::kNoAddress;
  }
  return verdict;
}

}  // namespace denselet::sync
