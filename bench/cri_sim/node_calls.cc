// What a client asks about the runtime as a whole.
#include "bench/cri_sim/cri_messages.h"
#include "bench/cri_sim/handlers.h"

namespace denselet::cri_sim {
namespace {

cri::StatusResponse RuntimeStatus(const World& world, bool verbose) {
  cri::StatusResponse response;
  const auto add = [&](const char* type, bool status, const char* reason, const char* message) {
    cri::RuntimeCondition* const condition = response.mutable_status()->add_conditions();
    condition->set_type(type);
    condition->set_status(status);
    if (status) return;
    condition->set_reason(reason);
    condition->set_message(message);
  };
  add("RuntimeReady", world.settings.runtime_ready, "RuntimeNotReady", "told so by the scenario");
  add("NetworkReady", world.settings.network_ready, "NetworkPluginNotReady",
      "Network plugin returns error: cni plugin not initialized");
  for (const char* name : {"", "runc"}) {
    cri::RuntimeHandler* const handler = response.add_runtime_handlers();
    handler->set_name(name);
    handler->mutable_features()->set_recursive_read_only_mounts(world.settings.recursive_read_only);
    handler->mutable_features()->set_user_namespaces(true);
  }
  response.mutable_features()->set_supplemental_groups_policy(true);
  if (verbose) (*response.mutable_info())["config"] = R"({"simulated":true})";
  return response;
}

}  // namespace

void AddNodeCalls(World& world, MethodTable& table) {
  AddUnary<cri::VersionRequest>(table, "Version", [&](const cri::VersionRequest&, Answer answer) {
    cri::VersionResponse response;
    response.set_version("0.1.0");
    response.set_runtime_name(world.identity.runtime_name);
    response.set_runtime_version(world.identity.runtime_version);
    response.set_runtime_api_version("v1");
    answer(Wire(response));
  });
  AddUnary<cri::StatusRequest>(table, "Status",
                               [&](const cri::StatusRequest& request, Answer answer) {
                                 answer(Wire(RuntimeStatus(world, request.verbose())));
                               });
  AddUnary<cri::RuntimeConfigRequest>(
      table, "RuntimeConfig", [&](const cri::RuntimeConfigRequest&, Answer answer) {
        cri::RuntimeConfigResponse response;
        response.mutable_linux()->set_cgroup_driver(world.identity.cgroupfs ? cri::CGROUPFS
                                                                            : cri::SYSTEMD);
        answer(Wire(response));
      });
  AddUnary<cri::UpdateRuntimeConfigRequest>(
      table, "UpdateRuntimeConfig",
      [](const cri::UpdateRuntimeConfigRequest&, Answer answer) { answer(std::string()); });
}

}  // namespace denselet::cri_sim
