#include "sync/core/admission_gate.h"

#include "tests/sync/core/gate_fixture.h"

namespace denselet::sync {
namespace {

TEST_F(AdmissionGateTest, NobodyPassesBeforeTheRuntimeWasListed) {
  Add("a");
  Pass();
  EXPECT_EQ(shards_.Take(), "");
  EXPECT_FALSE(gate_->SourcesReady(0));
  Open();
  EXPECT_FALSE(gate_->is_open() && gate_->waiting() == 0);
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; ");
  EXPECT_TRUE(gate_->SourcesReady(0));
}

TEST_F(AdmissionGateTest, ThoseThatWaitAreToldInParts) {
  for (const char* const uid : {"b", "a", "c"}) Add(uid);
  const auto waiting_after = [this](const std::string& uid, size_t max) {
    std::string uids;
    for (const PodIdentity& pod : gate_->WaitingAfter(PodUid(uid), max)) uids += pod.uid.value();
    return uids;
  };
  EXPECT_EQ(waiting_after("", 2), "ab");
  EXPECT_EQ(waiting_after("b", 2), "c");
  EXPECT_EQ(waiting_after("c", 2), "");
  Open();
  Pass();
  EXPECT_EQ(waiting_after("", 3), "") << "they are the shards' now";
}

TEST_F(AdmissionGateTest, OneThatDoesNotFitIsForwardedWithItsRejection) {
  Open();
  Add("a", "1500m");
  Add("b", "1500m");
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; add b OutOfcpu; ");
  EXPECT_EQ(events_, "b OutOfcpu; ");
  // Every later wish of it says so, too; and what had stopped makes room.
  ASSERT_TRUE(Wish(WishKind::kChange, SimplePod("b", "1500m")));
  EXPECT_EQ(shards_.Take(), "change b OutOfcpu; ");
  gate_->OnPodStopped(PodUid("a"));
  Add("c", "1500m");
  Pass();
  EXPECT_EQ(shards_.Take(), "add c; ");
}

TEST_F(AdmissionGateTest, WhatRunsIsAdoptedWhateverTheNodeHas) {
  Open({"a", "b"});
  Add("a", "1500m");
  Add("b", "1500m");
  EXPECT_FALSE(gate_->SourcesReady(0)) << "they would count as orphans";
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; add b; ");
  EXPECT_TRUE(gate_->SourcesReady(0));
  EXPECT_EQ(desk->bookings().Used("cpu"), 3000);
}

TEST_F(AdmissionGateTest, WhatRanAndComesBackAfterItsEndIsNotAdopted) {
  Open({"a"});
  Add("a", "1500m");
  Pass();
  ASSERT_TRUE(Wish(WishKind::kGone, SimplePod("a", "1500m")));
  gate_->OnPodStopped(PodUid("a"));
  EXPECT_FALSE(gate_->OnPodGone(PodUid("a")));
  Add("b", "1500m");
  Add("a", "1500m");
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; gone a; add b; add a OutOfcpu; ");
}

// A static pod was removed and has stopped; what it had was given to another, and then the agent
// was restarted and the manifest is back. Pods of the API server go on: one whose containers have
// all ended has its end still to be told.
TEST_F(AdmissionGateTest, OfWhichOnlyDeadThingsAreLeftAStaticPodIsDecidedAnew) {
  const auto listed = [](const std::string& uid) {
    return ListedPod{.pod = {.ref = {}, .uid = PodUid(uid)},
                     .sandboxes = {{.state = SandboxState::kNotReady}},
                     .containers = {{.name = "app", .state = ContainerState::kExited}}};
  };
  std::vector<ListedPod> pods = {listed("a"), listed("b"), listed("c"), listed("d")};
  pods[2].sandboxes[0].state = SandboxState::kReady;
  pods[3].containers[0].state = ContainerState::kUnknown;
  gate_->OnJournalRead();
  gate_->OnListed(0, pods);
  Add("a", "5");
  ASSERT_TRUE(Wish(WishKind::kAdd, StaticPod("b", "5")));
  ASSERT_TRUE(Wish(WishKind::kAdd, StaticPod("c", "5")));
  ASSERT_TRUE(Wish(WishKind::kAdd, StaticPod("d", "5")));
  EXPECT_FALSE(gate_->SourcesReady(0)) << "they would count as orphans";
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; add c; add d; add b UnexpectedAdmissionError; ");
}

// The same of one that the journal has: it had left, but had not gone when the agent died.
TEST_F(AdmissionGateTest, AStaticPodThatHadLeftAndStoppedIsDecidedAnew) {
  Open();
  ASSERT_TRUE(Wish(WishKind::kAdd, StaticPod("s", "1500m")));
  Pass();
  ASSERT_TRUE(Wish(WishKind::kGone, StaticPod("s", "1500m")));
  Add("b", "1500m");
  Pass();
  EXPECT_EQ(shards_.Take(), "add s; gone s; add b; ");
  gate_.reset();
  PowerCut();
  NewGate();
  Open({"b", "s"});  // nothing of them runs
  Add("b", "1500m");
  ASSERT_TRUE(Wish(WishKind::kAdd, StaticPod("s", "1500m")));
  Pass();
  EXPECT_EQ(shards_.Take(), "add b; ");
  EXPECT_EQ(StageOf("s"), AdmissionDesk::Stage::kPreempting);
}

TEST_F(AdmissionGateTest, OnlyTheNewestWishIsForwarded) {
  Open();
  plugin.holds = true;
  Add("a");
  ASSERT_TRUE(Wish(WishKind::kChange, SimplePod("a", "1", "  hostNetwork: true")));
  Pass();
  plugin.held.begin()->second(std::nullopt);
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; ");
}

TEST_F(AdmissionGateTest, GoneWhileItIsDecidedItHoldsNothing) {
  Open();
  plugin.holds = true;
  Add("a");
  Pass();
  ASSERT_TRUE(Wish(WishKind::kGone, SimplePod("a", "1")));
  EXPECT_EQ(shards_.Take(), "gone a; ") << "the runtime may have something of it";
  plugin.held.begin()->second(std::nullopt);
  Pass();
  EXPECT_EQ(shards_.Take(), "");
  EXPECT_EQ(desk->size(), 0U);
  EXPECT_FALSE(gate_->OnPodGone(PodUid("a")));
}

TEST_F(AdmissionGateTest, OneThatIsToGoOrHasEndedIsNotAskedAbout) {
  Open();
  ASSERT_TRUE(Wish(WishKind::kAdd, DeletedPod("a")));
  ASSERT_TRUE(Wish(WishKind::kAdd, SimplePod("b", "9") + "\nstatus: {phase: Failed}"));
  EXPECT_EQ(shards_.Take(), "add a; add b; ");
  plugin.holds = true;
  Add("c");
  Pass();
  ASSERT_TRUE(Wish(WishKind::kChange, DeletedPod("c")));
  EXPECT_EQ(shards_.Take(), "change c; ");
  EXPECT_EQ(desk->size(), 0U);
}

TEST_F(AdmissionGateTest, ComingBackWhileItEndsItIsDecidedAnewWhenItIsGone) {
  Open();
  Add("a", "1500m");
  Pass();
  ASSERT_TRUE(Wish(WishKind::kGone, SimplePod("a", "1500m")));
  Add("a", "1500m");
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; gone a; ");
  gate_->OnPodStopped(PodUid("a"));
  EXPECT_TRUE(gate_->OnPodGone(PodUid("a"))) << "its name is not free";
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; ");
  EXPECT_EQ(desk->bookings().Used("cpu"), 1500);
}

TEST_F(AdmissionGateTest, AFullMailboxIsTriedAgain) {
  Open();
  shards_.full = true;
  Add("a");
  Pass();
  EXPECT_FALSE(Wish(WishKind::kGone, SimplePod("a", "1"))) << "the dispatcher keeps it";
  shards_.full = false;
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; ");
}

TEST_F(AdmissionGateTest, AfterARestartAdmissionsOfPodsThatAreNoMoreAreGivenBack) {
  Open();
  Add("stays");
  Add("vanished", "500m");
  Add("orphan", "500m");
  Pass();
  gate_.reset();
  Restart();
  NewGate();
  Open({"stays", "orphan"});
  Add("stays");
  Pass();
  EXPECT_EQ(desk->bookings().Used("cpu"), 2000);
  EXPECT_TRUE(gate_->SourcesReady(0));
  EXPECT_EQ(desk->bookings().Used("cpu"), 1000);
  EXPECT_TRUE(desk->bookings().Has(PodUid("orphan"))) << "it runs, and has its ports";
  EXPECT_FALSE(desk->bookings().Has(PodUid("vanished")));
  Open({"stays"});  // the orphan is gone, whoever ended it
  EXPECT_FALSE(desk->bookings().Has(PodUid("orphan")));
}

// As upstream: whoever binds pods to this node counts it no more.
TEST_F(AdmissionGateTest, TheRoomOfOneThatItsSourceHasDroppedIsFreeWhileItStillStops) {
  Open();
  Add("a", "1500m");
  Pass();
  ASSERT_TRUE(Wish(WishKind::kGone, SimplePod("a", "1500m")));
  Add("b", "1500m");
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; gone a; add b; ");
  gate_->OnPodStopped(PodUid("a"));
  EXPECT_EQ(desk->bookings().Used("cpu"), 1500) << "what b has is not given back with it";
}

// "a" has most of the node and its shard hears nothing; that it is gone lets "b" in all the same.
class FullShardTest : public AdmissionGateTest {
 protected:
  void ExpectRoomOfDroppedIsFree() {
    EXPECT_FALSE(Wish(WishKind::kGone, SimplePod("a", "1500m"))) << "the dispatcher keeps it";
    Add("b", "1500m");
    Pass();
    shards_.full = false;
    Pass();
    EXPECT_EQ(shards_.Take(), "add a; add b; ");
  }
};

TEST_F(FullShardTest, TheRoomOfOneThatIsDroppedIsFreeBeforeItsShardCanHearOfIt) {
  Open();
  Add("a", "1500m");
  Pass();
  shards_.full = true;
  ExpectRoomOfDroppedIsFree();
}

TEST_F(FullShardTest, TheSameOfOneThatWaitsForItsShard) {
  Open();
  shards_.full = true;
  Add("a", "1500m");
  Pass();
  ExpectRoomOfDroppedIsFree();
}

// What was to be told of it before waits at the dispatcher: that it is gone does not.
TEST_F(AdmissionGateTest, TheSameOfOneWithUnsentWishes) {
  Open();
  PodDispatcher dispatcher(world.loop(0), log, *gate_, 1, {});
  const auto tell = [&dispatcher](PodOp op, const std::string& uid) {
    const PodChange change{op, RefOf(SimplePod(uid, "1500m"))};
    dispatcher.OnPodChanges(SourceKind::kApi, {&change, 1});
  };
  tell(PodOp::kAdd, "a");
  Pass();
  shards_.full = true;
  tell(PodOp::kUpdate, "a");
  EXPECT_EQ(dispatcher.unsent(), 1U);
  tell(PodOp::kRemove, "a");
  EXPECT_EQ(dispatcher.unsent(), 1U);
  tell(PodOp::kAdd, "b");
  Pass();
  shards_.full = false;
  Pass();
  EXPECT_EQ(shards_.Take(), "ready; add a; add b; gone a; ");
  EXPECT_EQ(dispatcher.unsent(), 0U);
}

TEST_F(AdmissionGateTest, OneThatEndsWithGraceKeepsItsRoom) {
  Open();
  Add("a", "1500m");
  Pass();
  ASSERT_TRUE(Wish(WishKind::kChange, DeletedPod("a")));
  Add("b", "1500m");
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; change a; add b OutOfcpu; ");
}

TEST_F(AdmissionGateTest, ThePortOfOneThatIsDroppedIsWaitedFor) {
  Open();
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("a")));
  Pass();
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("too-early")));
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; add too-early NodePorts; ");
  ASSERT_TRUE(Wish(WishKind::kGone, PortPod("a")));
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("b")));
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("c")));
  Pass();
  EXPECT_EQ(shards_.Take(), "gone a; ");
  EXPECT_EQ(StageOf("b"), AdmissionDesk::Stage::kWaitingForRoom);
  gate_->OnPodStopped(PodUid("a"));
  Pass();
  EXPECT_EQ(shards_.Take(), "add b; add c NodePorts; ") << "in their order";
}

TEST_F(AdmissionGateTest, OneThatIsDroppedWhileItWaitsForAPortHoldsUpNobody) {
  Open();
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("a")));
  Pass();
  ASSERT_TRUE(Wish(WishKind::kGone, PortPod("a")));
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("b")));
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("c")));
  Pass();
  ASSERT_TRUE(Wish(WishKind::kGone, PortPod("b")));
  gate_->OnPodStopped(PodUid("a"));
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; gone a; gone b; add c; ");
}

// The API server forgot "a" while no agent ran: it may not cost "b" its life.
TEST_F(AdmissionGateTest, AfterARestartNobodyIsRejectedBeforeItIsKnownWhoIsStillWished) {
  for (const bool wished : {false, true}) {
    SCOPED_TRACE(wished ? "a is wished" : "a was dropped");
    Open();
    Add("a", "1500m");
    Pass();
    gate_.reset();
    Restart();
    NewGate();
    Open({"a"});
    shards_.Take();
    Add("b", "1500m");
    Pass();
    EXPECT_EQ(shards_.Take(), "");
    EXPECT_EQ(StageOf("b"), AdmissionDesk::Stage::kWaitingForRoom);
    if (wished) Add("a", "1500m");
    Pass();
    EXPECT_TRUE(gate_->SourcesReady(0)) << "those that wait are not those that run";
    Pass();
    EXPECT_EQ(shards_.Take(), wished ? "add a; add b OutOfcpu; ready; " : "ready; add b; ");
    for (const char* const uid : {"a", "b"}) {
      (void)Wish(WishKind::kGone, SimplePod(uid, "1500m"));
      gate_->OnPodGone(PodUid(uid));
    }
  }
}

TEST_F(AdmissionGateTest, AfterARestartOneThatEndsWithGraceIsNoLongerInDoubt) {
  Open();
  Add("a", "1500m");
  Pass();
  gate_.reset();
  Restart();
  NewGate();
  ASSERT_TRUE(Wish(WishKind::kAdd, DeletedPod("a")));
  Open({"a"});
  Add("b", "1500m");
  shards_.Take();
  Pass();
  EXPECT_EQ(shards_.Take(), "add b OutOfcpu; ");
}

// It may be the API server itself, that alone could say who is still wished.
TEST_F(AdmissionGateTest, AfterARestartACriticalPodDoesNotWaitForItsSources) {
  Open();
  Add("a", "1500m");
  Pass();
  gate_.reset();
  Restart();
  NewGate();
  Open({"a"});
  ASSERT_TRUE(Wish(WishKind::kAdd, StaticPod("s", "1500m")));
  Pass();
  EXPECT_EQ(StageOf("s"), AdmissionDesk::Stage::kPreempting);
}

// It still runs: its ports are free when its worker says that it has stopped.
TEST_F(AdmissionGateTest, WhatTheJournalHasAndIsGoneBeforeTheListKeepsWhatItHolds) {
  const HostPort port{"0.0.0.0", "TCP", 8080};
  Open();
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("a")));
  Pass();
  for (const bool journal_is_read : {false, true}) {
    gate_.reset();
    Restart();
    NewGate();
    shards_.Take();
    if (journal_is_read) gate_->OnJournalRead();
    ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("a")));
    ASSERT_TRUE(Wish(WishKind::kGone, PortPod("a")));
    EXPECT_EQ(shards_.Take(), "gone a; ");
    Open({"a"});
    Pass();
    EXPECT_TRUE(desk->bookings().IsPortBecomingFree(port));
    EXPECT_EQ(desk->bookings().Used("cpu"), 0);
  }
  gate_->OnPodStopped(PodUid("a"));
  EXPECT_TRUE(desk->bookings().IsPortFree(port));
}

// What a dead agent asked the runtime for may turn up after the list.
TEST_F(AdmissionGateTest, NothingIsAnOrphanBeforeThoseOfTheJournalAreForwarded) {
  Open();
  Add("a");
  Pass();
  gate_.reset();
  Restart();
  NewGate();
  Open();
  shards_.Take();
  Add("a");
  EXPECT_FALSE(gate_->SourcesReady(0));
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; ");
  EXPECT_TRUE(gate_->SourcesReady(0));
}

TEST_F(AdmissionGateTest, ARejectionIsRememberedAndToldOnce) {
  Open();
  Add("a", "9");
  Pass();
  gate_->OnPodStopped(PodUid("a"));
  gate_.reset();
  Restart();
  NewGate();
  shards_.Take();
  Open();
  Add("a", "9");
  Pass();
  EXPECT_EQ(shards_.Take(), "add a OutOfcpu; ");
  EXPECT_EQ(events_, "a OutOfcpu; ");
}

TEST_F(AdmissionGateTest, TwiceInLineItIsAskedAboutOnce) {
  Add("a");
  ASSERT_TRUE(Wish(WishKind::kGone, SimplePod("a", "1")));
  EXPECT_FALSE(gate_->OnPodGone(PodUid("a")));
  Add("a");
  plugin.holds = true;
  Open();
  Pass();
  EXPECT_TRUE(gate_->SourcesReady(0)) << "nobody is in line any more";
}

TEST_F(AdmissionGateTest, WhatStopsBeforeTheJournalIsReadIsGivenBackThen) {
  Open();
  Add("a", "1500m");
  Pass();
  gate_.reset();
  Restart();
  NewGate();
  gate_->OnPodStopped(PodUid("a"));
  EXPECT_EQ(desk->bookings().Used("cpu"), 1500);
  Open();
  EXPECT_EQ(desk->bookings().Used("cpu"), 0);
}

TEST_F(AdmissionGateTest, TheEndOfAnOrphanTakesNothingFromAPodThatIsWishedMeanwhile) {
  Open();
  Add("a");
  gate_->OnOrphanStopped(PodUid("a"));
  EXPECT_TRUE(gate_->OnOrphanGone(PodUid("a"))) << "its name is not free";
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; ");
  gate_->OnOrphanStopped(PodUid("a"));
  EXPECT_TRUE(gate_->OnOrphanGone(PodUid("a"))) << "told before the wish has reached the shard";
  EXPECT_TRUE(gate_->Knows(PodUid("a")));
  ASSERT_TRUE(Wish(WishKind::kGone, SimplePod("a", "1")));
  EXPECT_FALSE(gate_->OnOrphanGone(PodUid("a"))) << "the orphan's worker has taken that wish, too";
  EXPECT_FALSE(gate_->Knows(PodUid("a")));
}

}  // namespace
}  // namespace denselet::sync
