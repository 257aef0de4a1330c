#include "cri/methods.h"

#include <algorithm>
#include <string>

namespace denselet::cri {

namespace {

using rpc::Effect;

// Past its time the runtime ends a command and says so; when it does not even say so, the answer to
// whoever waits for a probe is the same.
Error ExecError(const rpc::Failure& failure, Error error) {
  if (failure.code != rpc::GrpcCode::kDeadlineExceeded) return error;
  return Error(ErrorCode::kDeadlineExceeded, error.message());
}

// Unknown says nothing, and a registry's message is for people; the kubelet leaves it off too.
Error PullError(const rpc::Failure& failure, Error error) {
  if (failure.code != rpc::GrpcCode::kUnknown) return error;
  return Error(error.code(), failure.message);
}

// Some runtimes say it without the code.
Error BestEffortError(const rpc::Failure& failure, Error error) {
  const bool says_so = failure.code == rpc::GrpcCode::kUnknown &&
                       failure.message.find("not implemented") != std::string::npos;
  return says_so ? Error(ErrorCode::kUnsupported, error.message()) : error;
}

constexpr rpc::ClassId Id(CallClass of) { return static_cast<rpc::ClassId>(of); }

// Numbers of the methods, for the cells of their metrics.
enum : uint16_t {
  kVersionId,
  kStatusId,
  kRuntimeConfigId,
  kUpdateRuntimeConfigId,
  kListPodSandboxId,
  kStreamPodSandboxesId,
  kListContainersId,
  kStreamContainersId,
  kFindPodSandboxId,
  kFindContainersId,
  kPodSandboxStatusId,
  kContainerStatusId,
  kRunPodSandboxId,
  kStopPodSandboxId,
  kRemovePodSandboxId,
  kUpdatePodSandboxResourcesId,
  kCreateContainerId,
  kStartContainerId,
  kStopContainerId,
  kRemoveContainerId,
  kUpdateContainerResourcesId,
  kReopenContainerLogId,
  kCheckpointContainerId,
  kExecSyncId,
  kExecId,
  kAttachId,
  kPortForwardId,
  kListContainerStatsId,
  kStreamContainerStatsId,
  kListPodSandboxStatsId,
  kStreamPodSandboxStatsId,
  kListMetricDescriptorsId,
  kListPodSandboxMetricsId,
  kStreamPodSandboxMetricsId,
  kGetContainerEventsId,
  kListImagesId,
  kStreamImagesId,
  kImageStatusId,
  kPullImageId,
  kRemoveImageId,
  kImageFsInfoId,
};

}  // namespace

namespace methods {

#define RUNTIME(method) "/runtime.v1.RuntimeService/" #method
#define IMAGE(method) "/runtime.v1.ImageService/" #method

constexpr rpc::ClassId kHealth = Id(CallClass::kHealth), kList = Id(CallClass::kList),
                       kUse = Id(CallClass::kStats), kOne = Id(CallClass::kStatus),
                       kSandbox = Id(CallClass::kSandbox), kCreate = Id(CallClass::kCreate),
                       kStop = Id(CallClass::kStop), kImages = Id(CallClass::kImage),
                       kPull = Id(CallClass::kPull), kCommand = Id(CallClass::kExec),
                       kEvents = Id(CallClass::kEvents);
constexpr Effect kReads = Effect::kRead, kMutates = Effect::kMutates;

const rpc::Method kVersion = {RUNTIME(Version), "version", kVersionId, kHealth, kReads};
const rpc::Method kStatus = {RUNTIME(Status), "status", kStatusId, kHealth, kReads};
const rpc::Method kRuntimeConfig = {RUNTIME(RuntimeConfig), "runtime_config", kRuntimeConfigId,
                                    kHealth, kReads};
const rpc::Method kUpdateRuntimeConfig = {RUNTIME(UpdateRuntimeConfig), "update_runtime_config",
                                          kUpdateRuntimeConfigId, kCreate, kMutates};

const rpc::Method kListPodSandbox = {RUNTIME(ListPodSandbox), "list_podsandbox", kListPodSandboxId,
                                     kList, kReads};
const rpc::Method kStreamPodSandboxes = {RUNTIME(StreamPodSandboxes), "list_podsandbox",
                                         kStreamPodSandboxesId, kList, kReads};
const rpc::Method kListContainers = {RUNTIME(ListContainers), "list_containers", kListContainersId,
                                     kList, kReads};
const rpc::Method kStreamContainers = {RUNTIME(StreamContainers), "list_containers",
                                       kStreamContainersId, kList, kReads};
const rpc::Method kFindPodSandbox = {RUNTIME(ListPodSandbox), "list_podsandbox", kFindPodSandboxId,
                                     kOne, kReads};
const rpc::Method kFindContainers = {RUNTIME(ListContainers), "list_containers", kFindContainersId,
                                     kOne, kReads};
const rpc::Method kPodSandboxStatus = {RUNTIME(PodSandboxStatus), "podsandbox_status",
                                       kPodSandboxStatusId, kOne, kReads};
const rpc::Method kContainerStatus = {RUNTIME(ContainerStatus), "container_status",
                                      kContainerStatusId, kOne, kReads};

const rpc::Method kRunPodSandbox = {RUNTIME(RunPodSandbox), "run_podsandbox", kRunPodSandboxId,
                                    kSandbox, kMutates};
const rpc::Method kStopPodSandbox = {RUNTIME(StopPodSandbox), "stop_podsandbox", kStopPodSandboxId,
                                     kStop, kMutates};
const rpc::Method kRemovePodSandbox = {RUNTIME(RemovePodSandbox), "remove_podsandbox",
                                       kRemovePodSandboxId, kStop, kMutates};
const rpc::Method kUpdatePodSandboxResources = {RUNTIME(UpdatePodSandboxResources),
                                                "update_podsandbox_resources",
                                                kUpdatePodSandboxResourcesId,
                                                kCreate,
                                                kMutates,
                                                BestEffortError};

const rpc::Method kCreateContainer = {RUNTIME(CreateContainer), "create_container",
                                      kCreateContainerId, kCreate, kMutates};
const rpc::Method kStartContainer = {RUNTIME(StartContainer), "start_container", kStartContainerId,
                                     kCreate, kMutates};
const rpc::Method kStopContainer = {RUNTIME(StopContainer), "stop_container", kStopContainerId,
                                    kStop, kMutates};
const rpc::Method kRemoveContainer = {RUNTIME(RemoveContainer), "remove_container",
                                      kRemoveContainerId, kStop, kMutates};
const rpc::Method kUpdateContainerResources = {RUNTIME(UpdateContainerResources),
                                               "update_container", kUpdateContainerResourcesId,
                                               kCreate, kMutates};
const rpc::Method kReopenContainerLog = {RUNTIME(ReopenContainerLog), "reopen_container_log",
                                         kReopenContainerLogId, kCreate, kMutates};
const rpc::Method kCheckpointContainer = {RUNTIME(CheckpointContainer), "checkpoint_container",
                                          kCheckpointContainerId, kCommand, kMutates};

const rpc::Method kExecSync = {RUNTIME(ExecSync), "exec_sync", kExecSyncId,
                               kCommand,          kMutates,    ExecError};
// These only open a door.
const rpc::Method kExec = {RUNTIME(Exec), "exec", kExecId, kCommand, kReads};
const rpc::Method kAttach = {RUNTIME(Attach), "attach", kAttachId, kCommand, kReads};
const rpc::Method kPortForward = {RUNTIME(PortForward), "port_forward", kPortForwardId, kCommand,
                                  kReads};

const rpc::Method kListContainerStats = {RUNTIME(ListContainerStats), "list_container_stats",
                                         kListContainerStatsId, kUse, kReads};
const rpc::Method kStreamContainerStats = {RUNTIME(StreamContainerStats), "list_container_stats",
                                           kStreamContainerStatsId, kUse, kReads};
const rpc::Method kListPodSandboxStats = {RUNTIME(ListPodSandboxStats), "list_podsandbox_stats",
                                          kListPodSandboxStatsId, kUse, kReads};
const rpc::Method kStreamPodSandboxStats = {RUNTIME(StreamPodSandboxStats), "list_podsandbox_stats",
                                            kStreamPodSandboxStatsId, kUse, kReads};
const rpc::Method kListMetricDescriptors = {RUNTIME(ListMetricDescriptors),
                                            "list_metric_descriptors", kListMetricDescriptorsId,
                                            kUse, kReads};
const rpc::Method kListPodSandboxMetrics = {RUNTIME(ListPodSandboxMetrics),
                                            "list_podsandbox_metrics", kListPodSandboxMetricsId,
                                            kUse, kReads};
const rpc::Method kStreamPodSandboxMetrics = {RUNTIME(StreamPodSandboxMetrics),
                                              "list_podsandbox_metrics", kStreamPodSandboxMetricsId,
                                              kUse, kReads};
const rpc::Method kGetContainerEvents = {RUNTIME(GetContainerEvents), "get_container_events",
                                         kGetContainerEventsId, kEvents, kReads};

const rpc::Method kListImages = {IMAGE(ListImages), "list_images", kListImagesId, kImages, kReads};
const rpc::Method kStreamImages = {IMAGE(StreamImages), "list_images", kStreamImagesId, kImages,
                                   kReads};
const rpc::Method kImageStatus = {IMAGE(ImageStatus), "image_status", kImageStatusId, kImages,
                                  kReads};
// An image that is pulled twice is there once: nothing to be careful about.
const rpc::Method kPullImage = {IMAGE(PullImage), "pull_image", kPullImageId, kPull,
                                kReads,           PullError};
const rpc::Method kRemoveImage = {IMAGE(RemoveImage), "remove_image", kRemoveImageId, kImages,
                                  kMutates};
const rpc::Method kImageFsInfo = {IMAGE(ImageFsInfo), "image_fs_info", kImageFsInfoId, kImages,
                                  kReads};

#undef RUNTIME
#undef IMAGE

}  // namespace methods

// Limits of the whole process, but for what one shard asks, where containerd on an ordinary disk
// was seen to gain nothing from more. What takes long by its nature (a pull, a command, the stream)
// is no sign of load. Never less than a quarter of where a class begins: pods whose calls hang must
// leave room for the others.
std::array<rpc::ClassOptions, kCallClasses> CallClasses(Duration request_timeout) {
  const Duration t = request_timeout;
  const auto of = [t](std::string_view name, uint32_t start, uint32_t max, Duration slow_after) {
    return rpc::ClassOptions{.name = name,
                             .deadline = t,
                             .wait_max = t,
                             .limits = {.limit_min = std::max(1u, start / 4),
                                        .limit_max = max,
                                        .limit_start = start,
                                        .queue_max = 2048,
                                        .slow_after = slow_after}};
  };
  std::array<rpc::ClassOptions, kCallClasses> classes = {
      of("health", 4, 4, Seconds(1)),      of("list", 2, 4, Seconds(5)),
      of("stats", 2, 4, Seconds(5)),       of("status", 16, 64, Seconds(1)),
      of("sandbox", 8, 32, Seconds(5)),    of("create", 8, 32, Seconds(3)),
      of("stop", 16, 128, Seconds(5)),     of("image", 4, 16, Seconds(3)),
      of("pull", 64, 64, Duration::max()), of("exec", 64, 256, Seconds(10)),
      of("events", 4, 4, Duration::max()),
  };
  const auto at = [&classes](CallClass id) -> rpc::ClassOptions& {
    return classes[static_cast<size_t>(id)];
  };
  at(CallClass::kHealth).limits.limit_min = at(CallClass::kHealth).limits.limit_max;
  // Asked by the shard that has PLEG, and by the API shard.
  for (const CallClass id :
       {CallClass::kHealth, CallClass::kList, CallClass::kStats, CallClass::kEvents}) {
    at(id).limits_of = rpc::LimitsOf::kShard;
  }
  at(CallClass::kSandbox).deadline = t > Duration::max() / 2 ? Duration::max() : 2 * t;
  for (const CallClass id : {CallClass::kPull, CallClass::kEvents}) {
    at(id).deadline = Duration::max();
    at(id).limits.stuck_after = Duration::max();
  }
  at(CallClass::kPull).patience = Minutes(5);
  at(CallClass::kEvents).patience = Duration::max();
  return classes;
}

}  // namespace denselet::cri
