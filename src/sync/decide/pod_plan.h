// What decisions need to know of a pod, taken once from its specification: Decide runs at every
// event of every pod and does not walk protobuf messages. Cheap to build again when the pod
// changes.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/api/fwd.h"
#include "sync/ports/observed_pod.h"
#include "sync/ports/pull_policy.h"

namespace denselet::sync {

enum class RestartPolicy : uint8_t { kAlways, kOnFailure, kNever };

// A sidecar is an init container that is restarted for ever (container-level policy Always).
enum class ContainerKind : uint8_t { kInit, kSidecar, kRegular, kEphemeral };

struct RestartRule {
  enum class Action : uint8_t { kRestart, kRestartAllContainers, kOther };
  enum class Operator : uint8_t { kIn, kNotIn, kOther };

  Action action = Action::kRestart;
  Operator exit_codes = Operator::kIn;
  std::vector<int32_t> values = {};

  friend bool operator==(const RestartRule&, const RestartRule&) = default;
};

// CPU and memory as specified, and whether changing them in place restarts the container. Carried
// for resizes; no rule here acts on them.
struct PlannedResources {
  int64_t cpu_request_milli = 0;
  int64_t cpu_limit_milli = 0;
  int64_t memory_request_bytes = 0;
  int64_t memory_limit_bytes = 0;
  bool cpu_resize_restarts = false;
  bool memory_resize_restarts = false;

  friend bool operator==(const PlannedResources&, const PlannedResources&) = default;
};

// An image that is mounted as a volume.
struct ImageVolumePlan {
  std::string volume = {};
  std::string image = {};
  PullPolicy policy = PullPolicy::kIfNotPresent;
  friend bool operator==(const ImageVolumePlan&, const ImageVolumePlan&) = default;
};

struct ContainerPlan {
  std::string name = {};
  std::string image = {};
  ContainerKind kind = ContainerKind::kRegular;
  // As io.kubernetes.container.hash has it. A running container with another one is replaced.
  uint64_t hash = 0;
  // Crash-loop back-off starts anew when this changes: names, image, resources.
  uint64_t back_off_key = 0;

  std::optional<RestartPolicy> restart_policy = {};  // of the container; wins over the pod's
  std::vector<RestartRule> restart_rules = {};       // heeded only beside a restart_policy

  bool post_start = false;
  bool pre_stop = false;
  bool startup_probe = false;
  bool liveness_probe = false;
  std::optional<int64_t> startup_grace_seconds = {};  // terminationGracePeriodSeconds of the probe
  std::optional<int64_t> liveness_grace_seconds = {};

  std::string target = {};  // of an ephemeral one: whose processes it sees
  PlannedResources resources = {};
  std::vector<ImageVolumePlan> image_volumes = {};  // that it mounts, each once

  friend bool operator==(const ContainerPlan&, const ContainerPlan&) = default;
};

// A container's place in PodPlan::containers.
using ContainerIndex = uint16_t;
inline constexpr ContainerIndex kNoContainer = std::numeric_limits<ContainerIndex>::max();

enum class PodOutcome : uint8_t { kSucceeded, kFailed };

struct PodPlan {
  PodIdentity pod = {};
  RestartPolicy restart_policy = RestartPolicy::kAlways;
  NetworkMode network = NetworkMode::kPod;

  bool deleted = false;  // has a deletionTimestamp
  std::optional<int64_t> deletion_grace_seconds = {};
  std::optional<int64_t> termination_grace_seconds = {};
  std::optional<Duration> active_deadline = {};
  // The API server has the pod in a terminal phase already; it cannot leave it.
  std::optional<PodOutcome> api_outcome = {};

  // Init containers and sidecars in order, then regular ones, then ephemeral ones.
  std::vector<ContainerPlan> containers = {};
  ContainerIndex init_count = 0;
  ContainerIndex regular_count = 0;
  std::vector<std::string> pull_secrets = {};  // imagePullSecrets, by name

  std::span<const ContainerPlan> init() const { return {containers.data(), init_count}; }
  std::span<const ContainerPlan> regular() const {
    return {containers.data() + init_count, regular_count};
  }
  std::span<const ContainerPlan> ephemeral() const {
    return std::span(containers).subspan(size_t{init_count} + regular_count);
  }
  ContainerIndex Find(std::string_view name) const;  // kNoContainer: none

  friend bool operator==(const PodPlan&, const PodPlan&) = default;
};

// kInvalid: more containers than an index can tell apart (no such pod gets past validation).
Result<PodPlan> MakePodPlan(const kube::core::Pod& pod);

// Of a pod that the runtime has and nobody wants: enough to stop it, from what we (or the kubelet
// before us) wrote into its annotations.
PodPlan PlanOfOrphan(const ObservedPod& observed);

// Whether a container that ended so is started again: its rules, its policy, the pod's policy.
bool RestartsAfterExit(const PodPlan& pod, const ContainerPlan& container, int32_t exit_code);
// Whether that exit restarts all containers of the pod.
bool RestartsAllAfterExit(const ContainerPlan& container, int32_t exit_code);
// Whether a container that we kill (a failed probe) is started again: rules do not count, there is
// no exit code to hold them to.
bool RestartsAfterKill(const PodPlan& pod, const ContainerPlan& container);

}  // namespace denselet::sync
