// The gate and pods that end: orphans of an agent before, and those that end for good.
#include "tests/sync/core/gate_fixture.h"

namespace denselet::sync {
namespace {

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
