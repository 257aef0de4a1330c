#include "cri/cri_runtime.h"

#include <algorithm>
#include <utility>

#include "cri/list_all.h"
#include "cri/messages.h"
#include "cri/observed_messages.h"
#include "cri/pod_read.h"
#include "cri/spec_messages.h"
#include "cri/stats_messages.h"
#include "rpc/call.h"

namespace denselet::cri {

namespace {

using reactor::Done;

// CRI counts whole seconds, and 0 is another word (at once, or no limit): a part counts whole.
int64_t WholeSeconds(Duration d) {
  return std::max<int64_t>(std::chrono::ceil<Seconds>(std::max(d, Duration::zero())).count(), 0);
}

// The runtime did what was asked and does not tell what it made: only a look can.
Error WithoutId(const char* text) { return Error(ErrorCode::kUnknownOutcome, text); }

template <class Response>
Result<Unit> ToUnit(Response&) {
  return Unit{};
}

template <class Response>
Result<std::string> ToUrl(Response& response) {
  if (response.url().empty()) return Error(ErrorCode::kCorrupt, "URL is not set");
  return std::move(*response.mutable_url());
}

// What is gone already is stopped and removed.
Done<Unit> GoneIsFine(Done<Unit> done) {
  return [done = std::move(done)](Result<Unit> result) mutable {
    if (!result && result.error().code() == ErrorCode::kNotFound) return done(Unit{});
    done(std::move(result));
  };
}

Result<sync::ExecResult> ToExecResult(pb::ExecSyncResponse& response) {
  sync::ExecResult result = {.exit_code = response.exit_code(),
                             .output = std::move(*response.mutable_stdout())};
  result.errors_from = result.output.size();
  result.output += response.stderr();
  return result;
}

Result<std::optional<sync::CgroupDriver>> ToCgroupDriver(pb::RuntimeConfigResponse& response) {
  std::optional<sync::CgroupDriver> driver;
  if (!response.has_linux()) return driver;
  driver = response.linux().cgroup_driver() == pb::CgroupDriver::CGROUPFS
               ? sync::CgroupDriver::kCgroupfs
               : sync::CgroupDriver::kSystemd;
  return driver;
}

}  // namespace

CriRuntime::CriRuntime(rpc::Client& client, Connection& connection, MetricSet<CriMetric>& metrics,
                       Logger log)
    : client_(client), connection_(connection), metrics_(metrics), log_(std::move(log)) {}

void CriRuntime::Version(const Context& context, Done<sync::RuntimeVersion> done) {
  pb::VersionRequest request;
  request.set_version(std::string(kApiVersion));
  rpc::Call<pb::VersionResponse, sync::RuntimeVersion>(
      client_, context, methods::kVersion, std::move(request),
      [](pb::VersionResponse& response) { return ReadVersion(response); }, std::move(done));
}

void CriRuntime::Status(const Context& context, Done<sync::RuntimeStatus> done) {
  rpc::Call<pb::StatusResponse, sync::RuntimeStatus>(
      client_, context, methods::kStatus, pb::StatusRequest(),
      [](pb::StatusResponse& response) { return ReadStatus(response); }, std::move(done));
}

void CriRuntime::CgroupDriverInUse(const Context& context,
                                   Done<std::optional<sync::CgroupDriver>> done) {
  // A gauge of a runtime that soon will not do any more.
  auto read = [&metrics = metrics_,
               done = std::move(done)](Result<std::optional<sync::CgroupDriver>> driver) mutable {
    if (driver || driver.error().code() != ErrorCode::kUnsupported) return done(std::move(driver));
    metrics.Gauge(CriMetric::kLosingSupport, "1.37.0").Set(1);
    done(std::optional<sync::CgroupDriver>());
  };
  rpc::Call<pb::RuntimeConfigResponse, std::optional<sync::CgroupDriver>>(
      client_, context, methods::kRuntimeConfig, pb::RuntimeConfigRequest(), ToCgroupDriver,
      Done<std::optional<sync::CgroupDriver>>(std::move(read)));
}

void CriRuntime::SetPodCidr(const Context& context, std::string pod_cidr, Done<Unit> done) {
  pb::UpdateRuntimeConfigRequest request;
  request.mutable_runtime_config()->mutable_network_config()->set_pod_cidr(std::move(pod_cidr));
  rpc::Call<pb::UpdateRuntimeConfigResponse, Unit>(
      client_, context, methods::kUpdateRuntimeConfig, std::move(request),
      ToUnit<pb::UpdateRuntimeConfigResponse>, std::move(done));
}

// The client runs no Done any more when this goes.
void CriRuntime::ListAll(const Context& context, Done<sync::RuntimeList> done) {
  auto told = [this, done = std::move(done)](Result<Listed> listed) mutable {
    if (!listed) return done(listed.error());
    NoteUnreadable(listed->unreadable);
    done(std::move(listed->list));
  };
  cri::ListAll(client_, connection_, context, std::move(told));
}

void CriRuntime::NoteUnreadable(uint64_t count) {
  const TimePoint now = connection_.runtime().clock().Now();
  if (count == 0) {
    (void)unreadable_.Over(now);
    return;
  }
  metrics_.Counter(CriMetric::kUnreadable).Add(count);
  // While there are no events, all is listed every second.
  if (!unreadable_.IsNews(now, std::to_string(count))) return;
  log_.Warning("Runtime listed objects that could not be read", KV("count", count));
}

void CriRuntime::ReadPod(const Context& context, const PodUid& pod, Done<sync::ObservedPod> done) {
  cri::ReadPod(client_, context, pod, std::move(done));
}

void CriRuntime::ReadSandbox(const Context& context, const SandboxId& sandbox,
                             Done<sync::ObservedSandbox> done) {
  cri::ReadSandbox(client_, context, sandbox, std::move(done));
}

void CriRuntime::ReadContainer(const Context& context, const ContainerId& container,
                               const SandboxId& known_sandbox, Done<sync::ObservedContainer> done) {
  cri::ReadContainer(client_, context, container, known_sandbox, std::move(done));
}

void CriRuntime::RunSandbox(const Context& context, const sync::SandboxSpec& spec,
                            Done<SandboxId> done) {
  pb::RunPodSandboxRequest request;
  Fill(spec, *request.mutable_config());
  request.set_runtime_handler(spec.runtime_handler);
  rpc::Call<pb::RunPodSandboxResponse, SandboxId>(
      client_, context, methods::kRunPodSandbox, std::move(request),
      [](pb::RunPodSandboxResponse& response) -> Result<SandboxId> {
        if (response.pod_sandbox_id().empty()) return WithoutId("PodSandboxId is not set");
        return SandboxId(response.pod_sandbox_id());
      },
      std::move(done));
}

void CriRuntime::StopSandbox(const Context& context, const SandboxId& sandbox, Done<Unit> done) {
  pb::StopPodSandboxRequest request;
  request.set_pod_sandbox_id(sandbox.value());
  rpc::Call<pb::StopPodSandboxResponse, Unit>(
      client_, context, methods::kStopPodSandbox, std::move(request),
      ToUnit<pb::StopPodSandboxResponse>, GoneIsFine(std::move(done)));
}

void CriRuntime::RemoveSandbox(const Context& context, const SandboxId& sandbox, Done<Unit> done) {
  pb::RemovePodSandboxRequest request;
  request.set_pod_sandbox_id(sandbox.value());
  rpc::Call<pb::RemovePodSandboxResponse, Unit>(
      client_, context, methods::kRemovePodSandbox, std::move(request),
      ToUnit<pb::RemovePodSandboxResponse>, GoneIsFine(std::move(done)));
}

void CriRuntime::CreateContainer(const Context& context, const SandboxId& sandbox,
                                 const sync::ContainerSpec& spec,
                                 const sync::SandboxSpec& sandbox_spec, Done<ContainerId> done) {
  pb::CreateContainerRequest request;
  request.set_pod_sandbox_id(sandbox.value());
  Fill(spec, *request.mutable_config());
  Fill(sandbox_spec, *request.mutable_sandbox_config());
  rpc::Call<pb::CreateContainerResponse, ContainerId>(
      client_, context, methods::kCreateContainer, std::move(request),
      [](pb::CreateContainerResponse& response) -> Result<ContainerId> {
        if (response.container_id().empty()) return WithoutId("ContainerId is not set");
        return ContainerId(response.container_id());
      },
      std::move(done));
}

void CriRuntime::StartContainer(const Context& context, const ContainerId& container,
                                Done<Unit> done) {
  pb::StartContainerRequest request;
  request.set_container_id(container.value());
  rpc::Call<pb::StartContainerResponse, Unit>(client_, context, methods::kStartContainer,
                                              std::move(request),
                                              ToUnit<pb::StartContainerResponse>, std::move(done));
}

void CriRuntime::StopContainer(const Context& context, const ContainerId& container, Duration grace,
                               Done<Unit> done) {
  pb::StopContainerRequest request;
  request.set_container_id(container.value());
  request.set_timeout(WholeSeconds(grace));
  rpc::Call<pb::StopContainerResponse, Unit>(client_, context, methods::kStopContainer,
                                             std::move(request), ToUnit<pb::StopContainerResponse>,
                                             GoneIsFine(std::move(done)),
                                             {.expected = std::max(grace, Duration::zero())});
}

void CriRuntime::RemoveContainer(const Context& context, const ContainerId& container,
                                 Done<Unit> done) {
  pb::RemoveContainerRequest request;
  request.set_container_id(container.value());
  rpc::Call<pb::RemoveContainerResponse, Unit>(
      client_, context, methods::kRemoveContainer, std::move(request),
      ToUnit<pb::RemoveContainerResponse>, GoneIsFine(std::move(done)));
}

void CriRuntime::UpdateResources(const Context& context, const ContainerId& container,
                                 const sync::LinuxResources& resources, Done<Unit> done) {
  pb::UpdateContainerResourcesRequest request;
  request.set_container_id(container.value());
  Fill(resources, *request.mutable_linux());
  rpc::Call<pb::UpdateContainerResourcesResponse, Unit>(
      client_, context, methods::kUpdateContainerResources, std::move(request),
      ToUnit<pb::UpdateContainerResourcesResponse>, std::move(done));
}

void CriRuntime::UpdateSandboxResources(const Context& context, const SandboxId& sandbox,
                                        const sync::LinuxResources& resources,
                                        const sync::LinuxResources& overhead, Done<Unit> done) {
  pb::UpdatePodSandboxResourcesRequest request;
  request.set_pod_sandbox_id(sandbox.value());
  Fill(resources, *request.mutable_resources());
  Fill(overhead, *request.mutable_overhead());
  rpc::Call<pb::UpdatePodSandboxResourcesResponse, Unit>(
      client_, context, methods::kUpdatePodSandboxResources, std::move(request),
      ToUnit<pb::UpdatePodSandboxResourcesResponse>, std::move(done));
}

void CriRuntime::ReopenLog(const Context& context, const ContainerId& container, Done<Unit> done) {
  pb::ReopenContainerLogRequest request;
  request.set_container_id(container.value());
  rpc::Call<pb::ReopenContainerLogResponse, Unit>(
      client_, context, methods::kReopenContainerLog, std::move(request),
      ToUnit<pb::ReopenContainerLogResponse>, std::move(done));
}

void CriRuntime::Exec(const Context& context, const ContainerId& container,
                      std::vector<std::string> command, Duration timeout,
                      Done<sync::ExecResult> done) {
  pb::ExecSyncRequest request;
  request.set_container_id(container.value());
  for (std::string& word : command) request.add_cmd(std::move(word));
  request.set_timeout(WholeSeconds(timeout));
  // Without a timeout of its own a command has no deadline but the context's.
  const Duration expected = timeout > Duration::zero() ? timeout : Duration::max();
  rpc::Call<pb::ExecSyncResponse, sync::ExecResult>(client_, context, methods::kExecSync,
                                                    std::move(request), ToExecResult,
                                                    std::move(done), {.expected = expected});
}

void CriRuntime::OpenExec(const Context& context, const ContainerId& container,
                          std::vector<std::string> command, const sync::StreamOptions& options,
                          Done<std::string> done) {
  pb::ExecRequest request;
  request.set_container_id(container.value());
  for (std::string& word : command) request.add_cmd(std::move(word));
  request.set_tty(options.terminal);
  request.set_stdin(options.standard_in);
  request.set_stdout(options.standard_out);
  request.set_stderr(options.standard_error);
  rpc::Call<pb::ExecResponse, std::string>(client_, context, methods::kExec, std::move(request),
                                           ToUrl<pb::ExecResponse>, std::move(done));
}

void CriRuntime::OpenAttach(const Context& context, const ContainerId& container,
                            const sync::StreamOptions& options, Done<std::string> done) {
  pb::AttachRequest request;
  request.set_container_id(container.value());
  request.set_tty(options.terminal);
  request.set_stdin(options.standard_in);
  request.set_stdout(options.standard_out);
  request.set_stderr(options.standard_error);
  rpc::Call<pb::AttachResponse, std::string>(client_, context, methods::kAttach, std::move(request),
                                             ToUrl<pb::AttachResponse>, std::move(done));
}

void CriRuntime::OpenPortForward(const Context& context, const SandboxId& sandbox,
                                 std::vector<int32_t> ports, Done<std::string> done) {
  pb::PortForwardRequest request;
  request.set_pod_sandbox_id(sandbox.value());
  for (const int32_t port : ports) request.add_port(port);
  rpc::Call<pb::PortForwardResponse, std::string>(client_, context, methods::kPortForward,
                                                  std::move(request),
                                                  ToUrl<pb::PortForwardResponse>, std::move(done));
}

void CriRuntime::Checkpoint(const Context& context, const ContainerId& container,
                            std::string location, Duration timeout, Done<Unit> done) {
  pb::CheckpointContainerRequest request;
  request.set_container_id(container.value());
  request.set_location(std::move(location));
  request.set_timeout(WholeSeconds(timeout));
  rpc::Call<pb::CheckpointContainerResponse, Unit>(
      client_, context, methods::kCheckpointContainer, std::move(request),
      ToUnit<pb::CheckpointContainerResponse>, std::move(done),
      {.expected = std::max(timeout, Duration::zero())});
}

void CriRuntime::ListStats(const Context& context, const std::optional<SandboxId>& only,
                           Done<std::vector<sync::ContainerStats>> done) {
  cri::ListStats(client_, connection_, context, only, std::move(done));
}

void CriRuntime::ListPodStats(const Context& context, const std::optional<SandboxId>& only,
                              Done<std::vector<sync::PodStats>> done) {
  cri::ListPodStats(client_, connection_, context, only, std::move(done));
}

void CriRuntime::ListMetricDescriptors(const Context& context,
                                       Done<std::vector<sync::MetricDescriptor>> done) {
  rpc::Call<pb::ListMetricDescriptorsResponse, std::vector<sync::MetricDescriptor>>(
      client_, context, methods::kListMetricDescriptors, pb::ListMetricDescriptorsRequest(),
      [](pb::ListMetricDescriptorsResponse& response)
          -> Result<std::vector<sync::MetricDescriptor>> {
        std::vector<sync::MetricDescriptor> all;
        for (const auto& each : response.descriptors()) all.push_back(ReadDescriptor(each));
        return all;
      },
      std::move(done));
}

void CriRuntime::ListPodMetrics(const Context& context, Done<std::vector<sync::PodMetrics>> done) {
  cri::ListPodMetrics(client_, connection_, context, std::move(done));
}

}  // namespace denselet::cri
