#include "sync/admission/admission_desk.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/sync/admission/desk_fixture.h"

namespace denselet::sync {
namespace {

using Stage = AdmissionDesk::Stage;

class AdmissionDeskTest : public testing::Test, protected DeskHouse {
 protected:
  AdmissionDeskTest() : DeskHouse(21) { Pass(); }

  static std::string StaticPod(const std::string& uid, const std::string& name,
                               const std::string& cpu = "100m") {
    return "metadata: {name: " + name + ", namespace: ns, uid: " + uid +
           ", annotations: {kubernetes.io/config.source: file}}\n"
           "spec: {terminationGracePeriodSeconds: 30, containers: [{name: c, resources: {requests: "
           "{cpu: '" +
           cpu + "'}}}]}";
  }
};

TEST_F(AdmissionDeskTest, ADecisionIsDurableBeforeItIsTold) {
  disk.faults().read_only = true;
  ASSERT_TRUE(Ask(SimplePod("a", "1")));
  Pass(Seconds(10));
  EXPECT_TRUE(answers.empty());
  EXPECT_EQ(StageOf("a"), Stage::kJournalling);
  EXPECT_EQ(desk->bookings().Used("cpu"), 1000) << "booked when it is made";
  disk.faults().read_only = false;
  Pass(Minutes(1));
  EXPECT_EQ(answers["a"], "admitted");
}

TEST_F(AdmissionDeskTest, WhatComesFirstIsServedFirst) {
  ASSERT_TRUE(Ask(SimplePod("a", "1500m")));
  ASSERT_TRUE(Ask(SimplePod("b", "1")));
  ASSERT_TRUE(Ask(SimplePod("c", "500m")));
  Pass();
  EXPECT_EQ(answers["a"], "admitted");
  EXPECT_EQ(answers["b"], "OutOfcpu");
  EXPECT_EQ(answers["c"], "admitted");
}

TEST_F(AdmissionDeskTest, ASlowPluginHoldsItsOwnPodOnly) {
  plugin.holds = true;
  ASSERT_TRUE(Ask(SimplePod("slow", "1500m")));
  plugin.holds = false;
  ASSERT_TRUE(Ask(SimplePod("quick", "1500m")));
  Pass();
  EXPECT_EQ(answers["quick"], "admitted");
  EXPECT_EQ(StageOf("slow"), Stage::kAskingPlugins);
  plugin.held.at(PodUid("slow"))(std::nullopt);
  Pass();
  EXPECT_EQ(answers["slow"], "OutOfcpu");
  EXPECT_EQ(plugin.released, "slow ") << "what it set aside is given back";
}

TEST_F(AdmissionDeskTest, APluginsWordIsTheRejection) {
  plugin.answer = Rejection{"TopologyAffinityError", "Resources cannot be allocated"};
  ASSERT_TRUE(Ask(SimplePod("a", "1")));
  Pass();
  EXPECT_EQ(answers["a"], "TopologyAffinityError");
  EXPECT_EQ(desk->bookings().pods(), 0);
}

TEST_F(AdmissionDeskTest, AfterARestartDecisionsAreAdoptedAndNeverMadeAgain) {
  ASSERT_TRUE(Ask(SimplePod("a", "1500m")));
  ASSERT_TRUE(Ask(SimplePod("b", "1500m")));
  Pass();
  PowerCut();
  Pass();
  EXPECT_EQ(desk->bookings().Used("cpu"), 1500);
  EXPECT_EQ(desk->Unclaimed().size(), 2u);
  // The node has changed; the decisions have not.
  desk->SetNode(NodeOf("metadata: {name: here}\nstatus: {allocatable: {cpu: 100, pods: 1}}"));
  answers.clear();
  ASSERT_TRUE(Ask(SimplePod("b", "1500m")));
  ASSERT_TRUE(Ask(SimplePod("a", "1500m")));
  Pass();
  EXPECT_EQ(answers["a"], "admitted (adopted)");
  EXPECT_EQ(answers["b"], "OutOfcpu (adopted)");
  EXPECT_TRUE(desk->Unclaimed().empty());
}

TEST_F(AdmissionDeskTest, WhatWasReleasedIsNotAdopted) {
  ASSERT_TRUE(Ask(SimplePod("a", "1500m")));
  Pass();
  desk->Release(PodUid("a"));
  Pass();
  PowerCut();
  Pass();
  EXPECT_EQ(desk->size(), 0u);
  EXPECT_EQ(desk->bookings().pods(), 0);
  ASSERT_TRUE(Ask(SimplePod("a", "1500m")));
  Pass();
  EXPECT_EQ(answers["a"], "admitted, then admitted");
}

TEST_F(AdmissionDeskTest, PluginsHearOfTheEndOfWhatWasAdopted) {
  ASSERT_TRUE(Ask(SimplePod("a", "1")));
  Pass();
  Restart();
  desk->Release(PodUid("a"));  // the journal has not told of it yet
  Pass();
  EXPECT_EQ(plugin.released, "a ");
  EXPECT_EQ(desk->size(), 0u);
}

TEST_F(AdmissionDeskTest, APodThatComesAgainAfterItsReleaseIsKeptInOrder) {
  ASSERT_TRUE(Ask(SimplePod("a", "1")));
  Pass();
  desk->Release(PodUid("a"));
  ASSERT_TRUE(Ask(SimplePod("a", "1")));
  Pass();
  PowerCut();
  Pass();
  EXPECT_EQ(desk->bookings().Used("cpu"), 1000);
}

TEST_F(AdmissionDeskTest, ReleasedWhileItIsDecidedItIsTold) {
  plugin.holds = true;
  ASSERT_TRUE(Ask(SimplePod("a", "1")));
  EXPECT_EQ(Ask(SimplePod("a", "1")).error().code(), ErrorCode::kAlreadyExists);
  desk->Release(PodUid("a"));
  Pass();
  EXPECT_EQ(answers["a"], "error: the pod was released");
  plugin.held.at(PodUid("a"))(std::nullopt);  // too late
  Pass();
  EXPECT_EQ(desk->size(), 0u);
  EXPECT_EQ(answers["a"], "error: the pod was released");
}

TEST_F(AdmissionDeskTest, AfterItsReleaseNobodyIsToldThatItIsAdmitted) {
  ASSERT_TRUE(Ask(SimplePod("a", "1")));
  Pass();
  ASSERT_TRUE(Ask(SimplePod("a", "1")));
  desk->Release(PodUid("a"));
  Pass();
  EXPECT_EQ(answers["a"], "admitted, then error: the pod was released");
}

TEST_F(AdmissionDeskTest, AfterARestartWhatWasReleasedAndTakenAgainCountsAsItWasTaken) {
  ASSERT_TRUE(Ask(SimplePod("kept", "1500m")));
  ASSERT_TRUE(Ask(SimplePod("gone", "1")));
  Pass();
  desk->Release(PodUid("kept"));
  ASSERT_TRUE(Ask(SimplePod("kept", "500m")));
  desk->Release(PodUid("gone"));
  Pass();
  Restart();
  answers.clear();
  ASSERT_TRUE(Ask(SimplePod("kept", "500m")));
  ASSERT_TRUE(Ask(SimplePod("gone", "1")));
  Pass();
  EXPECT_EQ(answers["kept"], "admitted (adopted)");
  EXPECT_EQ(answers["gone"], "admitted");
  EXPECT_EQ(desk->bookings().Used("cpu"), 1500);
}

TEST_F(AdmissionDeskTest, OldLabelsAreLookedUpAgain) {
  ASSERT_TRUE(Ask(SimplePod("a", "1", "  nodeSelector: {zone: b}")));
  Pass();
  EXPECT_EQ(answers["a"], "NodeAffinity") << "the API server is away";
  EXPECT_EQ(nodes.fetches, 1);
  nodes.node = NodeOf(
      "metadata: {name: here, labels: {zone: b}}\nstatus: {allocatable: {cpu: 2, pods: 10}}");
  ASSERT_TRUE(Ask(SimplePod("b", "1", "  nodeSelector: {zone: b}")));
  Pass();
  EXPECT_EQ(answers["b"], "admitted");
  ASSERT_TRUE(Ask(SimplePod("c", "9", "  nodeSelector: {zone: b}")));
  Pass();
  EXPECT_EQ(nodes.fetches, 2) << "not when something else is wrong, too";
}

TEST_F(AdmissionDeskTest, ACriticalPodIsAdmittedWhenOthersHaveMadeRoom) {
  ASSERT_TRUE(Ask(SimplePod("a", "1")));
  ASSERT_TRUE(Ask(SimplePod("b", "1")));
  Pass();
  ASSERT_TRUE(Ask(StaticPod("critical", "dns", "800m")));
  Pass();
  EXPECT_EQ(preemptor.asked, "b ");
  EXPECT_EQ(StageOf("critical"), Stage::kPreempting);
  EXPECT_FALSE(answers.contains("critical"));
  // What is on its way to be free is taken already.
  ASSERT_TRUE(Ask(SimplePod("c", "500m")));
  Pass();
  EXPECT_EQ(answers["c"], "OutOfcpu");
  desk->Release(PodUid("b"));
  Pass();
  EXPECT_EQ(answers["critical"], "admitted");
  EXPECT_EQ(desk->bookings().Used("cpu"), 1800);
}

// What a critical pod does not need of it is not free either, and a rejection is for good.
TEST_F(AdmissionDeskTest, WhatStillRunsIsWaitedForByThoseWhoWillHaveWhatIsLeft) {
  ASSERT_TRUE(Ask(SimplePod("a", "2")));
  Pass();
  ASSERT_TRUE(Ask(StaticPod("critical", "dns", "800m")));
  Pass();
  ASSERT_TRUE(Ask(SimplePod("fits", "1")));
  ASSERT_TRUE(Ask(SimplePod("large", "1500m")));
  Pass();
  EXPECT_EQ(StageOf("fits"), Stage::kWaitingForRoom) << "it would run beside a";
  EXPECT_EQ(answers["large"], "OutOfcpu") << "whatever a leaves";
  preemptor.held.at(PodUid("a"))();
  Pass();
  EXPECT_EQ(answers["critical"], "admitted");
  EXPECT_EQ(answers["fits"], "admitted");
  EXPECT_EQ(desk->bookings().Used("cpu"), 1800);
}

TEST_F(AdmissionDeskTest, WhatDoesNotGoInTimeIsWaitedForNoLongerByAnybody) {
  ASSERT_TRUE(Ask(SimplePod("a", "2", "  terminationGracePeriodSeconds: 20\n")));
  Pass();
  ASSERT_TRUE(Ask(StaticPod("critical", "dns", "800m")));
  ASSERT_TRUE(Ask(SimplePod("fits", "1")));
  Pass(Seconds(28));
  EXPECT_FALSE(answers.contains("fits"));
  Pass(Seconds(4));
  EXPECT_EQ(answers["critical"], "admitted");
  EXPECT_EQ(answers["fits"], "admitted");
}

TEST_F(AdmissionDeskTest, ASecondCriticalPodPreemptsWhenTheFirstHasItsRoom) {
  ASSERT_TRUE(Ask(SimplePod("a", "1500m")));
  ASSERT_TRUE(Ask(SimplePod("b", "500m")));
  Pass();
  ASSERT_TRUE(Ask(StaticPod("first", "dns", "600m")));
  Pass();
  EXPECT_EQ(preemptor.asked, "a ");
  ASSERT_TRUE(Ask(StaticPod("second", "proxy", "1")));
  ASSERT_TRUE(Ask(StaticPod("third", "net", "400m")));
  Pass();
  EXPECT_EQ(preemptor.asked, "a ");
  EXPECT_EQ(StageOf("second"), Stage::kWaitingForRoom);
  desk->Release(PodUid("a"));
  Pass();
  EXPECT_EQ(answers["first"], "admitted");
  EXPECT_EQ(preemptor.asked, "a b ");
  EXPECT_EQ(StageOf("second"), Stage::kPreempting);
}

// It would have that room at once, as the one that waits for it does not run; but another does.
TEST_F(AdmissionDeskTest, ACriticalPodDoesNotTakeRoomThatIsStillBeingMadeForAnother) {
  ASSERT_TRUE(Ask(SimplePod("a", "2")));
  Pass();
  ASSERT_TRUE(Ask(SimplePod("first", "2", "  priority: 2000000000\n")));
  Pass();
  ASSERT_TRUE(Ask(SimplePod("second", "2", "  priority: 2000000001\n")));
  Pass();
  EXPECT_EQ(preemptor.asked, "a ");
  EXPECT_EQ(StageOf("second"), Stage::kWaitingForRoom);
  desk->Release(PodUid("first"));
  Pass();
  EXPECT_FALSE(answers.contains("second"));
  EXPECT_EQ(preemptor.asked, "a a ");
  desk->Release(PodUid("a"));
  Pass();
  EXPECT_EQ(answers["second"], "admitted");
}

TEST_F(AdmissionDeskTest, WhatGoesForOneThatIsWantedNoMoreHasItsRoomUntilItHasGone) {
  ASSERT_TRUE(Ask(SimplePod("a", "1")));
  ASSERT_TRUE(Ask(SimplePod("b", "1")));
  Pass();
  ASSERT_TRUE(Ask(StaticPod("critical", "dns", "800m")));
  Pass();
  desk->Release(PodUid("critical"));
  EXPECT_EQ(desk->bookings().Used("cpu"), 2000);
  ASSERT_TRUE(Ask(StaticPod("another", "proxy", "800m")));
  Pass();
  EXPECT_EQ(StageOf("another"), Stage::kPreempting);
  desk->Release(PodUid("b"));
  Pass();
  EXPECT_EQ(answers["another"], "admitted");
}

TEST_F(AdmissionDeskTest, ACriticalPodDoesNotWaitForEverForWhatWillNotGo) {
  ASSERT_TRUE(Ask(StaticPod("x", "x", "100m")));
  ASSERT_TRUE(Ask(SimplePod("a", "1900m", "  terminationGracePeriodSeconds: 20\n")));
  Pass();
  ASSERT_TRUE(Ask(StaticPod("critical", "dns", "800m")));
  Pass(Seconds(28));
  EXPECT_FALSE(answers.contains("critical"));
  EXPECT_EQ(preemptor.late, "");
  Pass(Seconds(4));
  EXPECT_EQ(answers["critical"], "admitted");
  EXPECT_EQ(preemptor.late, "a ");
}

TEST_F(AdmissionDeskTest, ACriticalPodForWhichThereIsNoRoomIsRejectedInUpstreamsWords) {
  ASSERT_TRUE(Ask(StaticPod("critical", "dns", "5")));
  Pass();
  EXPECT_EQ(desk->Describe(PodUid("critical"))->rejected,
            (Rejection{"UnexpectedAdmissionError",
                       "Unexpected error while attempting to recover from admission failure: "
                       "preemption: error finding a set of pods to preempt: no set of running pods "
                       "found to reclaim resources: [(res: cpu, q: 3000), ]"}));
}

// It cannot preempt a port, and a rejection is for good.
TEST_F(AdmissionDeskTest, ACriticalPodWaitsForPortsOfPodsThatMayBeNoMore) {
  const auto with_port = [](std::string yaml) {
    const std::string name = "containers: [{name: c, ";
    return yaml.insert(yaml.find(name) + name.size(),
                       "ports: [{containerPort: 80, hostPort: 8080}], ");
  };
  for (const bool dropped : {true, false}) {
    SCOPED_TRACE(dropped);
    ASSERT_TRUE(Ask(with_port(SimplePod("a", "1500m"))));
    Pass();
    Restart();
    ASSERT_TRUE(Ask(with_port(StaticPod("critical", "dns", "800m"))));
    Pass();
    EXPECT_EQ(StageOf("critical"), Stage::kWaitingForRoom);
    EXPECT_TRUE(desk->Describe(PodUid("critical"))
                    ->waits.starts_with("wait for what other pods are about to leave: "));
    EXPECT_EQ(preemptor.asked, "");
    dropped ? desk->Release(PodUid("a")) : desk->Claim(PodUid("a"));
    Pass();
    EXPECT_EQ(answers["critical"], dropped ? "admitted" : "NodePorts");
    for (const char* pod : {"a", "critical"}) desk->Release(PodUid(pod));
    answers.clear();
  }
}

TEST_F(AdmissionDeskTest, StaticPodsOfOneNameComeOneAfterTheOther) {
  ASSERT_TRUE(Ask(StaticPod("one", "dns", "1500m")));
  Pass();
  ASSERT_TRUE(Ask(StaticPod("two", "dns", "1500m")));
  ASSERT_TRUE(Ask(StaticPod("three", "dns", "1500m")));
  Pass();
  EXPECT_EQ(answers["one"], "admitted");
  EXPECT_EQ(StageOf("two"), Stage::kWaitingForName);
  EXPECT_EQ(desk->Describe(PodUid("two"))->waits,
            "wait for the name ns/dns, which another static pod still has, one");
  EXPECT_EQ(desk->Describe(PodUid("one"))->waits, "");
  desk->Release(PodUid("two"));
  desk->Release(PodUid("one"));
  Pass();
  EXPECT_EQ(answers["three"], "admitted");
  EXPECT_EQ(answers["two"], "error: the pod was released");
}

TEST_F(AdmissionDeskTest, WhatRunsAlreadyIsTakenOverWithoutAWord) {
  ASSERT_TRUE(Ask(SimplePod("a", "50"), AdmissionQuestion::kAdopt));
  Pass();
  EXPECT_EQ(answers["a"], "admitted");
  EXPECT_EQ(desk->bookings().Used("cpu"), 50'000);
}

TEST_F(AdmissionDeskTest, WithoutANodeNothingIsAdmitted) {
  AdmissionDesk bare({.loop = world.loop(0), .log = log, .preemptor = preemptor, .nodes = nodes},
                     {}, *SysctlAllowList::Make({}, std::nullopt));
  Journal own(world.loop(0), files, world.random(), log, {.directory = "/other"}, bare.Kinds());
  own.Open([&](const JournalReport&) { bare.Start(own); });
  Pass();
  std::string reason;
  ASSERT_TRUE(bare.Ask(RefOf(SimplePod("a", "1")), AdmissionQuestion::kDecide,
                       [&](Result<AdmissionDecision> d) { reason = d->rejected->reason; }));
  Pass();
  EXPECT_EQ(reason, "InvalidNodeInfo");
}

TEST_F(AdmissionDeskTest, ItsBoundIsTold) {
  desk_options.pods_max = 2;
  Restart();
  Pass();
  ASSERT_TRUE(Ask(SimplePod("a", "1m")));
  ASSERT_TRUE(Ask(SimplePod("b", "1m")));
  EXPECT_EQ(Ask(SimplePod("c", "1m")).error().code(), ErrorCode::kOverloaded);
}

}  // namespace
}  // namespace denselet::sync
