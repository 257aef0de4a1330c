// The gate and pods that end: orphans of an agent before, and those that end for good.
#include "tests/sync/core/gate_fixture.h"

namespace denselet::sync {
namespace {

class OrphansAtTheGate : public AdmissionGateTest {
 protected:
  // Its file was away while no agent ran: what the journal and the runtime have of it is ended.
  void OrphanOf(const std::string& yaml) {
    Open();
    ASSERT_TRUE(Wish(WishKind::kAdd, yaml));
    Pass();
    gate_.reset();
    Restart();
    NewGate();
    Open({"a"});
    EXPECT_TRUE(gate_->SourcesReady(0));
    shards_.Take();
  }
  const HostPort port_{"0.0.0.0", "TCP", 8080};
};

TEST_F(OrphansAtTheGate, OneThatIsWishedAgainIsDecidedAnewWhenItIsGone) {
  OrphanOf(PortPod("a"));
  EXPECT_FALSE(gate_->WaitsForOrphan(PodUid("a")));
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("a")));
  Pass();
  EXPECT_EQ(shards_.Take(), "") << "what was decided is not decided for its next life";
  EXPECT_TRUE(gate_->WaitsForOrphan(PodUid("a"))) << "somebody must end it";
  gate_->OnOrphanStopped(PodUid("a"));
  EXPECT_TRUE(desk->bookings().IsPortFree(port_));
  EXPECT_TRUE(gate_->OnOrphanGone(PodUid("a"))) << "its name is not free";
  EXPECT_FALSE(gate_->WaitsForOrphan(PodUid("a")));
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; ");
  EXPECT_EQ(desk->bookings().Used("cpu"), 1000) << "what its next life takes counts";
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("b")));
  Pass();
  EXPECT_EQ(shards_.Take(), "add b NodePorts; ") << "nobody waits for what does not go";
}

TEST_F(OrphansAtTheGate, WhoWaitedForItsPortHasItBeforeItsNextLife) {
  OrphanOf(PortPod("a"));
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("b")));
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("a")));
  Pass();
  EXPECT_EQ(shards_.Take(), "");
  gate_->OnOrphanStopped(PodUid("a"));
  Pass();
  EXPECT_TRUE(gate_->OnOrphanGone(PodUid("a")));
  Pass();
  EXPECT_EQ(shards_.Take(), "add b; add a NodePorts; ");
}

TEST_F(OrphansAtTheGate, OneThatIsWishedAgainWhenItHasStoppedIsNotAdopted) {
  OrphanOf(PortPod("a"));
  gate_->OnOrphanStopped(PodUid("a"));
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("b")));
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("a")));
  Pass();
  EXPECT_EQ(shards_.Take(), "add b; add a NodePorts; ");
  EXPECT_TRUE(gate_->OnOrphanGone(PodUid("a"))) << "its name is not free";
}

// No worker may have been made for it: then nobody tells that it is gone, but the next list.
TEST_F(OrphansAtTheGate, OneThatIsWishedAgainIsDecidedWhenTheRuntimeHasItNoMore) {
  OrphanOf(PortPod("a"));
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("a")));
  Pass();
  gate_->OnListed(0, {});
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; ");
  EXPECT_EQ(desk->bookings().Used("cpu"), 1000);
  gate_->OnOrphanStopped(PodUid("a"));
  EXPECT_TRUE(gate_->OnOrphanGone(PodUid("a"))) << "there was one after all";
  EXPECT_EQ(desk->bookings().Used("cpu"), 1000);
}

TEST_F(OrphansAtTheGate, OneThatIsWishedAgainAndDroppedEnds) {
  OrphanOf(PortPod("a"));
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("a")));
  shards_.full = true;
  EXPECT_FALSE(Wish(WishKind::kGone, PortPod("a"))) << "the dispatcher keeps it";
  shards_.full = false;
  ASSERT_TRUE(Wish(WishKind::kGone, PortPod("a")));
  EXPECT_EQ(shards_.Take(), "gone a; ") << "whose worker tells when it is gone";
  EXPECT_FALSE(gate_->WaitsForOrphan(PodUid("a")));
  gate_->OnListed(0, {});
  gate_->OnPodStopped(PodUid("a"));
  EXPECT_FALSE(gate_->OnPodGone(PodUid("a")));
  Pass();
  EXPECT_EQ(shards_.Take(), "");
  EXPECT_EQ(desk->size(), 0U);
  EXPECT_FALSE(gate_->Knows(PodUid("a")));
}

// Nobody had begun to end it, and the next list may be minutes away.
TEST_F(OrphansAtTheGate, OneThatIsWishedAgainIsDecidedAnewWhenALookFindsThatItIsGone) {
  OrphanOf(PortPod("a"));
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("a")));
  gate_->OnVanished(PodUid("a"));
  EXPECT_FALSE(gate_->WaitsForOrphan(PodUid("a")));
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; ");
  gate_->OnVanished(PodUid("a"));  // told late, by way of its worker's look
  Pass();
  EXPECT_EQ(shards_.Take(), "");
  EXPECT_TRUE(desk->bookings().Has(PodUid("a")));
}

// A kubelet ran it, or the journal was lost: the runtime alone knows of it.
class StrangersAtTheGate : public AdmissionGateTest {
 protected:
  StrangersAtTheGate() {
    Open({"a"});
    EXPECT_TRUE(gate_->SourcesReady(0));
    EXPECT_EQ(shards_.Take(), "ready; ");
  }
};

TEST_F(StrangersAtTheGate, OneThatIsWishedAfterAllIsDecidedWhenItIsGone) {
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("a")));
  Pass();
  EXPECT_EQ(shards_.Take(), "") << "its shard is ending it";
  EXPECT_TRUE(gate_->WaitsForOrphan(PodUid("a")));
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("b")));
  Pass();
  EXPECT_EQ(shards_.Take(), "add b; ");
  gate_->OnOrphanStopped(PodUid("a"));
  EXPECT_TRUE(gate_->OnOrphanGone(PodUid("a"))) << "its name is not free";
  Pass();
  EXPECT_EQ(shards_.Take(), "add a NodePorts; ") << "what it had is another's";
}

TEST_F(StrangersAtTheGate, OneThatIsWishedAfterAllIsDecidedWhenTheRuntimeHasItNoMore) {
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("a")));
  gate_->OnListed(0, {});
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; ");
  EXPECT_FALSE(gate_->WaitsForOrphan(PodUid("a")));
}

TEST_F(StrangersAtTheGate, OneThatNobodyWishesIsForgottenWhenItIsGone) {
  gate_->OnOrphanStopped(PodUid("a"));
  EXPECT_FALSE(gate_->OnOrphanGone(PodUid("a")));
  ASSERT_TRUE(Wish(WishKind::kAdd, PortPod("a")));
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; ");
}

TEST_F(AdmissionGateTest, OneThatTheJournalDoesNotKnowIsAdoptedIfItIsWishedInTime) {
  Open({"a"});
  ASSERT_TRUE(Wish(WishKind::kAdd, SimplePod("a", "99")));
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; ");
  EXPECT_TRUE(gate_->SourcesReady(0));
  EXPECT_FALSE(gate_->WaitsForOrphan(PodUid("a")));
}

// Another manifest of a static pod came while no agent ran; the API server may be silent for good,
// as it may be that very pod.
class StaticPodsAtTheGate : public AdmissionGateTest {
 protected:
  static constexpr SourceSet kFile = {SourceKind::kFile};
  static constexpr SourceSet kHttp = {SourceKind::kHttp};

  static std::string Of(const std::string& yaml, const std::string& uid) {
    std::string named = yaml;
    return named.replace(named.find("name: " + uid), 6 + uid.size(), "name: same");
  }
  static std::string FromFile(const std::string& uid) { return Of(StaticPod(uid, "1"), uid); }
  static std::string FromUrl(const std::string& uid) {
    std::string yaml = FromFile(uid);
    return yaml.replace(yaml.find("source: file"), 12, "source: http");
  }
  static ListedPod Listed(const std::string& uid, SandboxState sandbox) {
    return {.pod = {.ref = {}, .uid = PodUid(uid)}, .sandboxes = {{.state = sandbox}}};
  }
  // An agent before had it and an API pod; the runtime has so much of them now.
  void HadBefore(const std::string& yaml, std::vector<ListedPod> listed) {
    Open();
    ASSERT_TRUE(Wish(WishKind::kAdd, yaml));
    Add("of-the-server", "100m");
    Pass();
    gate_.reset();
    Restart();
    NewGate();
    gate_->OnJournalRead();
    gate_->OnListed(0, listed);
    shards_.Take();
  }
  bool Books(const std::string& uid) { return desk->bookings().Has(PodUid(uid)); }
};

TEST_F(StaticPodsAtTheGate, OneThatRunsEndsAndAnotherOfItsNameFollows) {
  HadBefore(FromFile("a"), {Listed("a", SandboxState::kReady)});
  ASSERT_TRUE(Wish(WishKind::kAdd, FromFile("b")));
  Pass();
  EXPECT_EQ(shards_.Take(), "") << "a file may still tell of it";
  gate_->OnSpoken(kFile);
  Pass();
  EXPECT_EQ(shards_.Take(), "end a; ");
  EXPECT_TRUE(desk->bookings().IsGoing(PodUid("a")));
  gate_->OnOrphanStopped(PodUid("a"));
  Pass();
  EXPECT_EQ(shards_.Take(), "add b; ");
  EXPECT_FALSE(gate_->OnOrphanGone(PodUid("a")));
  EXPECT_TRUE(Books("of-the-server")) << "nobody has said that it is no more";
}

TEST_F(StaticPodsAtTheGate, OneThatIsDeadOrGoneIsNotWaitedFor) {
  for (const bool dead : {true, false}) {
    SCOPED_TRACE(dead);
    std::vector<ListedPod> listed;
    if (dead) listed.push_back(Listed("a", SandboxState::kNotReady));
    HadBefore(FromFile("a"), listed);
    ASSERT_TRUE(Wish(WishKind::kAdd, FromFile("b")));
    gate_->OnSpoken(kFile);
    Pass();
    EXPECT_EQ(shards_.Take(), "add b; ");
    EXPECT_FALSE(Books("a"));
    gate_->OnPodGone(PodUid("b"));
    gate_->OnPodGone(PodUid("of-the-server"));
    Pass();
    gate_.reset();
    Restart();
    NewGate();
  }
}

TEST_F(StaticPodsAtTheGate, OnlyItsOwnSourceCanHaveDroppedIt) {
  HadBefore(FromUrl("a"), {Listed("a", SandboxState::kReady)});
  gate_->OnSpoken(kFile);
  Pass();
  EXPECT_EQ(shards_.Take(), "");
  gate_->OnSpoken(kHttp);
  EXPECT_EQ(shards_.Take(), "end a; ");
}

TEST_F(StaticPodsAtTheGate, WhatItsSourceStillHasGoesOn) {
  HadBefore(FromFile("a"), {Listed("a", SandboxState::kReady)});
  ASSERT_TRUE(Wish(WishKind::kAdd, FromFile("a")));
  gate_->OnSpoken(kFile);
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; ");
  gate_->OnListed(0, {Listed("a", SandboxState::kReady)});
  EXPECT_EQ(shards_.Take(), "");
}

TEST_F(StaticPodsAtTheGate, SpokenBeforeTheGateOpensCountsAsMuch) {
  Open();
  ASSERT_TRUE(Wish(WishKind::kAdd, FromFile("a")));
  Pass();
  gate_.reset();
  Restart();
  NewGate();
  gate_->OnSpoken(kFile);
  gate_->OnJournalRead();
  shards_.Take();
  gate_->OnListed(0, {Listed("a", SandboxState::kReady)});
  EXPECT_EQ(shards_.Take(), "end a; ");
  gate_->OnListed(0, {Listed("a", SandboxState::kReady)});
  EXPECT_EQ(shards_.Take(), "end a; ") << "should its shard not have got to it";
}

TEST_F(StaticPodsAtTheGate, OneThatIsWishedAgainAfterAllIsDecidedWhenItIsGone) {
  HadBefore(FromFile("a"), {Listed("a", SandboxState::kReady)});
  gate_->OnSpoken(kFile);
  EXPECT_EQ(shards_.Take(), "end a; ");
  ASSERT_TRUE(Wish(WishKind::kAdd, FromFile("a")));
  Pass();
  EXPECT_TRUE(gate_->WaitsForOrphan(PodUid("a")));
  gate_->OnOrphanStopped(PodUid("a"));
  EXPECT_TRUE(gate_->OnOrphanGone(PodUid("a")));
  Pass();
  EXPECT_EQ(shards_.Take(), "add a; ");
}

class EndedPodsAtTheGate : public AdmissionGateTest {
 protected:
  static constexpr const char* kCpu = "1500m";

  // It ran, was ended for good and had stopped; others have what it had. Then the agent died.
  void EndAndRestart() {
    Open();
    Add("a", kCpu);
    Pass();
    EndNow("a");
    gate_->OnPodStopped(PodUid("a"));
    Add("b", kCpu);
    Pass();
    EXPECT_EQ(shards_.Take(), "add a; add b; ");
    gate_.reset();
    PowerCut();
    NewGate();
  }
  void EndNow(const std::string& uid) {
    desk->ends().Record({.pod = {.ref = {"default", uid}, .uid = PodUid(uid)},
                         .ending = {.reason = EndReason::kKilled,
                                    .outcome = PodOutcome::kFailed,
                                    .status_reason = "Evicted"}});
  }
};

TEST_F(EndedPodsAtTheGate, TheNextAgentIsToldWithTheWishAndAsksNobody) {
  EndAndRestart();
  Open({"a", "b"});  // what is left of it
  Add("a", kCpu);
  Add("b", kCpu);
  Pass();
  EXPECT_EQ(shards_.Take(), "add a ends Evicted; add b; ");
  EXPECT_EQ(desk->bookings().Used("cpu"), 1500) << "it holds nothing any more";
  EXPECT_EQ(events_, "");
  ASSERT_TRUE(Wish(WishKind::kChange, SimplePod("a", kCpu)));
  EXPECT_EQ(shards_.Take(), "change a ends Evicted; ");
}

TEST_F(EndedPodsAtTheGate, NorIsItRejectedWhenTheRuntimeHasNothingOfIt) {
  EndAndRestart();
  Open({"b"});
  Add("b", kCpu);
  Add("a", kCpu);
  Pass();
  EXPECT_EQ(shards_.Take(), "add a ends Evicted; add b; ");
}

TEST_F(EndedPodsAtTheGate, WhatItHasItKeepsUntilItHasStopped) {
  Open();
  Add("a", kCpu);
  Pass();
  EndNow("a");
  Pass();
  gate_.reset();
  PowerCut();
  NewGate();
  Open({"a"});
  Add("a", kCpu);
  Pass();
  EXPECT_EQ(desk->bookings().Used("cpu"), 1500);
  gate_->OnPodStopped(PodUid("a"));
  EXPECT_EQ(desk->bookings().Used("cpu"), 0);
}

TEST_F(EndedPodsAtTheGate, WhatComesBackUnderItsUidIsAnotherOne) {
  EndAndRestart();
  Open({"a"});
  Add("a", "100m");
  Pass();
  ASSERT_TRUE(Wish(WishKind::kGone, SimplePod("a", "100m")));
  ASSERT_TRUE(Wish(WishKind::kAdd, SimplePod("a", "100m")));
  EXPECT_TRUE(gate_->OnPodGone(PodUid("a")));
  Pass();
  EXPECT_EQ(shards_.Take(), "add a ends Evicted; gone a; add a; ");
}

TEST_F(EndedPodsAtTheGate, OneThatWentWhileNoAgentRanIsForgotten) {
  EndAndRestart();
  Open({"b"});
  Add("b", kCpu);
  Pass();
  EXPECT_TRUE(gate_->SourcesReady(0));
  EXPECT_EQ(desk->ends().Find(PodUid("a")), nullptr);
  gate_.reset();
  Pass();
  PowerCut();
  EXPECT_EQ(desk->ends().Find(PodUid("a")), nullptr);
}

TEST_F(EndedPodsAtTheGate, OneThatIsGoneBeforeTheJournalIsReadIsForgottenThen) {
  EndAndRestart();
  ASSERT_TRUE(Wish(WishKind::kGone, SimplePod("a", kCpu)));
  EXPECT_FALSE(gate_->OnPodGone(PodUid("a")));
  Open();
  EXPECT_EQ(desk->ends().Find(PodUid("a")), nullptr);
}

TEST_F(EndedPodsAtTheGate, AnEndThatWasDecidedWhileItsWishWaitedIsToldWithIt) {
  Open();
  shards_.full = true;
  Add("a", kCpu);
  Pass();
  EndNow("a");
  shards_.full = false;
  Pass();
  EXPECT_EQ(shards_.Take(), "add a ends Evicted; ");
}

}  // namespace
}  // namespace denselet::sync
