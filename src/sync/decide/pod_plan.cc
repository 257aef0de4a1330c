#include "sync/decide/pod_plan.h"

#include <algorithm>

#include "base/hash.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/hash/container_hash.h"
#include "kube/api/types.h"
#include "kube/api/values/quantity.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

RestartPolicy PolicyOf(std::string_view text) {
  if (text == "Never") return RestartPolicy::kNever;
  if (text == "OnFailure") return RestartPolicy::kOnFailure;
  return RestartPolicy::kAlways;
}

// Nothing: none, or one that the API server does not know; then the pod's policy holds.
std::optional<RestartPolicy> ContainerPolicyOf(std::string_view text) {
  if (text != "Always" && text != "OnFailure" && text != "Never") return std::nullopt;
  return PolicyOf(text);
}

RestartRule RuleOf(const core::ContainerRestartRule& rule) {
  RestartRule out{.action = rule.action() == "Restart" ? RestartRule::Action::kRestart
                            : rule.action() == "RestartAllContainers"
                                ? RestartRule::Action::kRestartAllContainers
                                : RestartRule::Action::kOther,
                  .exit_codes = RestartRule::Operator::kOther};
  if (!rule.has_exitcodes()) return out;
  if (rule.exitcodes().operator_() == "In") out.exit_codes = RestartRule::Operator::kIn;
  if (rule.exitcodes().operator_() == "NotIn") out.exit_codes = RestartRule::Operator::kNotIn;
  out.values.assign(rule.exitcodes().values().begin(), rule.exitcodes().values().end());
  return out;
}

template <class Map>
int64_t Amount(const Map& list, const char* resource, int64_t (kube::Quantity::*unit)() const) {
  const auto found = list.find(resource);
  if (found == list.end()) return 0;
  const auto quantity = kube::Quantity::Parse(found->second.string());
  return quantity ? ((*quantity).*unit)() : 0;
}

template <class Container>
PlannedResources ResourcesOf(const Container& container) {
  const auto& requests = container.resources().requests();
  const auto& limits = container.resources().limits();
  PlannedResources out{
      .cpu_request_milli = Amount(requests, "cpu", &kube::Quantity::Milli),
      .cpu_limit_milli = Amount(limits, "cpu", &kube::Quantity::Milli),
      .memory_request_bytes = Amount(requests, "memory", &kube::Quantity::Units),
      .memory_limit_bytes = Amount(limits, "memory", &kube::Quantity::Units),
  };
  for (const auto& policy : container.resizepolicy()) {
    const bool restarts = policy.restartpolicy() == "RestartContainer";
    if (policy.resourcename() == "cpu") out.cpu_resize_restarts = restarts;
    if (policy.resourcename() == "memory") out.memory_resize_restarts = restarts;
  }
  return out;
}

// A container that waits in a crash loop and is given another image or more memory is tried at
// once: what counts upstream counts here. The number itself is nobody else's business.
template <class Container>
uint64_t BackOffKeyOf(const core::Pod& pod, const Container& container) {
  uint64_t hash = Fnv1a64(pod.metadata().name());
  const auto add = [&hash](std::string_view text) { hash = Fnv1a64(text, Fnv1a64("/", hash)); };
  add(pod.metadata().namespace_());
  add(pod.metadata().uid());
  add(container.name());
  add(container.image());
  for (const auto* list : {&container.resources().limits(), &container.resources().requests()}) {
    add("|");
    for (const auto* entry : kube::Sorted(*list)) {
      add(entry->first);
      add(entry->second.string());
    }
  }
  for (const auto& claim : container.resources().claims()) add(claim.name()), add(claim.request());
  return hash;
}

std::vector<ImageVolumePlan> ImageVolumesOf(
    const core::Pod& pod, const google::protobuf::RepeatedPtrField<core::VolumeMount>& mounts) {
  std::vector<ImageVolumePlan> plans;
  for (const core::Volume& volume : pod.spec().volumes()) {
    if (!volume.volumesource().has_image()) continue;
    const bool mounted = std::ranges::any_of(
        mounts, [&volume](const auto& mount) { return mount.name() == volume.name(); });
    if (!mounted) continue;
    const core::ImageVolumeSource& image = volume.volumesource().image();
    plans.push_back({volume.name(), image.reference(), PullPolicyOf(image.pullpolicy())});
  }
  return plans;
}

// Containers and the common part of ephemeral ones have the same fields.
template <class Container>
ContainerPlan PlanOf(const core::Pod& pod, const Container& container, ContainerKind kind) {
  ContainerPlan plan{
      .name = container.name(),
      .image = container.image(),
      .kind = kind,
      .hash = kube::ContainerHash(container.name(), container.image()),
      .back_off_key = BackOffKeyOf(pod, container),
      .post_start = container.lifecycle().has_poststart(),
      .pre_stop = container.lifecycle().has_prestop(),
      .startup_probe = container.has_startupprobe(),
      .liveness_probe = container.has_livenessprobe(),
      .resources = ResourcesOf(container),
      .image_volumes = ImageVolumesOf(pod, container.volumemounts()),
  };
  if (container.has_restartpolicy()) {
    plan.restart_policy = ContainerPolicyOf(container.restartpolicy());
  }
  for (const auto& rule : container.restartpolicyrules())
    plan.restart_rules.push_back(RuleOf(rule));
  if (container.startupprobe().has_terminationgraceperiodseconds()) {
    plan.startup_grace_seconds = container.startupprobe().terminationgraceperiodseconds();
  }
  if (container.livenessprobe().has_terminationgraceperiodseconds()) {
    plan.liveness_grace_seconds = container.livenessprobe().terminationgraceperiodseconds();
  }
  return plan;
}

void AddContainers(const core::Pod& pod, PodPlan& plan) {
  for (const auto& container : pod.spec().initcontainers()) {
    ContainerPlan& added =
        plan.containers.emplace_back(PlanOf(pod, container, ContainerKind::kInit));
    if (added.restart_policy == RestartPolicy::kAlways) added.kind = ContainerKind::kSidecar;
  }
  for (const auto& container : pod.spec().containers()) {
    plan.containers.push_back(PlanOf(pod, container, ContainerKind::kRegular));
  }
  for (const auto& container : pod.spec().ephemeralcontainers()) {
    ContainerPlan& added = plan.containers.emplace_back(
        PlanOf(pod, container.ephemeralcontainercommon(), ContainerKind::kEphemeral));
    added.target = container.targetcontainername();
  }
}

}  // namespace

ContainerIndex PodPlan::Find(std::string_view name) const {
  const auto found = std::ranges::find(containers, name, &ContainerPlan::name);
  if (found == containers.end()) return kNoContainer;
  return static_cast<ContainerIndex>(found - containers.begin());
}

Result<PodPlan> MakePodPlan(const core::Pod& pod) {
  const core::PodSpec& spec = pod.spec();
  const auto count =
      spec.initcontainers_size() + spec.containers_size() + spec.ephemeralcontainers_size();
  if (count >= kNoContainer) return Error(ErrorCode::kInvalid, "the pod has too many containers");
  PodPlan plan{
      .pod = {.ref = {.ns = pod.metadata().namespace_(), .name = pod.metadata().name()},
              .uid = PodUid(pod.metadata().uid())},
      .restart_policy = PolicyOf(spec.restartpolicy()),
      .network = spec.hostnetwork() ? NetworkMode::kNode : NetworkMode::kPod,
      .deleted = pod.metadata().has_deletiontimestamp(),
      .init_count = static_cast<ContainerIndex>(spec.initcontainers_size()),
      .regular_count = static_cast<ContainerIndex>(spec.containers_size()),
  };
  if (pod.metadata().has_deletiongraceperiodseconds()) {
    plan.deletion_grace_seconds = pod.metadata().deletiongraceperiodseconds();
  }
  if (spec.has_terminationgraceperiodseconds()) {
    plan.termination_grace_seconds = spec.terminationgraceperiodseconds();
  }
  if (spec.has_activedeadlineseconds()) {
    // What does not fit a Duration is never reached.
    constexpr int64_t kLongest = std::chrono::duration_cast<Seconds>(Duration::max()).count();
    plan.active_deadline = Seconds(std::min(spec.activedeadlineseconds(), kLongest));
  }
  if (pod.status().phase() == "Succeeded") plan.api_outcome = PodOutcome::kSucceeded;
  if (pod.status().phase() == "Failed") plan.api_outcome = PodOutcome::kFailed;
  for (const auto& secret : spec.imagepullsecrets()) {
    if (!secret.name().empty()) plan.pull_secrets.push_back(secret.name());
  }
  plan.containers.reserve(static_cast<size_t>(count));
  AddContainers(pod, plan);
  return plan;
}

// No hooks: a kubelet ends what it has no pod for within a second and runs none, though the
// container's annotation would tell of one (SyncTerminatingRuntimePod makes its pod of names and
// images alone).
PodPlan PlanOfOrphan(const ObservedPod& observed) {
  PodPlan plan{.pod = observed.pod};
  if (!observed.sandboxes.empty()) plan.network = observed.sandboxes.front().network;
  for (const ObservedContainer& container : observed.containers) {
    if (plan.Find(container.name) != kNoContainer) continue;
    plan.containers.push_back(
        {.name = container.name, .image = container.image, .hash = container.hash.value_or(0)});
    if (container.pod_termination_grace_seconds) {
      plan.termination_grace_seconds = container.pod_termination_grace_seconds;
    }
    if (container.pod_deletion_grace_seconds) {
      plan.deletion_grace_seconds = container.pod_deletion_grace_seconds;
    }
  }
  plan.regular_count = static_cast<ContainerIndex>(plan.containers.size());
  return plan;
}

}  // namespace denselet::sync
