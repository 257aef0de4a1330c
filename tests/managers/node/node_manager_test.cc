#include "managers/node/node_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api/types.h"
#include "tests/managers/manager_fixture.h"
#include "tests/managers/node/fake_node_seams.h"

namespace denselet::node {
namespace {

using kube::core::Node;
using sync::ApiVerb;
using sync::coordination::Lease;
using testing::Contains;
using testing::ElementsAre;
using tests::Hang;
using tests::Refuse;
using tests::Serve;
using tests::ServeAndLose;

const ObjectRef kNode{"", "n1"};

class NodeManagerTest : public tests::ManagerTest {
 protected:
  NodeManagerTest() { SetPressureThresholds(config_); }
  void Start() {
    manager_.reset();
    manager_ = std::make_unique<NodeManager>(
        NodeSeams{world_.loop(0), random_, log(), api_, events_, facts_, inputs_}, config_);
    manager_->Start();
  }
  Node Stored() {
    const std::optional<Node> node = api_.Find<Node>(kNode);
    EXPECT_TRUE(node);
    return node.value_or(Node());
  }
  std::string Condition(const char* type) {
    const Node node = Stored();
    const auto* condition = FindCondition(node.status(), type);
    if (condition == nullptr) return "none";
    return condition->status() + " " + condition->reason() + ": " + condition->message();
  }
  std::vector<TimePoint> Patches() const {
    std::vector<TimePoint> times;
    for (const auto& each : api_.seen) {
      if (each.request.verb == ApiVerb::kPatch) times.push_back(each.at);
    }
    return times;
  }

  NodeConfig config_{.flags = {.node_name = "n1",
                               .hostname = "host-1",
                               .labels = {{"team", "a"}},
                               .kubelet_version = "v1.36.3"}};
  FakeFacts facts_{world_.loop(0)};
  FakeInputs inputs_{world_.loop(0)};
  FakeEvents events_{"n1"};
  std::unique_ptr<NodeManager> manager_;
};

TEST_F(NodeManagerTest, RegistersTruthfullyNotReadyWithoutARuntime) {
  Start();
  RunFor(Seconds(5));
  const Node node = Stored();
  EXPECT_EQ(node.metadata().labels().at("kubernetes.io/hostname"), "host-1");
  EXPECT_EQ(node.metadata().labels().at("team"), "a");
  EXPECT_EQ(node.status().addresses(0).address(), "10.0.0.5");
  EXPECT_EQ(Condition("Ready"),
            "False KubeletNotReady: [container runtime status check may not have completed yet, "
            "network state unknown]");
  EXPECT_EQ(Condition("MemoryPressure"),
            "False KubeletHasSufficientMemory: kubelet has sufficient memory available");
  EXPECT_EQ(events_.reasons.front(), "Starting");
  EXPECT_EQ(events_.messages.front(), "Starting kubelet.");
  EXPECT_THAT(events_.messages, Contains("Node n1 status is now: NodeHasSufficientPID"));
  EXPECT_TRUE(manager_->Snapshot().registered);
}

TEST_F(NodeManagerTest, ANewNodeHasItsLeaseAtOnce) {
  Start();
  RunFor(Seconds(1));
  ASSERT_TRUE(api_.Find<Node>(kNode));
  EXPECT_TRUE(api_.Find<Lease>({"kube-node-lease", "n1"}));
}

TEST_F(NodeManagerTest, RegistrationComesAHundredMillisecondsAfterTheStart) {
  Start();
  RunFor(Seconds(1));
  ASSERT_EQ(api_.Count(ApiVerb::kCreate, "nodes"), 1);
  for (const auto& each : api_.seen) {
    if (each.request.verb != ApiVerb::kCreate || each.request.resource.plural != "nodes") continue;
    EXPECT_EQ(each.at, TimePoint(Milliseconds(1100)));
  }
}

TEST_F(NodeManagerTest, BecomesReadyAtOnceWhenTheRuntimeIs) {
  Start();
  RunFor(Seconds(3));
  inputs_.ready = true;
  RunFor(Milliseconds(150));
  EXPECT_EQ(Condition("Ready"), "True KubeletReady: kubelet is posting ready status");
  EXPECT_EQ(Stored().status().nodeinfo().containerruntimeversion(), "containerd://2.0.0");
  EXPECT_EQ(events_.reasons.back(), "NodeReady");
  EXPECT_EQ(events_.messages.back(), "Node n1 status is now: NodeReady");
}

TEST_F(NodeManagerTest, WhatCannotBeToldOfTheNodeIsLoggedNowAndThen) {
  config_.flags.node_ips = {*IpAddress::Parse("8.8.8.8")};
  Start();
  RunFor(Minutes(5));
  const std::string lines = sink_.Take();
  size_t count = 0;
  for (size_t at = lines.find("Failed to set some"); at != lines.npos;
       at = lines.find("Failed to set some", at + 1)) {
    ++count;
  }
  EXPECT_GE(count, 1u);
  EXPECT_LE(count, 6u);
}

TEST_F(NodeManagerTest, AfterTwoMinutesTheOrdinaryReportIsEnough) {
  Start();
  RunFor(Seconds(125));
  inputs_.ready = true;
  RunFor(Seconds(11));
  EXPECT_EQ(Condition("Ready"), "True KubeletReady: kubelet is posting ready status");
}

TEST_F(NodeManagerTest, AnUnchangedStatusIsSentRarely) {
  inputs_.ready = true;
  Start();
  RunFor(Seconds(30));
  api_.seen.clear();
  RunFor(Hours(1));
  // After the first, which is delayed by up to half an interval either way, every five minutes.
  const std::vector<TimePoint> patches = Patches();
  ASSERT_GE(patches.size(), 10);
  ASSERT_LE(patches.size(), 13);
  for (size_t i = 2; i < patches.size(); ++i) {
    EXPECT_GE(patches[i] - patches[i - 1], Minutes(5));
    EXPECT_LE(patches[i] - patches[i - 1], Minutes(5) + Seconds(11));
  }
  EXPECT_EQ(api_.Count(ApiVerb::kGet, "nodes"), 0);
}

TEST_F(NodeManagerTest, AChangeIsSentWithTheNextComputation) {
  inputs_.ready = true;
  Start();
  RunFor(Seconds(30));
  facts_.SetScarce(PressureSignal::kNodeFsInodesFree, true);
  RunFor(Milliseconds(10'500));
  EXPECT_EQ(Condition("DiskPressure"), "True KubeletHasDiskPressure: kubelet has disk pressure");
  EXPECT_EQ(events_.reasons.back(), "NodeHasDiskPressure");
}

TEST_F(NodeManagerTest, ShutdownIsReportedAtOnce) {
  inputs_.ready = true;
  Start();
  RunFor(Seconds(30));
  inputs_.inputs.shutdown = "node is shutting down";
  manager_->ReportNow();
  RunFor(Milliseconds(20));
  EXPECT_EQ(Condition("Ready"), "False KubeletNotReady: node is shutting down");
}

TEST_F(NodeManagerTest, WhatComesDuringTheFastReportIsNotLost) {
  Start();
  RunFor(Seconds(3));
  api_.latency = Milliseconds(150);
  inputs_.ready = true;
  RunFor(Milliseconds(101));
  ASSERT_EQ(manager_->Snapshot().report, "patching");
  inputs_.inputs.shutdown = "node is shutting down";
  manager_->ReportNow();
  RunFor(Milliseconds(500));
  EXPECT_EQ(Condition("Ready"), "False KubeletNotReady: node is shutting down");
}

TEST_F(NodeManagerTest, APatchThatFailsIsTriedAgainFromTheServersNode) {
  inputs_.ready = true;
  Start();
  RunFor(Seconds(30));
  int failures = 2;
  api_.fate = [&](const sync::ApiRequest& request) {
    return request.verb == ApiVerb::kPatch && failures-- > 0 ? Refuse(ErrorCode::kConflict)
                                                             : Serve();
  };
  api_.seen.clear();
  facts_.SetScarce(PressureSignal::kPidAvailable, true);
  RunFor(Milliseconds(10'500));
  EXPECT_EQ(Patches().size(), 3);
  EXPECT_EQ(api_.Count(ApiVerb::kGet, "nodes"), 2);
  EXPECT_TRUE(Condition("PIDPressure").starts_with("True"));
}

TEST_F(NodeManagerTest, TheLeaseIsRenewedWhileStatusCallsHang) {
  inputs_.ready = true;
  Start();
  RunFor(Seconds(30));
  api_.fate = [](const sync::ApiRequest& request) {
    return request.resource.plural == "nodes" ? Hang() : Serve();
  };
  facts_.SetScarce(PressureSignal::kNodeFsAvailable, true);
  api_.seen.clear();
  RunFor(Minutes(5));
  EXPECT_GE(api_.Count(ApiVerb::kUpdate, "leases"), 28);
  // Five tries of ten seconds each, then a pause.
  EXPECT_LE(api_.Count(ApiVerb::kPatch, "nodes") + api_.Count(ApiVerb::kGet, "nodes"), 30);
  for (size_t i = 0; i < api_.seen.size(); ++i) {
    EXPECT_EQ(api_.seen[i].request.traffic, sync::ApiTraffic::kHeartbeat);
  }
}

TEST_F(NodeManagerTest, AServerThatIsAwayForMinutesIsNotFlooded) {
  inputs_.ready = true;
  Start();
  RunFor(Seconds(30));
  api_.fate = [](const sync::ApiRequest&) { return Refuse(ErrorCode::kUnavailable); };
  facts_.SetScarce(PressureSignal::kMemoryAvailable, true);
  api_.seen.clear();
  RunFor(Minutes(10));
  EXPECT_LE(api_.seen.size(), 60 * 5 + 100);
  api_.fate = [](const sync::ApiRequest&) { return Serve(); };
  RunFor(Seconds(11));
  EXPECT_TRUE(Condition("MemoryPressure").starts_with("True"));
  EXPECT_EQ(manager_->Snapshot().lease, "resting");
}

TEST_F(NodeManagerTest, ANodeThatWasDeletedIsRegisteredByTheNextStartOnly) {
  inputs_.ready = true;
  Start();
  RunFor(Seconds(30));
  api_.Remove<Node>(kNode);
  RunFor(Minutes(10));
  EXPECT_FALSE(api_.Find<Node>(kNode));
  EXPECT_EQ(api_.Count(ApiVerb::kCreate, "nodes"), 1);
  Start();
  RunFor(Seconds(3));
  EXPECT_TRUE(Condition("Ready").starts_with("True"));
  EXPECT_EQ(Stored().metadata().labels().at("team"), "a");
}

TEST_F(NodeManagerTest, WhatCannotBeMeasuredIsUnknownUntilItCan) {
  inputs_.ready = true;
  At(facts_.pressure, PressureSignal::kNodeFsAvailable).reset();
  Start();
  RunFor(Seconds(3));
  EXPECT_TRUE(Condition("DiskPressure").starts_with("Unknown KubeletCannotMeasureDisk"));
  EXPECT_TRUE(Condition("MemoryPressure").starts_with("False"));
  facts_.SetScarce(PressureSignal::kNodeFsAvailable, false);
  RunFor(Seconds(11));
  EXPECT_TRUE(Condition("DiskPressure").starts_with("False"));
}

TEST_F(NodeManagerTest, WithoutRegisterNodeItWaitsForOthersToMakeIt) {
  config_.register_node = false;
  inputs_.ready = true;
  Start();
  RunFor(Minutes(1));
  EXPECT_EQ(api_.Count(ApiVerb::kCreate, "nodes"), 0);
  Node node;
  node.mutable_metadata()->set_name("n1");
  api_.Put(node);
  RunFor(Seconds(11));
  EXPECT_TRUE(Condition("Ready").starts_with("True"));
  EXPECT_EQ(Stored().metadata().labels().at("kubernetes.io/os"), "linux");
}

TEST_F(NodeManagerTest, AServerThatAsksForTimeIsAskedOnceAReport) {
  inputs_.ready = true;
  Start();
  RunFor(Seconds(30));
  api_.fate = [](const sync::ApiRequest& request) {
    return request.resource.plural == "nodes" ? Refuse(ErrorCode::kOverloaded) : Serve();
  };
  facts_.SetScarce(PressureSignal::kMemoryAvailable, true);
  api_.seen.clear();
  RunFor(Minutes(1));
  const size_t patches = Patches().size();
  EXPECT_GE(patches, 4u);
  EXPECT_LE(patches, 8u) << "of reports every ten seconds, and one at once for the change";
  EXPECT_EQ(api_.Count(ApiVerb::kGet, "nodes"), 0);
  api_.fate = [](const sync::ApiRequest&) { return Serve(); };
  RunFor(Seconds(11));
  EXPECT_TRUE(Condition("MemoryPressure").starts_with("True"));
}

// Where no plugin has registered since, the scheduler must not count on what one had.
TEST_F(NodeManagerTest, DevicesOfAnEarlierAgentAreNotAdvertised) {
  Node old;
  old.mutable_metadata()->set_name("n1");
  (*old.mutable_status()->mutable_capacity())["nvidia.com/gpu"].set_string("8");
  (*old.mutable_status()->mutable_allocatable())["nvidia.com/gpu"].set_string("8");
  api_.Put(old);
  inputs_.inputs.devices.reset_extended = true;
  Start();
  RunFor(Seconds(30));
  EXPECT_EQ(Stored().status().capacity().at("nvidia.com/gpu").string(), "0");
  EXPECT_EQ(Stored().status().allocatable().at("nvidia.com/gpu").string(), "0");
}

TEST_F(NodeManagerTest, AnExistingNodeIsPutRightAndOthersLabelsStay) {
  Node old;
  old.mutable_metadata()->set_name("n1");
  (*old.mutable_metadata()->mutable_labels())["kubernetes.io/hostname"] = "old-name";
  (*old.mutable_metadata()->mutable_labels())["by"] = "admin";
  (*old.mutable_status()->mutable_capacity())["hugepages-2Mi"].set_string("4Mi");
  (*old.mutable_status()->mutable_allocatable())["hugepages-2Mi"].set_string("4Mi");
  api_.Put(old);
  Start();
  RunFor(Seconds(3));
  const Node node = Stored();
  EXPECT_EQ(node.metadata().labels().at("kubernetes.io/hostname"), "host-1");
  EXPECT_EQ(node.metadata().labels().at("by"), "admin");
  EXPECT_EQ(node.metadata().labels().count("team"), 0);
  EXPECT_EQ(node.status().capacity().count("hugepages-2Mi"), 0);
  EXPECT_EQ(node.status().capacity().at("cpu").string(), "4");
}

TEST_F(NodeManagerTest, CreatingMayBeForbiddenWhenTheNodeExists) {
  Node old;
  old.mutable_metadata()->set_name("n1");
  api_.Put(old);
  api_.fate = [](const sync::ApiRequest& request) {
    const bool creates_node =
        request.verb == ApiVerb::kCreate && request.resource.plural == "nodes";
    return creates_node ? Refuse(ErrorCode::kPermission) : Serve();
  };
  inputs_.ready = true;
  Start();
  RunFor(Seconds(3));
  EXPECT_TRUE(Condition("Ready").starts_with("True"));
}

TEST_F(NodeManagerTest, RegistrationIsRepeatedWithGrowingPauses) {
  api_.fate = [](const sync::ApiRequest&) { return Refuse(ErrorCode::kUnavailable); };
  Start();
  RunFor(Minutes(2));
  std::vector<TimePoint> creates;
  for (const auto& each : api_.seen) {
    if (each.request.verb == ApiVerb::kCreate) creates.push_back(each.at);
  }
  ASSERT_GE(creates.size(), 20);
  ASSERT_LE(creates.size(), 25);
  EXPECT_EQ(creates[1] - creates[0], Milliseconds(202));
  EXPECT_EQ(creates.back() - creates[creates.size() - 2], Milliseconds(7002));
}

TEST_F(NodeManagerTest, ACreateWhoseAnswerWasLostIsLookedUp) {
  int sent = 0;
  api_.fate = [&](const sync::ApiRequest& request) {
    return request.verb == ApiVerb::kCreate && request.resource.plural == "nodes" && sent++ == 0
               ? ServeAndLose()
               : Serve();
  };
  Start();
  RunFor(Seconds(3));
  EXPECT_EQ(api_.Count(ApiVerb::kCreate, "nodes"), 1);
  EXPECT_TRUE(manager_->Snapshot().registered);
}

TEST_F(NodeManagerTest, FactsThatCannotBeReadAreReadAgain) {
  facts_.machine_failures = 3;
  Start();
  RunFor(Seconds(2));
  EXPECT_EQ(api_.Count(ApiVerb::kCreate, "nodes"), 0);
  RunFor(Seconds(3));
  EXPECT_EQ(api_.Count(ApiVerb::kCreate, "nodes"), 1);
}

TEST_F(NodeManagerTest, AFileSystemThatAnswersLateIsCountedThen) {
  inputs_.ready = true;
  facts_.machine.root_fs_bytes = 0;
  Start();
  RunFor(Seconds(30));
  EXPECT_EQ(Condition("Ready"),
            "False KubeletNotReady: missing node capacity for resources: ephemeral-storage");
  facts_.machine.root_fs_bytes = 1 << 30;
  RunFor(Seconds(22));
  EXPECT_TRUE(Condition("Ready").starts_with("True"));
}

TEST_F(NodeManagerTest, AnAddressThatChangedIsReportedWithTheNextStatusButOne) {
  inputs_.ready = true;
  Start();
  RunFor(Seconds(30));
  facts_.network.interfaces[0].addresses = {*IpAddress::Parse("10.0.0.9")};
  RunFor(Seconds(22));
  ASSERT_EQ(Stored().status().addresses_size(), 2);
  EXPECT_EQ(Stored().status().addresses(0).address(), "10.0.0.9");
}

TEST_F(NodeManagerTest, ARebootIsToldOnce) {
  Node old;
  old.mutable_metadata()->set_name("n1");
  old.mutable_status()->mutable_nodeinfo()->set_bootid("boot-0");
  api_.Put(old);
  Start();
  RunFor(Seconds(30));
  EXPECT_EQ(std::ranges::count(events_.reasons, "Rebooted"), 1);
  EXPECT_THAT(events_.messages, Contains("Node n1 has been rebooted, boot id: boot-1"));
}

TEST_F(NodeManagerTest, CordonIsToldAsAnEvent) {
  inputs_.ready = true;
  Start();
  RunFor(Seconds(30));
  Node node = Stored();
  node.mutable_spec()->set_unschedulable(true);
  api_.Put(node);
  RunFor(Seconds(11));
  EXPECT_EQ(events_.reasons.back(), "NodeNotSchedulable");
}

TEST_F(NodeManagerTest, WhoWaitsForTheNodesWatchIsTold) {
  Start();
  int told = 0;
  manager_->cache().WhenSynced([&] { ++told; });
  EXPECT_EQ(told, 0);
  RunFor(Milliseconds(10));
  EXPECT_EQ(told, 1);
  manager_->cache().WhenSynced([&] { ++told; });
  EXPECT_EQ(told, 2);
}

TEST_F(NodeManagerTest, CanGoAtAnyTime) {
  for (int step = 0; step < 60; ++step) {
    inputs_.ready = step % 2 == 0;
    Start();
    RunFor(Milliseconds(7 * step));
    manager_.reset();
    RunFor(Seconds(20));
  }
}

}  // namespace
}  // namespace denselet::node
