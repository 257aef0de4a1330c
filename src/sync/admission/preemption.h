// Which pods make room for a critical one: as few as possible, best-effort before burstable before
// guaranteed ones, small ones before large ones; by upstream's rules. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "sync/admission/pod_needs.h"
#include "sync/admission/predicates.h"

namespace denselet::sync {

// What the preempted pod's status and event tell.
inline constexpr std::string_view kPreempting = "Preempting";
inline constexpr std::string_view kPreemptedMessage = "Preempted in order to admit critical pod";
inline constexpr std::string_view kPreemptedCondition =
    "Pod was preempted by Kubelet to accommodate a critical pod.";

bool MayPreempt(const PodNeeds& preemptor, const PodNeeds& other);

// kOverloaded, with upstream's text: there are not enough of them.
Result<std::vector<PodUid>> ChoosePodsToPreempt(const PodNeeds& preemptor,
                                                const std::vector<const PodNeeds*>& others,
                                                const std::vector<Shortage>& shortages);

}  // namespace denselet::sync
