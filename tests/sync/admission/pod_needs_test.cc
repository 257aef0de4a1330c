#include "sync/admission/pod_needs.h"

#include <gtest/gtest.h>

#include "tests/sync/admission/objects.h"

namespace denselet::sync {
namespace {

TEST(PodNeeds, InitContainersCountWithTheSidecarsBeforeThem) {
  const PodNeeds needs = NeedsOf(R"(
metadata: {name: p, namespace: ns, uid: u}
spec:
  initContainers:
  - {name: early, resources: {requests: {cpu: 700m, memory: 10}}}
  - {name: side, restartPolicy: Always, resources: {requests: {cpu: 200m, memory: 5}}}
  - {name: late, resources: {requests: {cpu: 600m}}}
  containers:
  - {name: a, resources: {requests: {cpu: 100m, memory: 20}}}
  - {name: b, resources: {requests: {cpu: 100m}}}
)");
  // Running: 100 + 100 + 200; at most while starting: late beside side.
  EXPECT_EQ(needs.requests, (ResourceAmounts{{"cpu", 800}, {"memory", 25}}));
}

TEST(PodNeeds, ThePodsOwnRequestsTakeThePlaceOfItsContainersAndOverheadComesOnTop) {
  const PodNeeds needs = NeedsOf(R"(
metadata: {name: p, namespace: ns, uid: u}
spec:
  resources: {requests: {cpu: 2, memory: 1Gi}}
  overhead: {cpu: 250m, ephemeral-storage: 10}
  containers:
  - {name: a, resources: {requests: {cpu: 5, ephemeral-storage: 7, example.com/gpu: 1}}}
)");
  EXPECT_EQ(
      needs.requests,
      (ResourceAmounts{
          {"cpu", 2250}, {"memory", 1 << 30}, {"ephemeral-storage", 17}, {"example.com/gpu", 1}}));
  EXPECT_EQ(needs.reclaimable, (ResourceAmounts{{"cpu", 2250}, {"memory", 1 << 30}}));
}

TEST(PodNeeds, OverheadOfWhatIsNotAskedForIsNotReclaimed) {
  const PodNeeds needs = NeedsOf(R"(
metadata: {name: p, namespace: ns, uid: u}
spec:
  overhead: {cpu: 250m, memory: 64}
  containers: [{name: a, resources: {requests: {cpu: 1}}}]
)");
  EXPECT_EQ(needs.requests, (ResourceAmounts{{"cpu", 1250}, {"memory", 64}}));
  EXPECT_EQ(needs.reclaimable, (ResourceAmounts{{"cpu", 1250}}));
}

TEST(PodNeeds, FractionsAreRoundedUpOnce) {
  const PodNeeds needs = NeedsOf(R"(
metadata: {name: p, namespace: ns, uid: u}
spec:
  containers:
  - {name: a, resources: {requests: {cpu: 0.0001, memory: 100m}}}
  - {name: b, resources: {requests: {cpu: 0.0001, memory: 100m}}}
)");
  EXPECT_EQ(needs.requests, (ResourceAmounts{{"cpu", 1}, {"memory", 1}}));
}

TEST(PodNeeds, HostPortsAreThoseOfWhatRunsAllTheTime) {
  const PodNeeds needs = NeedsOf(R"(
metadata: {name: p, namespace: ns, uid: u}
spec:
  initContainers:
  - {name: once, ports: [{containerPort: 1, hostPort: 1}]}
  - {name: side, restartPolicy: Always, ports: [{containerPort: 2, hostPort: 2, protocol: UDP}]}
  containers:
  - {name: a, ports: [{containerPort: 3, hostPort: 3, hostIP: 10.0.0.1}, {containerPort: 4}]}
)");
  EXPECT_EQ(needs.ports, (std::vector<HostPort>{{"0.0.0.0", "UDP", 2}, {"10.0.0.1", "TCP", 3}}));
}

TEST(PodNeeds, KindsOfResources) {
  EXPECT_TRUE(IsExtendedResource("example.com/gpu"));
  EXPECT_FALSE(IsExtendedResource("gpu"));
  EXPECT_FALSE(IsExtendedResource("requests.example.com/gpu"));
  EXPECT_FALSE(IsExtendedResource("kubernetes.io/batch-cpu"));
  EXPECT_FALSE(IsExtendedResource("example.com/not a name"));
  EXPECT_TRUE(IsCountedResource("hugepages-1Gi"));
  EXPECT_TRUE(IsCountedResource("kubernetes.io/batch-cpu"));
  EXPECT_TRUE(IsCountedResource("attachable-volumes-aws"));
  EXPECT_FALSE(IsCountedResource("storage"));
  EXPECT_FALSE(IsCountedResource("pods"));
}

}  // namespace
}  // namespace denselet::sync
