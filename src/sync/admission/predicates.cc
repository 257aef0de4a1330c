#include "sync/admission/predicates.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kube/api/types.h"
#include "sync/admission/node_match.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

constexpr char kOs[] = "linux";
constexpr char kOsLabel[] = "kubernetes.io/os";

AdmissionFailure Predicate(const std::string& name, const std::string& why) {
  return {.rejection = {.reason = name, .message = "Predicate " + name + " failed: " + why}};
}

AdmissionFailure Insufficient(Shortage shortage) {
  Rejection rejection{.reason = "OutOf" + shortage.resource,
                      .message = "Node didn't have enough resource: " + shortage.resource +
                                 ", requested: " + std::to_string(shortage.requested) +
                                 ", used: " + std::to_string(shortage.used) +
                                 ", capacity: " + std::to_string(shortage.capacity)};
  const bool passes = shortage.missing() <= shortage.leaving;
  return {.rejection = std::move(rejection), .shortage = std::move(shortage), .passes = passes};
}

// Extended resources that the node does not know at all are not its own to refuse: they belong to
// the cluster, or come by other ways. The overhead is not asked for by containers.
int64_t Requested(const PodNeeds& needs, const NodeView& node, const std::string& resource) {
  const bool missing = IsExtendedResource(resource) && !node.allocatable.contains(resource);
  return AmountOf(missing ? needs.overhead : needs.requests, resource);
}

class Fit {
 public:
  Fit(const PodNeeds& needs, const NodeView& node, const Bookings& bookings,
      std::vector<AdmissionFailure>& out)
      : needs_(needs), node_(node), bookings_(bookings), out_(out) {}

  void CheckAll() {
    if (bookings_.pods() + 1 > node_.pods_max) {
      out_.push_back(
          Insufficient({"pods", 1, bookings_.pods(), node_.pods_max, bookings_.Leaving("pods")}));
    }
    for (const char* resource : {"cpu", "memory", "ephemeral-storage"}) Check(resource);
    for (const auto& [resource, amount] : needs_.requests) {
      if (resource == "cpu" || resource == "memory" || resource == "ephemeral-storage") continue;
      Check(resource);
    }
  }

 private:
  void Check(const std::string& resource) {
    const int64_t requested = Requested(needs_, node_, resource);
    const int64_t used = bookings_.Used(resource);
    const int64_t capacity = AmountOf(node_.allocatable, resource);
    int64_t left = 0;
    // Both are amounts of something, so that this cannot be: but they come from outside.
    if (__builtin_sub_overflow(capacity, used, &left)) left = INT64_MIN;
    if (requested > 0 && requested > left) {
      out_.push_back(
          Insufficient({resource, requested, used, capacity, bookings_.Leaving(resource)}));
    }
  }

  const PodNeeds& needs_;
  const NodeView& node_;
  const Bookings& bookings_;
  std::vector<AdmissionFailure>& out_;
};

}  // namespace

int64_t Shortage::missing() const {
  int64_t left = 0, more = 0;
  if (__builtin_sub_overflow(capacity, used, &left)) left = INT64_MIN;
  if (__builtin_sub_overflow(requested, left, &more)) more = INT64_MAX;
  return more;
}

Rejection NodeUnknown() {
  return {.reason = "InvalidNodeInfo", .message = "Kubelet cannot get node info."};
}

std::optional<Rejection> RefuseByKind(const core::Pod& pod, const NodeView& node) {
  const auto& labels = pod.metadata().labels();
  const auto label = labels.find(kOsLabel);
  if (label != labels.end() && label->second != kOs) {
    return Rejection{
        "PodOSSelectorNodeLabelDoesNotMatch",
        "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"};
  }
  if (pod.spec().has_os() && pod.spec().os().name() != kOs) {
    return Rejection{"PodOSNotSupported",
                     "Failed to admit pod as the OS field doesn't match node OS"};
  }
  if (pod.spec().securitycontext().supplementalgroupspolicy() == "Strict" &&
      !node.supplemental_groups_policy) {
    return Rejection{"SupplementalGroupsPolicyNotSupported",
                     "SupplementalGroupsPolicy=Strict is not supported in this node"};
  }
  return std::nullopt;
}

std::vector<AdmissionFailure> FindFailures(const core::Pod& pod, const PodNeeds& needs,
                                           const NodeView& node, const Bookings& bookings) {
  std::vector<AdmissionFailure> failures;
  Fit(needs, node, bookings, failures).CheckAll();
  if (!MatchesNodeAffinity(pod, node)) {
    failures.push_back(
        Predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector"));
    failures.back().is_affinity = true;
  }
  if (!pod.spec().nodename().empty() && pod.spec().nodename() != node.name) {
    failures.push_back(Predicate("NodeName", "node(s) didn't match the requested node name"));
  }
  std::vector<HostPort> taken;
  std::copy_if(needs.ports.begin(), needs.ports.end(), std::back_inserter(taken),
               [&](const HostPort& port) { return !bookings.IsPortFree(port); });
  if (!taken.empty()) {
    failures.push_back(
        Predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports"));
    failures.back().is_ports = true;
    failures.back().passes = std::all_of(taken.begin(), taken.end(), [&](const HostPort& port) {
      return bookings.IsPortBecomingFree(port);
    });
  }
  if (!needs.is_static && !ToleratesNode(pod, node)) {
    failures.push_back(
        Predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate"));
  }
  return failures;
}

}  // namespace denselet::sync
