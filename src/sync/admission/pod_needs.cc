#include "sync/admission/pod_needs.h"

#include <algorithm>
#include <utility>

#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "kube/api/validation/names.h"
#include "kube/api/values/quantity.h"
#include "sync/spec/pod_traits.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;
using kube::Quantity;
using Quantities = std::map<std::string, Quantity, std::less<>>;
using List = google::protobuf::Map<std::string, kube::resource::Quantity>;

// What cannot be read counts as zero: validation does not let it through.
Quantities Read(const List& list) {
  Quantities quantities;
  for (const auto* entry : kube::Sorted(list)) {
    const auto quantity = Quantity::Parse(entry->second.string());
    quantities[entry->first] = quantity ? *quantity : Quantity();
  }
  return quantities;
}

void Add(Quantities& sum, const Quantities& more) {
  for (const auto& [name, quantity] : more) sum[name] += quantity;
}

void Raise(Quantities& most, const Quantities& other) {
  for (const auto& [name, quantity] : other) {
    const auto [at, is_new] = most.try_emplace(name, quantity);
    if (!is_new) at->second = std::max(at->second, quantity);
  }
}

// While the i-th init container runs, so do the sidecars before it.
Quantities OfContainers(const core::PodSpec& spec) {
  Quantities running, sidecars, initializing;
  for (const auto& container : spec.containers())
    Add(running, Read(container.resources().requests()));
  for (const auto& container : spec.initcontainers()) {
    Quantities own = Read(container.resources().requests());
    if (IsSidecar(container)) {
      Add(running, own);
      Add(sidecars, own);
      Raise(initializing, sidecars);
    } else {
      Add(own, sidecars);
      Raise(initializing, own);
    }
  }
  Raise(running, initializing);
  return running;
}

bool IsPodLevelResource(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

void TakePodLevel(Quantities& requests, const core::PodSpec& spec) {
  for (auto& [name, quantity] : Read(spec.resources().requests())) {
    if (IsPodLevelResource(name)) requests[name] = quantity;
  }
}

ResourceAmounts Amounts(const Quantities& quantities) {
  ResourceAmounts amounts;
  for (const auto& [name, quantity] : quantities) {
    if (!IsCountedResource(name)) continue;
    const int64_t amount = name == "cpu" ? quantity.Milli() : quantity.Units();
    if (amount > 0) amounts[name] = amount;
  }
  return amounts;
}

ResourceAmounts Reclaimable(const core::Pod& pod, Quantities containers,
                            const Quantities& overhead) {
  Quantities freed = HasPodResources(pod) ? Quantities() : std::move(containers);
  TakePodLevel(freed, pod.spec());
  for (auto& [name, quantity] : freed) {
    const auto more = overhead.find(name);
    if (more != overhead.end() && !quantity.IsZero()) quantity += more->second;
  }
  return Amounts(freed);
}

void TakePorts(const core::Container& container, std::vector<HostPort>& out) {
  for (const auto& port : container.ports()) {
    if (port.hostport() <= 0) continue;
    out.push_back({.ip = port.hostip().empty() ? "0.0.0.0" : port.hostip(),
                   .protocol = port.protocol().empty() ? "TCP" : port.protocol(),
                   .port = port.hostport()});
  }
}

std::vector<HostPort> HostPorts(const core::PodSpec& spec) {
  std::vector<HostPort> ports;
  for (const auto& container : spec.initcontainers()) {
    if (IsSidecar(container)) TakePorts(container, ports);
  }
  for (const auto& container : spec.containers()) TakePorts(container, ports);
  return ports;
}

SourceSet SourceOf(const core::Pod& pod) {
  const std::string_view told_by = AnnotationOf(pod, "kubernetes.io/config.source");
  for (const SourceKind source : {SourceKind::kFile, SourceKind::kHttp}) {
    if (told_by == SourceName(source)) return {source};
  }
  return {};
}

bool IsNative(std::string_view name) {
  return name.find('/') == name.npos || name.find("kubernetes.io/") != name.npos;
}

}  // namespace

bool IsExtendedResource(std::string_view name) {
  return !IsNative(name) && !name.starts_with("requests.") &&
         kube::CheckQualifiedName("requests." + std::string(name)).empty();
}

bool IsCountedResource(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
         name.starts_with("hugepages-") || name.find("kubernetes.io/") != name.npos ||
         name.starts_with("attachable-volumes-") || IsExtendedResource(name);
}

PodNeeds ReadPodNeeds(const core::Pod& pod) {
  PodNeeds needs;
  needs.pod = {.ref = {pod.metadata().namespace_(), pod.metadata().name()},
               .uid = PodUid(pod.metadata().uid())};
  needs.is_static = IsStaticPod(pod);
  needs.source = SourceOf(pod);
  needs.critical = IsCriticalPod(pod);
  if (pod.spec().has_priority()) needs.priority = pod.spec().priority();
  needs.qos = QosOf(pod);
  needs.grace_seconds = pod.spec().terminationgraceperiodseconds();
  const Quantities overhead = Read(pod.spec().overhead());
  Quantities containers = OfContainers(pod.spec());
  Quantities requests = containers;
  TakePodLevel(requests, pod.spec());
  Add(requests, overhead);
  needs.requests = Amounts(requests);
  needs.overhead = Amounts(overhead);
  needs.reclaimable = Reclaimable(pod, std::move(containers), overhead);
  needs.ports = HostPorts(pod.spec());
  return needs;
}

}  // namespace denselet::sync
