// The node's manager beside a server that does anything to requests for a while, from many seeds.
#include <gtest/gtest.h>

#include "kube/api/types.h"
#include "managers/node/node_manager.h"
#include "tests/managers/manager_fixture.h"
#include "tests/managers/node/fake_node_seams.h"

namespace denselet::node {
namespace {

using kube::core::Node;
using sync::coordination::Lease;
using tests::Hang;
using tests::Refuse;
using tests::Serve;
using tests::ServeAndLose;

class NodeChaos : public tests::ManagerTest {
 protected:
  tests::ScriptedApiServer::Fate Anything(SeededRandom& random) {
    switch (random.Below(8)) {
      case 0:
        return Refuse(ErrorCode::kUnavailable);
      case 1:
        return Refuse(ErrorCode::kConflict);
      case 2:
        return Refuse(ErrorCode::kPermission);
      case 3:
        return Refuse(ErrorCode::kOverloaded);
      case 4:
        return Hang();
      case 5:
        return ServeAndLose();
      default:
        return Serve();
    }
  }
};

TEST_F(NodeChaos, ComesToRestWhateverTheServerDidBefore) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    FakeFacts facts(world_.loop(0));
    FakeInputs inputs(world_.loop(0));
    FakeEvents events("n1");
    NodeConfig config{.flags = {.node_name = "n1", .hostname = "h"}};
    SetPressureThresholds(config);
    NodeManager manager({world_.loop(0), random, log(), api_, events, facts, inputs}, config);
    api_.fate = [&](const sync::ApiRequest&) { return Anything(random); };
    api_.latency = Milliseconds(1 + static_cast<int64_t>(random.Below(500)));
    api_.seen.clear();
    manager.Start();
    bool scarce = false;
    for (int minute = 0; minute < 5; ++minute) {
      RunFor(Minutes(1));
      inputs.ready = random.Below(2) == 0;
      scarce = random.Below(2) == 0;
      facts.SetScarce(PressureSignal::kNodeFsAvailable, scarce);
      if (random.Below(4) == 0) api_.Remove<Lease>({"kube-node-lease", "n1"});
      if (random.Below(4) == 0) manager.ReportNow();
    }
    // Lease and status each ask five times at once and then rest; reading pauses.
    EXPECT_LE(api_.seen.size(), 5 * 60 * 5);

    api_.fate = [](const sync::ApiRequest&) { return Serve(); };
    inputs.ready = true;
    RunFor(Minutes(2));
    const std::optional<Node> node = api_.Find<Node>({"", "n1"});
    ASSERT_TRUE(node);
    EXPECT_TRUE(IsReady(node->status()));
    EXPECT_EQ(FindCondition(node->status(), "DiskPressure")->status(), scarce ? "True" : "False");
    EXPECT_LE(now() - manager.Snapshot().lease_renewed_at, Seconds(11));
    api_.Remove<Node>({"", "n1"});
    api_.Remove<Lease>({"kube-node-lease", "n1"});
  }
}

}  // namespace
}  // namespace denselet::node
