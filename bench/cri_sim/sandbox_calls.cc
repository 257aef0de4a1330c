// The calls that make, stop and remove sandboxes, or look at one.
#include <set>

#include "bench/cri_sim/cri_messages.h"
#include "bench/cri_sim/encode.h"
#include "bench/cri_sim/handlers.h"
#include "bench/cri_sim/wire.h"

namespace denselet::cri_sim {
namespace {

constexpr char kHealthyAnnotation[] = "cri-sim/healthy";

SandboxSpec SpecOf(const cri::RunPodSandboxRequest& request) {
  const cri::PodSandboxConfig& config = request.config();
  const cri::NamespaceOption& options = config.linux().security_context().namespace_options();
  SandboxSpec spec;
  spec.name = config.metadata().name();
  spec.pod_namespace = config.metadata().namespace_();
  spec.uid = config.metadata().uid();
  spec.attempt = config.metadata().attempt();
  spec.labels = ToPairs(config.labels());
  spec.annotations = ToPairs(config.annotations());
  spec.log_directory = config.log_directory();
  spec.runtime_handler = request.runtime_handler();
  spec.host_network = options.network() == cri::NODE;
  cri::LinuxPodSandboxStatus status;
  *status.mutable_namespaces()->mutable_options() = options;
  spec.linux_status = status.SerializeAsString();
  std::set<uint16_t> ports;
  for (const cri::PortMapping& port : config.port_mappings()) {
    const bool usable = port.container_port() > 0 && port.container_port() < 65536;
    if (usable && port.protocol() == cri::TCP) {
      ports.insert(static_cast<uint16_t>(port.container_port()));
    }
  }
  spec.ports.assign(ports.begin(), ports.end());
  return spec;
}

void RunSandbox(World& world, const cri::RunPodSandboxRequest& request, Answer answer) {
  if (!request.config().has_metadata()) {
    world.violations.Add(world.Now(), "sandbox-metadata", "RunPodSandbox without metadata");
    return answer(Error(ErrorCode::kInvalid, "sandbox config must include metadata"));
  }
  const std::string& handler = request.runtime_handler();
  if (!handler.empty() && handler != "runc") {
    return answer(Error(ErrorCode::kConflict, "failed to get sandbox runtime: no runtime for \"" +
                                                  handler + "\" is configured"));
  }
  const Result<Sandbox*> made = world.model.RunSandbox(SpecOf(request), world.Now());
  if (!made) return answer(made.error());
  Sandbox& sandbox = **made;
  sandbox.healthy = sandbox.spec.annotations.Get(kHealthyAnnotation).value_or("true") != "false";
  for (const uint16_t port : sandbox.spec.ports) world.ports.OpenPort(port);
  cri::RunPodSandboxResponse response;
  response.set_pod_sandbox_id(sandbox.id);
  answer(Wire(response));
}

void SandboxStatus(World& world, const cri::PodSandboxStatusRequest& request, Answer answer) {
  const Sandbox* const sandbox = world.model.FindSandbox(request.pod_sandbox_id());
  if (sandbox == nullptr) {
    return answer(
        Error(ErrorCode::kNotFound, "an error occurred when try to find sandbox: not found"));
  }
  std::string response;
  AppendBytes(response, 1, EncodeSandboxStatus(*sandbox, world.identity.node_ip));
  if (request.verbose()) {
    std::string entry;
    AppendBytes(entry, 1, "info");
    AppendBytes(entry, 2, R"({"simulated":true})");
    AppendBytes(response, 2, entry);
  }
  // Only runtimes that send events fill these, as containerd does.
  if (world.settings.events.enabled) {
    for (const Container* container : sandbox->containers) {
      AppendBytes(response, 3, EncodeContainerStatus(*container));
    }
    AppendNumber(response, 4, world.Now().time_since_epoch().count());
  }
  answer(std::move(response));
}

}  // namespace

void AddSandboxCalls(World& world, MethodTable& table) {
  AddUnary<cri::RunPodSandboxRequest>(table, "RunPodSandbox",
                                      [&](const cri::RunPodSandboxRequest& request, Answer answer) {
                                        RunSandbox(world, request, std::move(answer));
                                      });
  AddUnary<cri::StopPodSandboxRequest>(
      table, "StopPodSandbox", [&](const cri::StopPodSandboxRequest& request, Answer answer) {
        if (Sandbox* const sandbox = world.model.FindSandbox(request.pod_sandbox_id())) {
          world.model.StopSandbox(*sandbox, world.Now());
        }
        answer(std::string());
      });
  AddUnary<cri::RemovePodSandboxRequest>(
      table, "RemovePodSandbox", [&](const cri::RemovePodSandboxRequest& request, Answer answer) {
        if (Sandbox* const sandbox = world.model.FindSandbox(request.pod_sandbox_id())) {
          world.model.RemoveSandbox(*sandbox, world.Now());
        }
        answer(std::string());
      });
  AddUnary<cri::PodSandboxStatusRequest>(
      table, "PodSandboxStatus", [&](const cri::PodSandboxStatusRequest& request, Answer answer) {
        SandboxStatus(world, request, std::move(answer));
      });
  AddUnary<cri::UpdatePodSandboxResourcesRequest>(
      table, "UpdatePodSandboxResources",
      [&](const cri::UpdatePodSandboxResourcesRequest& request, Answer answer) {
        if (world.model.FindSandbox(request.pod_sandbox_id()) == nullptr) {
          return answer(
              Error(ErrorCode::kNotFound,
                    "failed to find sandbox \"" + request.pod_sandbox_id() + "\": not found"));
        }
        answer(std::string());
      });
}

}  // namespace denselet::cri_sim
