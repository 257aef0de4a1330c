// What a pod takes of the node: resources, host ports, and how it stands against others when there
// is not enough. Read from the pod once; small enough to be kept and journalled for every pod.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api/fwd.h"
#include "sync/ports/observed_pod.h"
#include "sync/ports/source_set.h"
#include "sync/spec/resource_spec.h"

namespace denselet::sync {

// By name; cpu in thousandths, all else in units.
using ResourceAmounts = std::map<std::string, int64_t, std::less<>>;

inline int64_t AmountOf(const ResourceAmounts& amounts, std::string_view name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

// Resources that a node has or has not; others (limits of quotas, storage) do not count.
bool IsCountedResource(std::string_view name);
// Of some vendor: "example.com/gpu".
bool IsExtendedResource(std::string_view name);

struct HostPort {
  std::string ip = {};  // "0.0.0.0": all of them
  std::string protocol = {};
  int32_t port = 0;

  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

struct PodNeeds {
  PodIdentity pod = {};
  bool is_static = false;
  // Of a static pod, where it came from. Empty: an agent that did not write that down.
  SourceSet source = {};
  bool critical = false;
  std::optional<int32_t> priority = {};
  QosClass qos = QosClass::kBestEffort;
  int64_t grace_seconds = 0;
  // What is booked: containers as they run beside and after each other, the pod's own word over
  // theirs, and the overhead.
  ResourceAmounts requests = {};
  // The overhead alone.
  ResourceAmounts overhead = {};
  // What its end would free, by upstream's other rule: without the overhead of a resource that the
  // pod does not ask for; and of a pod with resources of its own, those only.
  ResourceAmounts reclaimable = {};
  std::vector<HostPort> ports = {};

  friend bool operator==(const PodNeeds&, const PodNeeds&) = default;
};

PodNeeds ReadPodNeeds(const kube::core::Pod& pod);

}  // namespace denselet::sync
