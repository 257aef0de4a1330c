#include "sync/status/container_statuses.h"

#include <algorithm>

#include "kube/api/types.h"
#include "sync/spec/pod_traits.h"
#include "sync/status/status_lookup.h"
#include "sync/status/status_resources.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;
using Statuses = google::protobuf::RepeatedPtrField<core::ContainerStatus>;

constexpr char kUnknown[] = "ContainerStatusUnknown";
constexpr char kRestartingAll[] = "RestartingAllContainers";
constexpr int32_t kUnknownExitCode = 137;

// What ordinary and ephemeral containers have in common.
struct Declared {
  std::string_view name;
  std::string_view image;
  const google::protobuf::RepeatedPtrField<core::VolumeMount>& mounts;
  const core::ResourceRequirements& resources;
  ContainerKind kind;
};

// A runtime's time of 0 is shown as 1970, as the kubelet does.
kube::meta::Time TimeOf(const std::optional<WallTime>& time) {
  return InSeconds(time.value_or(WallTime()));
}

class Builder {
 public:
  Builder(const StatusInput& input, const core::PodStatus& old, core::PodStatus& out)
      : in_(input), old_(old), out_(out), restarting_(AllContainersRestart(input, old)) {}

  void Run() {
    const core::PodSpec& spec = in_.pod.spec();
    for (const auto& c : spec.initcontainers()) {
      const auto kind = IsSidecar(c) ? ContainerKind::kSidecar : ContainerKind::kInit;
      *out_.add_initcontainerstatuses() =
          Of({c.name(), c.image(), c.volumemounts(), c.resources(), kind},
             old_.initcontainerstatuses());
    }
    for (const auto& c : spec.containers()) {
      *out_.add_containerstatuses() =
          Of({c.name(), c.image(), c.volumemounts(), c.resources(), ContainerKind::kRegular},
             old_.containerstatuses());
    }
    for (const auto& each : spec.ephemeralcontainers()) {
      const auto& c = each.ephemeralcontainercommon();
      *out_.add_ephemeralcontainerstatuses() =
          Of({c.name(), c.image(), c.volumemounts(), c.resources(), ContainerKind::kEphemeral},
             old_.ephemeralcontainerstatuses());
    }
    for (Statuses* list :
         {out_.mutable_containerstatuses(), out_.mutable_ephemeralcontainerstatuses()}) {
      std::stable_sort(list->pointer_begin(), list->pointer_end(),
                       [](const auto* a, const auto* b) { return a->name() < b->name(); });
    }
  }

 private:
  const char* NotYet() const {
    return in_.pod.spec().initcontainers().empty() ? "ContainerCreating" : "PodInitializing";
  }

  core::ContainerStatus Of(const Declared& container, const Statuses& old_statuses) const {
    const core::ContainerStatus* old = FindStatus(old_statuses, container.name);
    const ObservedContainer* newest = nullptr;
    const ObservedContainer* second = nullptr;
    for (const ObservedContainer& seen : in_.seen.containers) {  // by descending attempt
      if (seen.name != container.name) continue;
      (newest ? second : newest) = &seen;
      if (second) break;
    }
    core::ContainerStatus status =
        newest ? OfSeen(container, *newest, old) : OfMissing(container, old);
    if (second && second->state == ContainerState::kExited) {
      *status.mutable_laststate() = core::ContainerState();
      SetTerminated(*second, *status.mutable_laststate());
    }
    if (container.kind == ContainerKind::kInit && !newest && HasRegulars()) {
      // The runtime has forgotten it, and what came after it is there: it has completed.
      if (status.state().has_waiting()) SetCompleted(status);
    } else {
      SetWaiting(container, newest, status);
    }
    return status;
  }

  // ---- not (any more) in the runtime

  core::ContainerStatus OfMissing(const Declared& container,
                                  const core::ContainerStatus* old) const {
    core::ContainerStatus status = Default(container, old);
    if (!old) return status;
    if (restarting_ && !old->state().has_waiting() && !WasRemovedForRestart(*old)) {
      SetRemovedForRestart(*old, status);
    } else if (old->state().has_running() && !status.laststate().has_terminated()) {
      // It ran, and nobody saw it end. Were it merely waiting, the pod would be pending again.
      auto& ended = *status.mutable_laststate()->mutable_terminated();
      ended.set_reason(kUnknown);
      ended.set_message(
          "The container could not be located when the pod was deleted.  The container used to be "
          "Running");
      ended.set_exitcode(kUnknownExitCode);
      if (!in_.plan.deleted) status.set_restartcount(status.restartcount() + 1);
    }
    return status;
  }

  core::ContainerStatus Default(const Declared& container, const core::ContainerStatus* old) const {
    if (old && old->state().has_terminated()) return *old;
    core::ContainerStatus status;
    status.set_name(std::string(container.name));
    status.set_image(std::string(container.image));
    status.mutable_state()->mutable_waiting()->set_reason(NotYet());
    status.set_restartcount(old ? old->restartcount() : 0);
    if (old) *status.mutable_laststate() = old->laststate();
    for (const core::VolumeMount& mount : container.mounts) {
      *status.add_volumemounts() = MountStatus(mount);
    }
    return status;
  }

  core::VolumeMountStatus MountStatus(const core::VolumeMount& mount) const {
    core::VolumeMountStatus status;
    status.set_name(mount.name());
    status.set_mountpath(mount.mountpath());
    status.set_readonly(mount.readonly());
    if (mount.readonly()) {
      const std::string& mode = mount.recursivereadonly();
      const bool recursive =
          in_.node.recursive_read_only && (mode == "Enabled" || mode == "IfPossible");
      status.set_recursivereadonly(recursive ? "Enabled" : "Disabled");
    }
    return status;
  }

  static void SetRemovedForRestart(const core::ContainerStatus& old,
                                   core::ContainerStatus& status) {
    constexpr char kMessage[] = "The container is removed because RestartAllContainers in place";
    status.mutable_state()->Clear();
    auto& waiting = *status.mutable_state()->mutable_waiting();
    waiting.set_reason(kRestartingAll);
    waiting.set_message(kMessage);
    status.mutable_laststate()->Clear();
    auto& ended = *status.mutable_laststate()->mutable_terminated();
    ended.set_reason(kRestartingAll);
    ended.set_message(kMessage);
    ended.set_exitcode(kUnknownExitCode);
    status.set_restartcount(old.restartcount() + 1);
  }

  // An init container that was counted when it was removed, and is shown as completed since then:
  // its end is of no instance.
  static bool WasRemovedForRestart(const core::ContainerStatus& old) {
    return old.laststate().terminated().reason() == kRestartingAll &&
           old.state().has_terminated() && old.state().terminated().containerid().empty();
  }

  // ---- in the runtime

  core::ContainerStatus OfSeen(const Declared& container, const ObservedContainer& seen,
                               const core::ContainerStatus* old) const {
    core::ContainerStatus status;
    status.set_name(seen.name);
    status.set_image(seen.image);
    status.set_imageid(seen.image_ref);
    status.set_containerid(IdOf(seen));
    const auto restarts = static_cast<int32_t>(seen.restart_count.value_or(seen.attempt));
    status.set_restartcount(restarts);
    if (old) {
      *status.mutable_volumemounts() = old->volumemounts();  // they never change
      status.set_restartcount(std::max(restarts, old->restartcount()));
      SetLastFromOld(*old, status);
    } else {
      for (const core::VolumeMount& mount : container.mounts) {
        *status.add_volumemounts() = MountStatus(mount);
      }
    }
    SetState(seen, restarts, old, status);
    *status.mutable_resources() = ContainerResourcesStatus(container.resources, seen, old, status);
    *status.mutable_allocatedresources() = container.resources.requests();
    if (seen.user) {
      auto& user = *status.mutable_user()->mutable_linux();
      user.set_uid(seen.user->uid);
      user.set_gid(seen.user->gid);
      for (const int64_t group : seen.user->supplemental_groups) user.add_supplementalgroups(group);
    }
    return status;
  }

  // A container that was removed to be restarted is in no runtime any more: how it ended is known
  // from what was told.
  static void SetLastFromOld(const core::ContainerStatus& old, core::ContainerStatus& status) {
    if (old.containerid() != status.containerid() && old.state().has_terminated()) {
      *status.mutable_laststate()->mutable_terminated() = old.state().terminated();
    } else if (old.laststate().has_terminated()) {
      *status.mutable_laststate()->mutable_terminated() = old.laststate().terminated();
    }
  }

  void SetState(const ObservedContainer& seen, int32_t restarts, const core::ContainerStatus* old,
                core::ContainerStatus& status) const {
    core::ContainerState& state = *status.mutable_state();
    switch (seen.state) {
      case ContainerState::kRunning:
        *state.mutable_running()->mutable_startedat() = TimeOf(seen.started);
        if (old && old->state().has_terminated() && old->restartcount() >= restarts &&
            !WasRemovedForRestart(*old)) {
          status.set_restartcount(old->restartcount() + 1);
        }
        return;
      case ContainerState::kExited:
        return SetTerminated(seen, state);
      case ContainerState::kUnknown:
        // Said once, it stays: the runtime still cannot say.
        if (old && old->state().has_terminated() && old->containerid() == status.containerid()) {
          state = old->state();
          return;
        }
        if (!old || !old->state().has_running()) break;
        state.mutable_terminated()->set_reason(restarting_ ? kRestartingAll : kUnknown);
        state.mutable_terminated()->set_message(
            "The container could not be located when the pod was terminated");
        state.mutable_terminated()->set_exitcode(kUnknownExitCode);
        status.set_restartcount(old->restartcount() + 1);
        return;
      case ContainerState::kCreated:
        break;
    }
    state.mutable_waiting()->set_reason(NotYet());
  }

  std::string IdOf(const ObservedContainer& seen) const {
    return in_.node.runtime_name + "://" + seen.id.value();
  }

  void SetTerminated(const ObservedContainer& seen, core::ContainerState& state) const {
    auto& ended = *state.mutable_terminated();
    ended.set_exitcode(seen.exit_code);
    ended.set_reason(seen.reason);
    ended.set_message(seen.message);
    *ended.mutable_startedat() = TimeOf(seen.started);
    *ended.mutable_finishedat() = TimeOf(seen.finished);
    ended.set_containerid(IdOf(seen));
  }

  // ---- what Decide says

  bool HasRegulars() const {
    return std::ranges::any_of(in_.plan.regular(), [&](const ContainerPlan& regular) {
      const auto newest =
          std::ranges::find(in_.seen.containers, regular.name, &ObservedContainer::name);
      return newest != in_.seen.containers.end() && newest->state != ContainerState::kUnknown;
    });
  }

  static void SetCompleted(core::ContainerStatus& status) {
    status.mutable_state()->Clear();
    auto& ended = *status.mutable_state()->mutable_terminated();
    ended.set_reason("Completed");
    ended.set_message(
        "Unable to get init container status from container runtime and pod has been initialized, "
        "treat it as exited normally");
    ended.set_exitcode(0);
  }

  void SetWaiting(const Declared& container, const ObservedContainer* seen,
                  core::ContainerStatus& status) const {
    const auto found = std::ranges::find_if(in_.waiting, [&](const ContainerWaiting& each) {
      return in_.plan.containers[each.container].name == container.name;
    });
    if (found == in_.waiting.end() || found->reason == NotYet()) return;
    // The kubelet takes sidecars, too, for done when they exit with 0, though they start again.
    const bool init =
        container.kind == ContainerKind::kInit || container.kind == ContainerKind::kSidecar;
    if (init && seen && seen->state == ContainerState::kExited && seen->exit_code == 0) return;
    if (status.state().has_terminated()) *status.mutable_laststate() = status.state();
    status.mutable_state()->Clear();
    auto& waiting = *status.mutable_state()->mutable_waiting();
    waiting.set_reason(found->reason);
    if (!found->message.empty()) waiting.set_message(found->message);
  }

  const StatusInput& in_;
  const core::PodStatus& old_;
  core::PodStatus& out_;
  const bool restarting_;
};

}  // namespace

void SetContainerStatuses(const StatusInput& input, const core::PodStatus& old,
                          core::PodStatus& out) {
  Builder(input, old, out).Run();
}

bool AllContainersRestart(const StatusInput& input, const core::PodStatus& old) {
  if (IsTrue(FindCondition(old, "AllContainersRestarting"))) return true;
  for (const ContainerPlan& plan : input.plan.containers) {
    if (plan.kind == ContainerKind::kEphemeral) continue;
    const auto newest =
        std::ranges::find(input.seen.containers, plan.name, &ObservedContainer::name);
    if (newest == input.seen.containers.end()) continue;
    if (newest->state != ContainerState::kExited) continue;
    if (RestartsAllAfterExit(plan, newest->exit_code)) return true;
    const core::ContainerStatus* told = FindStatus(old, plan.name);
    if (told && told->state().has_terminated() &&
        RestartsAllAfterExit(plan, told->state().terminated().exitcode())) {
      return true;
    }
  }
  return false;
}

}  // namespace denselet::sync
