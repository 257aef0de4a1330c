#include "sync/status/container_readiness.h"

#include <algorithm>
#include <string_view>

#include "kube/api/types.h"
#include "sync/spec/pod_traits.h"
#include "sync/status/status_lookup.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;
using Statuses = google::protobuf::RepeatedPtrField<core::ContainerStatus>;

class Readiness {
 public:
  Readiness(const StatusInput& input, const core::PodStatus& old) : in_(input), old_(old) {}

  template <class Container>
  void SetRegular(const Container& container, core::ContainerStatus& status) const {
    status.set_started(IsStarted(container.has_startupprobe(), status));
    status.set_ready(status.started() && IsReady(container.has_readinessprobe(), status));
  }

  static void SetInit(core::ContainerStatus& status) {
    const bool running = status.state().has_running();
    status.set_started(running);
    status.set_ready(status.state().has_terminated() &&
                     status.state().terminated().exitcode() == 0);
  }

 private:
  const ProbedContainer* ProbesOf(const core::ContainerStatus& status) const {
    const size_t scheme = in_.node.runtime_name.size() + std::string_view("://").size();
    for (const ProbedContainer& probed : in_.probes) {
      if (status.containerid().size() < scheme) return nullptr;
      if (std::string_view(status.containerid()).substr(scheme) == probed.id.value()) {
        return &probed;
      }
    }
    return nullptr;
  }

  // What was told of this very instance; null: nothing.
  const core::ContainerStatus* ToldBefore(const core::ContainerStatus& status) const {
    const core::ContainerStatus* old = FindStatus(old_, status.name());
    const bool same =
        old && old->state().has_running() && old->containerid() == status.containerid();
    return same ? old : nullptr;
  }

  bool IsStarted(bool has_probe, const core::ContainerStatus& status) const {
    if (!status.state().has_running()) return false;
    const ProbedContainer* probes = ProbesOf(status);
    if (probes && probes->startup != ProbeResult::kNone) {
      return probes->startup == ProbeResult::kSuccess;
    }
    const core::ContainerStatus* before = ToldBefore(status);
    return !has_probe || (before && before->started());
  }

  bool IsReady(bool has_probe, const core::ContainerStatus& status) const {
    const ProbedContainer* probes = ProbesOf(status);
    if (probes && probes->readiness != ProbeResult::kNone) {
      return probes->readiness == ProbeResult::kSuccess;
    }
    const core::ContainerStatus* before = ToldBefore(status);
    return !has_probe || (before && before->ready());
  }

  const StatusInput& in_;
  const core::PodStatus& old_;
};

}  // namespace

void SetReadiness(const StatusInput& input, const core::PodStatus& old, core::PodStatus& out) {
  const Readiness readiness(input, old);
  const auto find = [](Statuses& statuses, std::string_view name) {
    return std::ranges::find_if(statuses, [&](const auto& each) { return each.name() == name; });
  };
  for (const auto& container : input.pod.spec().containers()) {
    readiness.SetRegular(container, *find(*out.mutable_containerstatuses(), container.name()));
  }
  for (const auto& container : input.pod.spec().initcontainers()) {
    auto& status = *find(*out.mutable_initcontainerstatuses(), container.name());
    if (IsSidecar(container)) {
      readiness.SetRegular(container, status);
    } else {
      Readiness::SetInit(status);
    }
  }
}

}  // namespace denselet::sync
