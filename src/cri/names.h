// Keys of the labels and annotations that tell whose a runtime object is (docs/compat/state.md
// section 6).
#pragma once

#include <string_view>

namespace denselet::cri {

inline constexpr std::string_view kPodNameLabel = "io.kubernetes.pod.name";
inline constexpr std::string_view kPodNamespaceLabel = "io.kubernetes.pod.namespace";
inline constexpr std::string_view kPodUidLabel = "io.kubernetes.pod.uid";
inline constexpr std::string_view kContainerNameLabel = "io.kubernetes.container.name";

inline constexpr std::string_view kHashAnnotation = "io.kubernetes.container.hash";
inline constexpr std::string_view kRestartCountAnnotation = "io.kubernetes.container.restartCount";
inline constexpr std::string_view kTerminationMessagePathAnnotation =
    "io.kubernetes.container.terminationMessagePath";
inline constexpr std::string_view kTerminationMessagePolicyAnnotation =
    "io.kubernetes.container.terminationMessagePolicy";
inline constexpr std::string_view kTerminationGraceAnnotation =
    "io.kubernetes.pod.terminationGracePeriod";
inline constexpr std::string_view kDeletionGraceAnnotation =
    "io.kubernetes.pod.deletionGracePeriod";
inline constexpr std::string_view kPreStopAnnotation = "io.kubernetes.container.preStopHandler";
inline constexpr std::string_view kPortsAnnotation = "io.kubernetes.container.ports";

}  // namespace denselet::cri
