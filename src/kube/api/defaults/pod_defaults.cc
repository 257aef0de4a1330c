#include "kube/api/defaults/pod_defaults.h"

#include <cstdint>
#include <string>

#include "kube/api/defaults/resource_defaults.h"
#include "kube/api/defaults/volume_defaults.h"
#include "kube/api/types.h"

namespace denselet::kube {
namespace {

constexpr int64_t kGracePeriodSeconds = 30;

void SetHttpGetDefaults(core::HTTPGetAction& get) {
  if (get.path().empty()) get.set_path("/");
  if (get.scheme().empty()) get.set_scheme("HTTP");
}

void SetProbeDefaults(core::Probe& probe) {
  if (probe.timeoutseconds() == 0) probe.set_timeoutseconds(1);
  if (probe.periodseconds() == 0) probe.set_periodseconds(10);
  if (probe.successthreshold() == 0) probe.set_successthreshold(1);
  if (probe.failurethreshold() == 0) probe.set_failurethreshold(3);
  if (!probe.has_handler()) return;
  auto& handler = *probe.mutable_handler();
  if (handler.has_httpget()) SetHttpGetDefaults(*handler.mutable_httpget());
  if (handler.has_grpc() && !handler.grpc().has_service()) handler.mutable_grpc()->set_service("");
}

void SetHandlerDefaults(core::LifecycleHandler& handler) {
  if (handler.has_httpget()) SetHttpGetDefaults(*handler.mutable_httpget());
}

void SetEnvDefaults(core::EnvVarSource& from) {
  if (from.has_fieldref()) SetFieldRefDefaults(*from.mutable_fieldref());
  if (from.has_filekeyref() && !from.filekeyref().has_optional()) {
    from.mutable_filekeyref()->set_optional(false);
  }
}

template <class Message>
void RoundRequirements(Message& holder) {
  if (!holder.has_resources()) return;
  RoundToMilli(*holder.mutable_resources()->mutable_limits());
  RoundToMilli(*holder.mutable_resources()->mutable_requests());
}

// Regular, init and ephemeral containers: the latter are a type of their own with the same fields.
template <class Container>
void SetContainerDefaults(Container& container) {
  if (container.imagepullpolicy().empty()) {
    container.set_imagepullpolicy(PullPolicyFor(container.image()));
  }
  if (container.terminationmessagepath().empty()) {
    container.set_terminationmessagepath("/dev/termination-log");
  }
  if (container.terminationmessagepolicy().empty()) container.set_terminationmessagepolicy("File");
  for (auto& port : *container.mutable_ports()) {
    if (port.protocol().empty()) port.set_protocol("TCP");
  }
  for (auto& env : *container.mutable_env()) {
    if (env.has_valuefrom()) SetEnvDefaults(*env.mutable_valuefrom());
  }
  RoundRequirements(container);
  if (container.has_livenessprobe()) SetProbeDefaults(*container.mutable_livenessprobe());
  if (container.has_readinessprobe()) SetProbeDefaults(*container.mutable_readinessprobe());
  if (container.has_startupprobe()) SetProbeDefaults(*container.mutable_startupprobe());
  if (!container.has_lifecycle()) return;
  auto& lifecycle = *container.mutable_lifecycle();
  if (lifecycle.has_poststart()) SetHandlerDefaults(*lifecycle.mutable_poststart());
  if (lifecycle.has_prestop()) SetHandlerDefaults(*lifecycle.mutable_prestop());
}

template <class Containers>
void SetRequests(Containers& containers) {
  for (auto& container : containers) {
    if (!container.has_resources()) continue;
    auto& resources = *container.mutable_resources();
    SetRequestsFromLimits(*resources.mutable_requests(), resources.limits());
  }
}

template <class Containers>
void SetHostPorts(Containers& containers) {
  for (auto& container : containers) {
    for (auto& port : *container.mutable_ports()) {
      if (port.hostport() == 0) port.set_hostport(port.containerport());
    }
  }
}

void SetSpecDefaults(core::PodSpec& spec) {
  if (!spec.has_enableservicelinks()) spec.set_enableservicelinks(true);
  if (spec.dnspolicy().empty()) spec.set_dnspolicy("ClusterFirst");
  if (spec.restartpolicy().empty()) spec.set_restartpolicy("Always");
  spec.mutable_securitycontext();
  if (!spec.has_terminationgraceperiodseconds()) {
    spec.set_terminationgraceperiodseconds(kGracePeriodSeconds);
  }
  // A negative one was accepted once, and objects of that time must stay readable.
  if (spec.terminationgraceperiodseconds() < 0) spec.set_terminationgraceperiodseconds(1);
  if (spec.schedulername().empty()) spec.set_schedulername("default-scheduler");
  // The old name of the field follows the new one.
  if (spec.serviceaccountname().empty()) spec.set_serviceaccountname(spec.serviceaccount());
  spec.set_serviceaccount(spec.serviceaccountname());
}

template <class Statuses>
void RoundStatuses(Statuses& statuses) {
  for (auto& status : statuses) {
    RoundToMilli(*status.mutable_allocatedresources());
    RoundRequirements(status);
  }
}

// podIP is the first of podIPs; where they differ the single one counts.
void SetPodIps(core::PodStatus& status) {
  if (!status.podip().empty() &&
      (status.podips().empty() || status.podips(0).ip() != status.podip())) {
    status.clear_podips();
    status.add_podips()->set_ip(status.podip());
  }
  if (!status.podips().empty()) status.set_podip(status.podips(0).ip());
}

void SetStatusDefaults(core::PodStatus& status) {
  RoundStatuses(*status.mutable_initcontainerstatuses());
  RoundStatuses(*status.mutable_containerstatuses());
  RoundStatuses(*status.mutable_ephemeralcontainerstatuses());
  RoundToMilli(*status.mutable_allocatedresources());
  RoundRequirements(status);
  SetPodIps(status);
}

void DropInitContainerAnnotations(meta::ObjectMeta& metadata) {
  for (const char* stage : {"alpha", "beta"}) {
    for (const char* name : {"init-containers", "init-container-statuses"}) {
      metadata.mutable_annotations()->erase(std::string("pod.") + stage + ".kubernetes.io/" + name);
    }
  }
}

}  // namespace

void SetPodDefaults(core::Pod& pod) {
  auto& spec = *pod.mutable_spec();
  // Sums over containers take their values before these are rounded.
  SetRequests(*spec.mutable_containers());
  SetRequests(*spec.mutable_initcontainers());
  SetPodLevelDefaults(spec);
  if (spec.hostnetwork()) {
    SetHostPorts(*spec.mutable_containers());
    SetHostPorts(*spec.mutable_initcontainers());
  }
  SetSpecDefaults(spec);
  for (auto& volume : *spec.mutable_volumes()) SetVolumeDefaults(volume);
  for (auto& container : *spec.mutable_initcontainers()) SetContainerDefaults(container);
  for (auto& container : *spec.mutable_containers()) SetContainerDefaults(container);
  for (auto& container : *spec.mutable_ephemeralcontainers()) {
    SetContainerDefaults(*container.mutable_ephemeralcontainercommon());
  }
  RoundToMilli(*spec.mutable_overhead());
  RoundRequirements(spec);
  if (pod.has_status()) SetStatusDefaults(*pod.mutable_status());
  if (pod.has_metadata()) DropInitContainerAnnotations(*pod.mutable_metadata());
}

}  // namespace denselet::kube
