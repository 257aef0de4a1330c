// The calls that make, start, stop and remove containers, or look at one.
#include <algorithm>
#include <memory>

#include "bench/cri_sim/cri_messages.h"
#include "bench/cri_sim/encode.h"
#include "bench/cri_sim/handlers.h"
#include "bench/cri_sim/wire.h"

namespace denselet::cri_sim {
namespace {

constexpr char kScriptAnnotation[] = "cri-sim/script";  // of the pod; ".container" for one of it
constexpr char kScriptVariable[] = "CRI_SIM_SCRIPT";
constexpr char kMessagePathAnnotation[] = "io.kubernetes.container.terminationMessagePath";

// The pod's annotation before the container's environment before its command.
std::string ScriptOf(const cri::ContainerConfig& config, const SandboxSpec& pod) {
  const std::string key = kScriptAnnotation;
  const auto own = pod.annotations.Get(key + "." + config.metadata().name());
  const auto all = pod.annotations.Get(key);
  if (own || all) return std::string(own ? *own : *all);
  for (const cri::KeyValue& variable : config.envs()) {
    if (variable.key() == kScriptVariable) return variable.value();
  }
  std::vector<std::string> argv(config.command().begin(), config.command().end());
  argv.insert(argv.end(), config.args().begin(), config.args().end());
  return ScriptOfCommand(argv);
}

// Fields of ContainerStatus that never change.
std::string StatusExtra(const cri::ContainerConfig& config, const Image& image) {
  cri::ContainerStatus status;
  *status.mutable_mounts() = config.mounts();
  status.set_stop_signal(config.stop_signal());
  const cri::LinuxContainerSecurityContext& security = config.linux().security_context();
  cri::LinuxContainerUser* const user = status.mutable_user()->mutable_linux();
  user->set_uid(security.has_run_as_user() ? security.run_as_user().value() : image.uid);
  user->set_gid(security.run_as_group().value());
  for (const int64_t group : security.supplemental_groups()) user->add_supplemental_groups(group);
  return status.SerializeAsString();
}

std::string ResourcesWire(const cri::LinuxContainerResources& resources) {
  cri::ContainerResources wrapped;
  *wrapped.mutable_linux() = resources;
  return wrapped.SerializeAsString();
}

std::string TerminationPath(const cri::ContainerConfig& config) {
  const auto path = config.annotations().find(kMessagePathAnnotation);
  if (path == config.annotations().end()) return {};
  for (const cri::Mount& mount : config.mounts()) {
    if (mount.container_path() == path->second) return mount.host_path();
  }
  return {};
}

ContainerSpec SpecOf(const cri::ContainerConfig& config, const SandboxSpec& pod,
                     const Image& image) {
  ContainerSpec spec;
  spec.name = config.metadata().name();
  spec.attempt = config.metadata().attempt();
  spec.image = config.image().image();
  spec.user_image = config.image().user_specified_image();
  spec.image_tag = image.tag.empty() ? image.digest : image.tag;
  spec.image_ref = image.digest;
  spec.image_id = image.id;
  spec.labels = ToPairs(config.labels());
  spec.annotations = ToPairs(config.annotations());
  if (!config.log_path().empty() && !pod.log_directory.empty()) {
    spec.log_path = pod.log_directory + "/" + config.log_path();
  }
  spec.termination_path = TerminationPath(config);
  spec.status_extra = StatusExtra(config, image);
  spec.resources = ResourcesWire(config.linux().resources());
  spec.script = ScriptOf(config, pod);
  return spec;
}

void FlagMismatch(World& world, const cri::CreateContainerRequest& request,
                  const Sandbox& sandbox) {
  const cri::PodSandboxMetadata& told = request.sandbox_config().metadata();
  if (told.uid() == sandbox.spec.uid && told.name() == sandbox.spec.name &&
      told.namespace_() == sandbox.spec.pod_namespace && told.attempt() == sandbox.spec.attempt) {
    return;
  }
  world.violations.Add(world.Now(), "sandbox-config-mismatch",
                       "CreateContainer in " + sandbox.id +
                           " with the sandbox_config of another: " + told.namespace_() + "/" +
                           told.name() + " attempt " + std::to_string(told.attempt()));
}

void Create(World& world, const cri::CreateContainerRequest& request, Answer answer) {
  const cri::ContainerConfig& config = request.config();
  if (!config.has_metadata()) {
    world.violations.Add(world.Now(), "container-metadata", "CreateContainer without metadata");
    return answer(Error(ErrorCode::kInvalid, "container config must include metadata"));
  }
  const Sandbox* const sandbox = world.model.FindSandbox(request.pod_sandbox_id());
  const Image* image = world.images.Find(config.image().image());
  if (image == nullptr && world.settings.images_present && !config.image().image().empty()) {
    image = &world.images.Add(config.image().image(), world.settings.image_size);
  }
  if (sandbox != nullptr && image == nullptr) {
    world.violations.Add(world.Now(), "create-without-image",
                         "CreateContainer " + config.metadata().name() + " of image \"" +
                             config.image().image() + "\", which is not there");
    return answer(Error(ErrorCode::kNotFound,
                        "failed to resolve image \"" + config.image().image() + "\": not found"));
  }
  for (const cri::Mount& mount : config.mounts()) {
    if (!mount.has_image() || world.images.Find(mount.image().image()) != nullptr) continue;
    world.violations.Add(world.Now(), "mount-without-image",
                         "CreateContainer " + config.metadata().name() + " mounts image \"" +
                             mount.image().image() + "\", which is not there");
    return answer(Error(ErrorCode::kNotFound,
                        "failed to resolve image \"" + mount.image().image() + "\": not found"));
  }
  ContainerSpec spec;
  if (sandbox != nullptr) {
    FlagMismatch(world, request, *sandbox);
    spec = SpecOf(config, sandbox->spec, *image);
  }
  const Result<Container*> made =
      world.model.CreateContainer(request.pod_sandbox_id(), std::move(spec), world.Now());
  if (!made) return answer(made.error());
  cri::CreateContainerResponse response;
  response.set_container_id((*made)->id);
  answer(Wire(response));
}

Error NoContainer(const std::string& id) {
  return Error(ErrorCode::kNotFound,
               "an error occurred when try to find container \"" + id + "\": not found");
}

void Start(World& world, const cri::StartContainerRequest& request, Answer answer) {
  Container* const container = world.model.FindContainer(request.container_id());
  if (container == nullptr) return answer(NoContainer(request.container_id()));
  if (!container->spec.log_path.empty() && container->state == ContainerState::kCreated) {
    if (Status opened = world.logs.Open(container->spec.log_path); !opened) {
      return answer(opened.error().With("failed to create container io"));
    }
  }
  if (Status started = world.model.StartContainer(*container, world.Now()); !started) {
    return answer(started.error());
  }
  world.processes.Start(*container);
  answer(std::string());
}

void Stop(World& world, const cri::StopContainerRequest& request, Answer answer) {
  Container* const container = world.model.FindContainer(request.container_id());
  if (request.timeout() < 0) {
    world.violations.Add(world.Now(), "negative-timeout",
                         "StopContainer " + request.container_id() + " with timeout " +
                             std::to_string(request.timeout()));
  }
  // Gone or ended already: the call is idempotent.
  if (container == nullptr || container->state != ContainerState::kRunning) {
    return answer(std::string());
  }
  const Seconds grace(std::clamp<int64_t>(request.timeout(), 0, 365 * 24 * 3600));
  world.processes.Terminate(*container, grace,
                            [respond = std::move(answer)]() mutable { respond(std::string()); });
}

void ContainerStatusCall(World& world, const cri::ContainerStatusRequest& request, Answer answer) {
  const Container* const container = world.model.FindContainer(request.container_id());
  if (container == nullptr) return answer(NoContainer(request.container_id()));
  std::string response;
  AppendBytes(response, 1, EncodeContainerStatus(*container));
  if (request.verbose()) {
    std::string entry;
    AppendBytes(entry, 1, "info");
    AppendBytes(entry, 2, R"({"simulated":true})");
    AppendBytes(response, 2, entry);
  }
  answer(std::move(response));
}

void Update(World& world, const cri::UpdateContainerResourcesRequest& request, Answer answer) {
  Container* const container = world.model.FindContainer(request.container_id());
  if (container == nullptr) return answer(NoContainer(request.container_id()));
  if (container->state == ContainerState::kExited) {
    return answer(Error(ErrorCode::kConflict, "failed to update resources: container is in " +
                                                  std::string(StateName(container->state)) +
                                                  " state"));
  }
  cri::ContainerResources resources;
  if (!resources.ParseFromString(container->spec.resources)) {
    return answer(Error(ErrorCode::kBug, "stored resources do not parse"));
  }
  resources.mutable_linux()->MergeFrom(request.linux());  // zero: unchanged, as in containerd
  container->spec.resources = resources.SerializeAsString();
  answer(std::string());
}

void Reopen(World& world, const cri::ReopenContainerLogRequest& request, Answer answer) {
  const Container* const container = world.model.FindContainer(request.container_id());
  if (container == nullptr) return answer(NoContainer(request.container_id()));
  if (container->state != ContainerState::kRunning) {
    return answer(Error(ErrorCode::kConflict, "container is not running"));
  }
  if (!container->spec.log_path.empty()) {
    if (Status reopened = world.logs.Reopen(container->spec.log_path); !reopened) {
      return answer(reopened.error());
    }
  }
  answer(std::string());
}

}  // namespace

void AddContainerCalls(World& world, MethodTable& table) {
  AddUnary<cri::CreateContainerRequest>(
      table, "CreateContainer", [&](const cri::CreateContainerRequest& request, Answer answer) {
        Create(world, request, std::move(answer));
      });
  AddUnary<cri::StartContainerRequest>(
      table, "StartContainer", [&](const cri::StartContainerRequest& request, Answer answer) {
        Start(world, request, std::move(answer));
      });
  AddUnary<cri::StopContainerRequest>(table, "StopContainer",
                                      [&](const cri::StopContainerRequest& request, Answer answer) {
                                        Stop(world, request, std::move(answer));
                                      });
  AddUnary<cri::RemoveContainerRequest>(
      table, "RemoveContainer", [&](const cri::RemoveContainerRequest& request, Answer answer) {
        if (Container* const container = world.model.FindContainer(request.container_id())) {
          world.model.RemoveContainer(*container, world.Now());
        }
        answer(std::string());
      });
  AddUnary<cri::ContainerStatusRequest>(
      table, "ContainerStatus", [&](const cri::ContainerStatusRequest& request, Answer answer) {
        ContainerStatusCall(world, request, std::move(answer));
      });
  AddUnary<cri::UpdateContainerResourcesRequest>(
      table, "UpdateContainerResources",
      [&](const cri::UpdateContainerResourcesRequest& request, Answer answer) {
        Update(world, request, std::move(answer));
      });
  AddUnary<cri::ReopenContainerLogRequest>(
      table, "ReopenContainerLog",
      [&](const cri::ReopenContainerLogRequest& request, Answer answer) {
        Reopen(world, request, std::move(answer));
      });
  // containerd 1.7 answers the same.
  AddUnary<cri::CheckpointContainerRequest>(
      table, "CheckpointContainer", [](const cri::CheckpointContainerRequest&, Answer answer) {
        answer(Error(ErrorCode::kUnsupported, "method CheckpointContainer not implemented"));
      });
}

}  // namespace denselet::cri_sim
