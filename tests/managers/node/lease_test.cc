#include "managers/node/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/managers/manager_fixture.h"

namespace denselet::node {
namespace {

using sync::ApiVerb;
using sync::coordination::Lease;
using Stage = LeaseRenewer::Stage;
using tests::Hang;
using tests::Refuse;
using tests::Serve;
using tests::ServeAndLose;

const ObjectRef kLease{"kube-node-lease", "n1"};

class LeaseTest : public tests::ManagerTest {
 protected:
  void PutNode() {
    kube::core::Node node;
    node.mutable_metadata()->set_name("n1");
    node.mutable_metadata()->set_uid("node-uid");
    api_.Put(node);
  }
  void Start() { lease_.Start(); }
  // Of requests for leases.
  std::vector<TimePoint> TimesOf(ApiVerb verb) {
    std::vector<TimePoint> times;
    for (const auto& each : api_.seen) {
      if (each.request.resource.plural == "leases" && each.request.verb == verb) {
        times.push_back(each.at);
      }
    }
    return times;
  }

  LeaseRenewer lease_{world_.loop(0), random_, log(), api_, {.node_name = "n1"}};
};

TEST_F(LeaseTest, IsCreatedWithTheNodeAsItsOwner) {
  PutNode();
  Start();
  RunFor(Seconds(1));
  const std::optional<Lease> lease = api_.Find<Lease>(kLease);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->spec().holderidentity(), "n1");
  EXPECT_EQ(lease->spec().leasedurationseconds(), 40);
  EXPECT_EQ(lease->spec().renewtime().seconds(), ToTimestamp(loop().WallNow()).seconds - 1);
  ASSERT_EQ(lease->metadata().ownerreferences_size(), 1);
  const auto& owner = lease->metadata().ownerreferences(0);
  EXPECT_EQ(owner.apiversion() + "/" + owner.kind() + "/" + owner.name() + "/" + owner.uid(),
            "v1/Node/n1/node-uid");
  EXPECT_FALSE(owner.has_controller());
  EXPECT_EQ(lease_.stage(), Stage::kResting);
}

TEST_F(LeaseTest, IsRenewedEveryQuarterOfItsDurationWithoutAGet) {
  PutNode();
  Start();
  RunFor(Minutes(10));
  EXPECT_EQ(TimesOf(ApiVerb::kGet).size(), 1);
  const std::vector<TimePoint> updates = TimesOf(ApiVerb::kUpdate);
  ASSERT_GE(updates.size(), 57);
  ASSERT_LE(updates.size(), 60);
  for (size_t i = 1; i < updates.size(); ++i) {
    const Duration between = updates[i] - updates[i - 1];
    EXPECT_GE(between, Seconds(10));
    EXPECT_LE(between, Milliseconds(10'405));
  }
}

TEST_F(LeaseTest, GoesAsHeartbeatAheadOfAllElse) {
  PutNode();
  Start();
  RunFor(Seconds(30));
  ASSERT_FALSE(api_.seen.empty());
  for (const auto& each : api_.seen) {
    EXPECT_EQ(each.request.traffic, sync::ApiTraffic::kHeartbeat);
    EXPECT_EQ(each.context.priority, Priority::kCritical);
    EXPECT_EQ(each.context.deadline, After(each.at, Seconds(10)));
  }
}

TEST_F(LeaseTest, IsNotCreatedBeforeThereIsANode) {
  Start();
  RunFor(Seconds(5));
  EXPECT_FALSE(api_.Find<Lease>(kLease));
  EXPECT_EQ(TimesOf(ApiVerb::kCreate).size(), 0);
  PutNode();
  RunFor(LeaseRenewer::kPauseMax);
  EXPECT_TRUE(api_.Find<Lease>(kLease));
}

TEST_F(LeaseTest, IsThereSoonAfterTheNodeOfAFirstStart) {
  Start();
  RunFor(Milliseconds(150));
  PutNode();
  RunFor(Milliseconds(100));
  EXPECT_TRUE(api_.Find<Lease>(kLease));
}

TEST_F(LeaseTest, TakesOverOneThatIsThereAndKeepsItsOwner) {
  PutNode();
  Lease old;
  old.mutable_metadata()->set_name("n1");
  old.mutable_metadata()->set_namespace_("kube-node-lease");
  old.mutable_spec()->set_holderidentity("n1");
  old.mutable_spec()->set_leasedurationseconds(10);
  old.mutable_metadata()->add_ownerreferences()->set_uid("other");
  api_.Put(old);
  Start();
  RunFor(Seconds(1));
  const Lease lease = *api_.Find<Lease>(kLease);
  EXPECT_EQ(lease.spec().leasedurationseconds(), 40);
  EXPECT_EQ(lease.metadata().ownerreferences(0).uid(), "other");
  EXPECT_EQ(api_.Count(ApiVerb::kGet, "nodes"), 0);
}

TEST_F(LeaseTest, GivesAnOwnerToOneThatHasNone) {
  PutNode();
  Lease old;
  old.mutable_metadata()->set_name("n1");
  old.mutable_metadata()->set_namespace_("kube-node-lease");
  api_.Put(old);
  Start();
  RunFor(Seconds(1));
  EXPECT_EQ(api_.Find<Lease>(kLease)->metadata().ownerreferences(0).uid(), "node-uid");
}

TEST_F(LeaseTest, AConflictIsAnsweredByReadingItAgain) {
  PutNode();
  Start();
  RunFor(Seconds(1));
  Lease changed = *api_.Find<Lease>(kLease);
  (*changed.mutable_metadata()->mutable_labels())["by"] = "other";
  api_.Put(changed);
  RunFor(Seconds(11));
  const Lease lease = *api_.Find<Lease>(kLease);
  EXPECT_EQ(lease.metadata().labels().at("by"), "other");
  EXPECT_EQ(TimesOf(ApiVerb::kGet).size(), 2);
  EXPECT_EQ(TimesOf(ApiVerb::kUpdate).size(), 2);
  EXPECT_EQ(lease_.stage(), Stage::kResting);
}

TEST_F(LeaseTest, AnUpdateWhoseAnswerWasLostIsNotRepeatedBlindly) {
  PutNode();
  Start();
  RunFor(Seconds(1));
  int lost = 0;
  api_.fate = [&](const sync::ApiRequest& request) {
    return request.verb == ApiVerb::kUpdate && lost++ == 0 ? ServeAndLose() : Serve();
  };
  RunFor(Seconds(11));
  // In vain, because it had taken effect; then read, then renewed.
  EXPECT_EQ(TimesOf(ApiVerb::kUpdate).size(), 3);
  EXPECT_EQ(TimesOf(ApiVerb::kGet).size(), 2);
  EXPECT_EQ(lease_.stage(), Stage::kResting);
}

TEST_F(LeaseTest, IsMadeAgainWhenSomebodyRemovedIt) {
  PutNode();
  Start();
  RunFor(Seconds(1));
  api_.Remove<Lease>(kLease);
  RunFor(Seconds(11));
  EXPECT_TRUE(api_.Find<Lease>(kLease));
}

TEST_F(LeaseTest, AServerThatIsAwayIsAskedLessAndLess) {
  PutNode();
  Start();
  RunFor(Seconds(1));
  api_.fate = [](const sync::ApiRequest&) { return Refuse(ErrorCode::kUnavailable); };
  api_.seen.clear();
  RunFor(Minutes(5));
  // Five quick tries, then reading with pauses up to seven seconds.
  EXPECT_EQ(TimesOf(ApiVerb::kUpdate).size(), 5);
  EXPECT_EQ(api_.idle_drops, 4) << "from the second in vain on";
  EXPECT_LE(TimesOf(ApiVerb::kGet).size(), 5 * 60 / 7 + 8);
  EXPECT_EQ(lease_.stage(), Stage::kPausing);
  api_.fate = [](const sync::ApiRequest&) { return Serve(); };
  const TimePoint back = now();
  RunFor(Seconds(8));
  EXPECT_GT(lease_.renewed_at(), back);
}

TEST_F(LeaseTest, AServerThatDoesNotAnswerIsAskedAgainAtOnceWhenTheTimeIsUp) {
  PutNode();
  Start();
  RunFor(Seconds(1));
  api_.fate = [](const sync::ApiRequest&) { return Hang(); };
  RunFor(Minutes(5));
  const std::vector<TimePoint> gets = TimesOf(ApiVerb::kGet);
  ASSERT_GE(gets.size(), 20);
  for (size_t i = 2; i < gets.size(); ++i) {
    EXPECT_LE(gets[i] - gets[i - 1], Milliseconds(10'005)) << "a pause in which nobody asks";
  }
}

TEST_F(LeaseTest, AServerThatAsksForTimeIsGivenIt) {
  PutNode();
  Start();
  RunFor(Seconds(1));
  api_.fate = [](const sync::ApiRequest&) { return Refuse(ErrorCode::kOverloaded); };
  api_.seen.clear();
  RunFor(Minutes(2));
  const std::vector<TimePoint> updates = TimesOf(ApiVerb::kUpdate);
  EXPECT_EQ(TimesOf(ApiVerb::kGet).size(), 0) << "what is known will do";
  ASSERT_GE(updates.size(), 5);
  EXPECT_LE(updates.size(), 2 * 60 / 7 + 8);
  Duration pause = 2 * LeaseRenewer::kPauseMin;
  for (size_t i = 1; i < updates.size(); ++i) {
    EXPECT_GE(updates[i] - updates[i - 1], pause) << i;
    pause = std::min(2 * pause, LeaseRenewer::kPauseMax);
  }
  EXPECT_EQ(api_.idle_drops, 0) << "connections that bring answers";
  api_.fate = [](const sync::ApiRequest&) { return Serve(); };
  const TimePoint back = now();
  RunFor(Seconds(8));
  EXPECT_GT(lease_.renewed_at(), back);
  EXPECT_EQ(lease_.stage(), Stage::kResting);
}

TEST_F(LeaseTest, RefusedRenewalsDoNotSpin) {
  PutNode();
  Start();
  RunFor(Seconds(1));
  api_.fate = [](const sync::ApiRequest& request) {
    return request.verb == ApiVerb::kUpdate ? Refuse(ErrorCode::kPermission) : Serve();
  };
  api_.seen.clear();
  RunFor(Minutes(1));
  EXPECT_LE(api_.seen.size(), 6 * 11 + 11);
}

TEST_F(LeaseTest, CanGoWhileARequestIsUnderWay) {
  PutNode();
  auto lease =
      std::make_unique<LeaseRenewer>(loop(), random_, log(), api_, LeaseOptions{.node_name = "n1"});
  lease->Start();
  RunFor(Milliseconds(1));
  lease.reset();
  RunFor(Minutes(1));
  EXPECT_FALSE(api_.Find<Lease>(kLease));
}

}  // namespace
}  // namespace denselet::node
