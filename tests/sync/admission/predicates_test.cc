#include "sync/admission/predicates.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/sync/admission/objects.h"

namespace denselet::sync {
namespace {

constexpr char kNode[] = R"(
metadata: {name: here, labels: {zone: a, size: "5"}}
spec: {taints: [{key: k, value: v, effect: NoExecute}, {key: s, effect: NoSchedule}]}
status: {allocatable: {cpu: 2, memory: 1Gi, ephemeral-storage: 10Gi, pods: 3, example.com/gpu: 1}}
)";

struct Case {
  const char* what;
  const char* spec;      // lines of the pod's spec and beyond, two spaces in
  const char* expected;  // "reason: message" of the first failure; empty: none
};

std::string FirstFailure(const std::string& yaml, const NodeView& node, const Bookings& bookings) {
  const kube::core::Pod pod = PodOf(yaml);
  if (const auto refused = RefuseByKind(pod, node)) {
    return refused->reason + ": " + refused->message;
  }
  const auto failures = FindFailures(pod, ReadPodNeeds(pod), node, bookings);
  if (failures.empty()) return "";
  return failures[0].rejection.reason + ": " + failures[0].rejection.message;
}

const Case kCases[] = {
    {"tolerates what evicts", "  tolerations: [{key: k, operator: Exists}]", ""},
    {"does not tolerate it", "",
     "TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't "
     "tolerate"},
    {"too much cpu", "  tolerations: [{operator: Exists}]\n  overhead: {cpu: 1500m}",
     "OutOfcpu: Node didn't have enough resource: cpu, requested: 1600, used: 500, capacity: 2000"},
    {"too much memory", "  tolerations: [{operator: Exists}]\n  overhead: {memory: 2Gi}",
     "OutOfmemory: Node didn't have enough resource: memory, requested: 2147483648, used: 0, "
     "capacity: 1073741824"},
    {"too many devices", "  tolerations: [{operator: Exists}]\n  overhead: {example.com/gpu: 2}",
     "OutOfexample.com/gpu: Node didn't have enough resource: example.com/gpu, requested: 2, used: "
     "0, capacity: 1"},
    {"other node", "  tolerations: [{operator: Exists}]\n  nodeName: there",
     "NodeName: Predicate NodeName failed: node(s) didn't match the requested node name"},
    {"selector", "  tolerations: [{operator: Exists}]\n  nodeSelector: {zone: b}",
     "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node "
     "affinity/selector"},
    {"affinity that matches",
     "  tolerations: [{operator: Exists}]\n"
     "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
     "{nodeSelectorTerms: [{matchExpressions: [{key: size, operator: Gt, values: ['4']}]}]}}}",
     ""},
    {"affinity without terms",
     "  tolerations: [{operator: Exists}]\n"
     "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
     "{nodeSelectorTerms: []}}}",
     "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node "
     "affinity/selector"},
    {"other system", "  os: {name: windows}",
     "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS"},
    {"groups", "  securityContext: {supplementalGroupsPolicy: Strict}",
     "SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in "
     "this node"},
};

TEST(Predicates, ReasonsAndMessagesAreUpstreams) {
  const NodeView node = NodeOf(kNode);
  Bookings bookings;
  bookings.Book(std::make_shared<PodNeeds>(NeedsOf(SimplePod("other", "500m"))));
  for (const Case& c : kCases) {
    EXPECT_EQ(FirstFailure(SimplePod("p", "100m", c.spec), node, bookings), c.expected) << c.what;
  }
}

TEST(Predicates, ThePlacesForPodsAreCounted) {
  const NodeView node = NodeOf(kNode);
  Bookings bookings;
  for (const char* uid : {"a", "b", "c"}) {
    bookings.Book(std::make_shared<PodNeeds>(NeedsOf(SimplePod(uid, "0"))));
  }
  EXPECT_EQ(
      FirstFailure(SimplePod("p", "0", "  tolerations: [{operator: Exists}]"), node, bookings),
      "OutOfpods: Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3");
}

TEST(Predicates, StaticPodsStayWhateverTheTaints) {
  const std::string pod =
      "metadata: {name: p, uid: u, annotations: {kubernetes.io/config.source: file}}\n"
      "spec: {containers: [{name: c}]}";
  EXPECT_EQ(FirstFailure(pod, NodeOf(kNode), {}), "");
}

TEST(Predicates, ExtendedResourcesThatTheNodeDoesNotKnowAreNotItsToRefuse) {
  const std::string pod =
      "metadata: {name: p, uid: u, annotations: {kubernetes.io/config.source: file}}\n"
      "spec: {containers: [{name: c, resources: {requests: {example.com/cluster: 5}}}]}";
  EXPECT_EQ(FirstFailure(pod, NodeOf(kNode), {}), "");
  const std::string pages =
      "metadata: {name: p, uid: u, annotations: {kubernetes.io/config.source: file}}\n"
      "spec: {containers: [{name: c, resources: {requests: {hugepages-2Mi: 4Mi}}}]}";
  EXPECT_EQ(FirstFailure(pages, NodeOf(kNode), {}),
            "OutOfhugepages-2Mi: Node didn't have enough resource: hugepages-2Mi, requested: "
            "4194304, used: 0, capacity: 0");
}

TEST(Predicates, AllFailuresAreFoundInUpstreamsOrder) {
  const kube::core::Pod pod =
      PodOf(SimplePod("p", "9", "  nodeName: there\n  nodeSelector: {zone: b}"));
  std::string reasons;
  for (const auto& failure : FindFailures(pod, ReadPodNeeds(pod), NodeOf(kNode), {})) {
    reasons += failure.rejection.reason + " ";
  }
  EXPECT_EQ(reasons, "OutOfcpu NodeAffinity NodeName TaintToleration ");
}

}  // namespace
}  // namespace denselet::sync
