#include "sync/spec/sandbox_spec.h"

#include "base/quoted.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "sync/spec/resource_spec.h"
#include "sync/spec/security_spec.h"
#include "sync/spec/variables.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

constexpr size_t kHostnameMax = 63;
constexpr size_t kFqdnMax = 64;
constexpr size_t kShownMax = 256;

Result<std::string> Shortened(std::string name) {
  if (name.size() <= kHostnameMax) return name;
  const std::string whole = name;
  name.resize(kHostnameMax);
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  if (name.empty()) {
    return Error(ErrorCode::kInvalid, "hostname was invalid: " + Quoted(whole, kShownMax));
  }
  return name;
}

Result<std::string> KernelHostname(const core::Pod& pod, std::string_view cluster_domain) {
  auto hostname = HostnameOf(pod, cluster_domain);
  if (!hostname) return hostname.error();
  if (hostname->domain.empty() || !pod.spec().sethostnameasfqdn()) return hostname->name;
  std::string fqdn = hostname->name + "." + hostname->domain;
  if (fqdn.size() > kFqdnMax) {
    return Error(ErrorCode::kInvalid,
                 "failed to construct FQDN from pod hostname and cluster domain, FQDN " + fqdn +
                     " is too long (" + std::to_string(kFqdnMax) + " characters is the max, " +
                     std::to_string(fqdn.size()) + " characters requested)");
  }
  return fqdn;
}

Protocol ProtocolOf(std::string_view text) {
  if (text == "UDP") return Protocol::kUdp;
  return text == "SCTP" ? Protocol::kSctp : Protocol::kTcp;
}

std::vector<PortMapping> PortsOf(const core::PodSpec& spec) {
  std::vector<PortMapping> ports;
  for (const auto& container : spec.containers()) {
    for (const auto& port : container.ports()) {
      ports.push_back({.protocol = ProtocolOf(port.protocol()),
                       .container_port = port.containerport(),
                       .host_port = port.hostport(),
                       .host_ip = port.hostip()});
    }
  }
  return ports;
}

KeyValues LabelsOf(const core::Pod& pod) {
  KeyValues labels;
  for (const auto* entry : kube::Sorted(pod.metadata().labels())) labels.push_back(*entry);
  PutValue(labels, "io.kubernetes.pod.name", pod.metadata().name());
  PutValue(labels, "io.kubernetes.pod.namespace", pod.metadata().namespace_());
  PutValue(labels, "io.kubernetes.pod.uid", pod.metadata().uid());
  return labels;
}

}  // namespace

std::string PodLogDirectory(const core::Pod& pod, std::string_view logs) {
  return std::string(logs) + "/" + pod.metadata().namespace_() + "_" + pod.metadata().name() + "_" +
         pod.metadata().uid();
}

Result<PodHostname> HostnameOf(const core::Pod& pod, std::string_view cluster_domain) {
  const core::PodSpec& spec = pod.spec();
  if (spec.has_hostnameoverride()) {
    auto name = Shortened(spec.hostnameoverride());
    if (!name) return name.error();
    return PodHostname{.name = *name};
  }
  auto name = Shortened(spec.hostname().empty() ? pod.metadata().name() : spec.hostname());
  if (!name) return name.error();
  PodHostname out{.name = *name};
  if (!spec.subdomain().empty()) {
    out.domain = spec.subdomain() + "." + pod.metadata().namespace_() + ".svc." +
                 std::string(cluster_domain);
  }
  return out;
}

Result<SandboxSpec> MakeSandboxSpec(const core::Pod& pod, uint32_t attempt, const SpecNode& node,
                                    const SpecPod& facts) {
  SandboxSpec spec{
      .pod = {.ref = {.ns = pod.metadata().namespace_(), .name = pod.metadata().name()},
              .uid = PodUid(pod.metadata().uid())},
      .attempt = attempt,
      .log_directory = PodLogDirectory(pod, node.pod_logs_dir),
      .dns = facts.dns,
      .ports = PortsOf(pod.spec()),
      .labels = LabelsOf(pod),
      .runtime_handler = facts.runtime_handler,
      .cgroup_parent = facts.cgroup_parent,
      .overhead = OverheadResources(pod, node),
      .resources = SandboxResources(pod, node, facts),
  };
  if (!pod.spec().hostnetwork()) {
    auto hostname = KernelHostname(pod, node.cluster_domain);
    if (!hostname) return hostname.error();
    spec.hostname = *hostname;
  }
  for (const auto* entry : kube::Sorted(pod.metadata().annotations())) {
    spec.annotations.push_back(*entry);
  }
  // tidy: allow random-order because a security context has them as a list, CRI alone as a map
  for (const auto& sysctl : pod.spec().securitycontext().sysctls()) {
    std::string name = sysctl.name();
    // The kernel's names have dots for the runtime: "net/ipv4/x" is "net.ipv4.x".
    if (const size_t first = name.find_first_of("./");
        first != std::string::npos && name[first] == '/') {
      for (char& c : name) c = c == '/' ? '.' : c == '.' ? '/' : c;
    }
    PutValue(spec.sysctls, name, sysctl.value());
  }
  if (auto ok = ApplySecurity(pod, facts, spec); !ok) return ok.error();
  return spec;
}

}  // namespace denselet::sync
