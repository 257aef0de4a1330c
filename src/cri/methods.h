// The calls of CRI that a kubelet makes, and the classes in which they share a bound.
#pragma once

#include <array>
#include <cstdint>

#include "base/time.h"
#include "rpc/method.h"

namespace denselet::cri {

// Calls of a class are alike in what they cost the runtime and in how long they may take.
enum class CallClass : rpc::ClassId {
  kHealth,   // the runtime itself: never behind what hangs in one pod
  kList,     // everything there is
  kStats,    // what everything uses: may take long, and the lists do not wait for it
  kStatus,   // one object or one pod
  kSandbox,  // a sandbox is made: network and all
  kCreate,   // a container is made, started or changed
  kStop,     // something is stopped or removed
  kImage,
  kPull,    // no deadline of its own
  kExec,    // commands in containers, for probes and people
  kEvents,  // the one stream
};
inline constexpr size_t kCallClasses = 11;

// By CallClass. T is the configuration's runtimeRequestTimeout.
std::array<rpc::ClassOptions, kCallClasses> CallClasses(Duration request_timeout);

namespace methods {

extern const rpc::Method kVersion, kStatus, kRuntimeConfig, kUpdateRuntimeConfig;
extern const rpc::Method kListPodSandbox, kStreamPodSandboxes, kListContainers, kStreamContainers;
// The same calls for one pod or container, which is another class.
extern const rpc::Method kFindPodSandbox, kFindContainers;
extern const rpc::Method kPodSandboxStatus, kContainerStatus;
extern const rpc::Method kRunPodSandbox, kStopPodSandbox, kRemovePodSandbox;
extern const rpc::Method kUpdatePodSandboxResources;
extern const rpc::Method kCreateContainer, kStartContainer, kStopContainer, kRemoveContainer;
extern const rpc::Method kUpdateContainerResources, kReopenContainerLog, kCheckpointContainer;
extern const rpc::Method kExecSync, kExec, kAttach, kPortForward;
extern const rpc::Method kListContainerStats, kStreamContainerStats;
extern const rpc::Method kListPodSandboxStats, kStreamPodSandboxStats;
extern const rpc::Method kListMetricDescriptors, kListPodSandboxMetrics, kStreamPodSandboxMetrics;
extern const rpc::Method kGetContainerEvents;
extern const rpc::Method kListImages, kStreamImages, kImageStatus, kPullImage, kRemoveImage;
extern const rpc::Method kImageFsInfo;

}  // namespace methods
}  // namespace denselet::cri
