// Statistics and metrics.
#include "bench/cri_sim/encode.h"
#include "bench/cri_sim/handlers.h"
#include "bench/cri_sim/list_method.h"
#include "bench/cri_sim/selection.h"

namespace denselet::cri_sim {
namespace {

// As containerd does: only what runs.
std::vector<const Container*> RunningOf(World& world, const cri::ContainerStatsFilter& told) {
  cri::ContainerFilter filter;
  filter.set_id(told.id());
  filter.set_pod_sandbox_id(told.pod_sandbox_id());
  *filter.mutable_label_selector() = told.label_selector();
  filter.mutable_state()->set_state(cri::CONTAINER_RUNNING);
  return Select(world, filter);
}

std::vector<const Sandbox*> ReadyOf(World& world, const cri::PodSandboxStatsFilter& told) {
  cri::PodSandboxFilter filter;
  filter.set_id(told.id());
  *filter.mutable_label_selector() = told.label_selector();
  filter.mutable_state()->set_state(cri::SANDBOX_READY);
  return Select(world, filter);
}

}  // namespace

void AddStatsCalls(World& world, MethodTable& table) {
  const std::string& folder = world.identity.image_folder;
  const bool& streams = world.settings.streaming_lists;
  const auto containers = [&](const auto& request) { return RunningOf(world, request.filter()); };
  const auto of_container = [&](const Container* one) {
    return EncodeContainerStats(*one, folder, world.Now());
  };
  const auto sandboxes = [&](const auto& request) { return ReadyOf(world, request.filter()); };
  const auto of_sandbox = [&](const Sandbox* one) {
    return EncodeSandboxStats(*one, folder, world.Now());
  };
  const auto all = [&](const auto&) { return ReadyOf(world, {}); };
  const auto metrics = [&](const Sandbox* one) { return EncodeSandboxMetrics(*one, world.Now()); };

  AddUnary<cri::ContainerStatsRequest>(
      table, "ContainerStats", [&](const cri::ContainerStatsRequest& request, Answer answer) {
        const Container* const container = world.model.FindContainer(request.container_id());
        if (container == nullptr) {
          return answer(Error(ErrorCode::kNotFound, "failed to find container: not found"));
        }
        std::string response;
        AppendBytes(response, 1, EncodeContainerStats(*container, folder, world.Now()));
        answer(std::move(response));
      });
  AddUnary<cri::PodSandboxStatsRequest>(
      table, "PodSandboxStats", [&](const cri::PodSandboxStatsRequest& request, Answer answer) {
        const Sandbox* const sandbox = world.model.FindSandbox(request.pod_sandbox_id());
        if (sandbox == nullptr) {
          return answer(
              Error(ErrorCode::kNotFound, "an error occurred when trying to find sandbox " +
                                              request.pod_sandbox_id() + ": not found"));
        }
        std::string response;
        AppendBytes(response, 1, EncodeSandboxStats(*sandbox, folder, world.Now()));
        answer(std::move(response));
      });
  AddList<cri::ListContainerStatsRequest>(table, "ListContainerStats", containers, of_container);
  AddStreamedList<cri::StreamContainerStatsRequest>(table, streams, "StreamContainerStats",
                                                    containers, of_container);
  AddList<cri::ListPodSandboxStatsRequest>(table, "ListPodSandboxStats", sandboxes, of_sandbox);
  AddStreamedList<cri::StreamPodSandboxStatsRequest>(table, streams, "StreamPodSandboxStats",
                                                     sandboxes, of_sandbox);
  AddUnary<cri::ListMetricDescriptorsRequest>(
      table, "ListMetricDescriptors", [](const cri::ListMetricDescriptorsRequest&, Answer answer) {
        answer(EncodeMetricDescriptors());
      });
  AddList<cri::ListPodSandboxMetricsRequest>(table, "ListPodSandboxMetrics", all, metrics);
  AddStreamedList<cri::StreamPodSandboxMetricsRequest>(table, streams, "StreamPodSandboxMetrics",
                                                       all, metrics);
}

}  // namespace denselet::cri_sim
