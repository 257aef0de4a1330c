// The pods of a node come from a real API server soon, and however many they are, the node's lease
// is renewed meanwhile. Run by control_plane.sh.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "managers/node/lease.h"
#include "sync/ports/api_typed.h"
#include "tests/e2e/api_client_fixture.h"
#include "tests/e2e/desired_pods_fixture.h"
#include "tests/e2e/many_pods.h"

namespace denselet::e2e {
namespace {

using kube::core::Pod;

class PodSourceApiServerTest : public kube::ApiClientTest {
 protected:
  PodSourceApiServerTest() : node_("e2e-pods-" + std::string(reactor::BackendName(GetParam()))) {
    kube::ApiClientOptions options;
    options.requests_per_second = 0;
    Connect(options);
  }

  ManyPodsOptions PodsOptions(size_t count) {
    return {.ns = node_, .node = node_, .count = count, .pod = SmallPod()};
  }
  void Finish(const ManyPods& pods) {
    ASSERT_TRUE(RunUntil([&] { return !pods.busy(); }));
    ASSERT_FALSE(pods.failed()) << pods.failed()->message();
  }
  DesiredPodsOfNode Follow() { return {*loop_, clock_, *client_, node_}; }

  const std::string node_;
};
INSTANTIATE_LOOP_TEST(PodSourceApiServerTest);

// As the scheduler does it.
sync::ApiRequest BindRequest(const ObjectRef& pod, const std::string& node) {
  kube::core::Binding binding;
  binding.mutable_metadata()->set_name(pod.name);
  binding.mutable_metadata()->set_namespace_(pod.ns);
  binding.mutable_target()->set_kind("Node");
  binding.mutable_target()->set_name(node);
  return {.verb = sync::ApiVerb::kCreate,
          .resource = {"", "v1", "pods", "Binding"},
          .object = pod,
          .subresource = "binding",
          .body = kube::EncodeWire(binding)};
}

TEST_P(PodSourceApiServerTest, APodThatIsBoundIsDesiredWithinATenthOfASecond) {
  constexpr size_t kPods = 15;
  ManyPods others(*client_, PodsOptions(1));  // they make namespace and node, and are there already
  others.Create();
  Finish(others);
  const DesiredPodsOfNode desired = Follow();
  ASSERT_TRUE(RunUntil([&] { return desired.ready(); }));
  EXPECT_EQ(desired.size(), 1u);

  std::vector<Duration> taken;
  for (size_t i = 0; i < kPods; ++i) {
    Pod pod;
    ASSERT_TRUE(pod.ParseFromString(SmallPod()));
    pod.mutable_metadata()->set_name("bound-" + std::to_string(i));
    pod.mutable_metadata()->set_namespace_(node_);
    pod.mutable_spec()->set_schedulername("nobody");
    const Result<Pod> made = Await<Pod>([&](auto done) {
      sync::Create<Pod>(*client_, {}, {.object = {node_, ""}}, pod, std::move(done));
    });
    ASSERT_TRUE(made) << made.error().message();
    const std::string& uid = made->metadata().uid();
    EXPECT_FALSE(desired.Has(uid));

    // From before the binding is sent: what the API server takes for it counts as well.
    const TimePoint begin = clock_.Now();
    std::optional<Result<sync::ApiObject>> bound;
    client_->Send({}, BindRequest({node_, pod.metadata().name()}, node_),
                  [&](Result<sync::ApiObject> answer) { bound = std::move(answer); });
    ASSERT_TRUE(RunUntil([&] { return desired.Has(uid); }));
    taken.push_back(clock_.Now() - begin);
    ASSERT_TRUE(RunUntil([&] { return bound.has_value(); }));
    ASSERT_TRUE(*bound) << bound->error().message();
  }
  std::ranges::sort(taken);
  RecordProperty("median", FormatDuration(taken[kPods / 2]));
  EXPECT_LE(taken[kPods / 2], Milliseconds(100)) << "slowest: " << FormatDuration(taken.back());
}

TEST_P(PodSourceApiServerTest, TheLeaseIsRenewedWhileManyPodsAreListed) {
  const size_t pod_count = std::getenv("DENSELET_LONG") == nullptr ? 1000 : 10'000;
  constexpr int kRenewals = 3, kLeaseSeconds = 4;
  ManyPods pods(*client_, PodsOptions(pod_count));
  pods.Create();
  Finish(pods);
  LogVerbosity verbosity;
  CapturingLogSink sink;
  LogOutput output{.format = {}, .clock = clock_, .verbosity = verbosity, .sink = sink};
  node::LeaseRenewer lease(*loop_, random_, Logger(output), *client_,
                           {.node_name = node_, .duration_seconds = kLeaseSeconds});
  lease.Start();
  ASSERT_TRUE(RunUntil([&] { return lease.renewed_at() > TimePoint(); }));

  // Lists without a pause between them, until there were some renewals.
  TimePoint renewed_at = lease.renewed_at();
  int renewals = 0, lists = 0;
  Duration longest{};
  while (renewals < kRenewals) {
    const DesiredPodsOfNode desired = Follow();
    ASSERT_TRUE(RunUntil([&] {
      if (lease.renewed_at() != renewed_at) {
        longest = std::max(longest, lease.renewed_at() - renewed_at);
        renewed_at = lease.renewed_at();
        ++renewals;
      }
      return desired.ready();
    }));
    ++lists;
    EXPECT_GE(desired.size(), pod_count);
  }
  EXPECT_GE(lists, kRenewals) << "the lists were not under way all the time";
  EXPECT_LT(longest, Seconds(kLeaseSeconds));
  for (const CapturingLogSink::Line& line : sink.lines()) ADD_FAILURE() << line.text;
  EXPECT_EQ(transport_->counters(kube::ApiLane::kHeartbeat).connected, 1u);

  pods.Delete();
  Finish(pods);
}

}  // namespace
}  // namespace denselet::e2e
