#include "app/local_api/shown_status.h"

#include "kube/api/types.h"

namespace denselet::app {
namespace {

using kube::core::ContainerStateTerminated;
using kube::core::ContainerStatus;
using kube::core::PodStatus;

bool HasCondition(const PodStatus& status, std::string_view type) {
  for (const auto& condition : status.conditions()) {
    if (condition.type() == type) return condition.status() == "True";
  }
  return false;
}

std::string EndOf(const ContainerStateTerminated& end) {
  if (!end.reason().empty()) return end.reason();
  if (end.signal() != 0) return "Signal:" + std::to_string(end.signal());
  return "ExitCode:" + std::to_string(end.exitcode());
}

// How far the init containers are; empty: all have done their part.
std::string ShowInit(const ShownSpec& spec, const PodStatus& status, ShownStatus& shown,
                     uint64_t& sidecar_restarts) {
  int place = -1;
  for (const ContainerStatus& container : status.initcontainerstatuses()) {
    ++place;
    const auto restarts = static_cast<uint64_t>(container.restartcount());
    const bool sidecar = spec.sidecars.contains(container.name());
    shown.restarts += restarts;
    if (sidecar) sidecar_restarts += restarts;
    const auto& state = container.state();
    if (state.has_terminated() && state.terminated().exitcode() == 0) continue;
    if (sidecar && container.started()) {
      if (container.ready()) ++shown.ready;
      continue;
    }
    if (state.has_terminated()) return "Init:" + EndOf(state.terminated());
    if (state.has_waiting() && !state.waiting().reason().empty() &&
        state.waiting().reason() != "PodInitializing") {
      return "Init:" + state.waiting().reason();
    }
    return "Init:" + std::to_string(place) + "/" + std::to_string(spec.init_containers);
  }
  return {};
}

void ShowContainers(const PodStatus& status, ShownStatus& shown) {
  bool running = false;
  // Of several reasons the first container's is shown.
  for (int i = status.containerstatuses_size() - 1; i >= 0; --i) {
    const ContainerStatus& container = status.containerstatuses(i);
    const auto& state = container.state();
    shown.restarts += static_cast<uint64_t>(container.restartcount());
    if (state.has_waiting() && !state.waiting().reason().empty()) {
      shown.status = state.waiting().reason();
    } else if (state.has_terminated()) {
      shown.status = EndOf(state.terminated());
    } else if (container.ready() && state.has_running()) {
      running = true;
      ++shown.ready;
    }
  }
  if (shown.status == "Completed" && running) {
    shown.status = HasCondition(status, "Ready") ? "Running" : "NotReady";
  }
}

}  // namespace

ShownStatus ShowStatus(const ShownSpec& spec, const PodStatus& status) {
  ShownStatus shown;
  shown.containers = spec.containers + static_cast<uint32_t>(spec.sidecars.size());
  if (!status.phase().empty()) shown.status = status.phase();
  if (!status.reason().empty()) shown.status = status.reason();
  uint64_t sidecar_restarts = 0;
  const std::string init = ShowInit(spec, status, shown, sidecar_restarts);
  if (!init.empty()) shown.status = init;
  if (init.empty() || HasCondition(status, "Initialized")) {
    shown.restarts = sidecar_restarts;
    ShowContainers(status, shown);
  }
  const bool over = status.phase() == "Succeeded" || status.phase() == "Failed";
  if (spec.deleted && !over) shown.status = "Terminating";
  return shown;
}

}  // namespace denselet::app
