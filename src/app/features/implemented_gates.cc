#include <algorithm>
#include <array>

#include "app/features/feature_gates.h"

namespace denselet::app {
namespace {

// One line a gate, sorted, added with the code that asks for it.
constexpr std::array<std::string_view, 6> kImplemented = {
    "ClusterTrustBundle",  // the next one does not go without
    "ClusterTrustBundleProjection",
    "CustomCPUCFSQuotaPeriod",
    "EnvFiles",
    "KubeletCrashLoopBackOffMax",
    "ReduceDefaultCrashLoopBackOffDecay",
};

}  // namespace

bool IsImplemented(std::string_view gate) {
  return std::ranges::find(kImplemented, gate) != kImplemented.end();
}

}  // namespace denselet::app
