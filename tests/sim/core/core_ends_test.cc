// Pods that the node ends for good, over deaths of the agent before anybody else heard of it.
#include "kube/api/types.h"
#include "tests/sim/core/core_fixture.h"

namespace denselet::sim {
namespace {

class CoreEndsTest : public CoreTest {
 protected:
  void Evict(const SimPod& pod, std::optional<int64_t> grace = 1) {
    agent_->OnOwner(pod.uid, [uid = pod.uid, grace](sync::PodShard& shard) {
      shard.Kill(uid,
                 {.reason = sync::EndReason::kKilled,
                  .outcome = sync::PodOutcome::kFailed,
                  .status_reason = "Evicted"},
                 grace);
    });
  }
  void OnPodEvent(const sync::ObjectEvent& event) override {
    if (event.reason == reason_) told_.push_back(event.object.uid + ": " + event.message);
  }
  // Both need most of the node.
  SimPod& Contested(SimPod& pod) {
    pod.contested = true;
    pod.milli_cpus = 2000;
    return pod;
  }
  // The next agent hears of the pods as the API server has them: it was told nothing.
  void Restart() {
    agent_.reset();
    statuses_.clear();
    Start();
    TellAll();
  }
  std::string StatusOf(const SimPod& pod) {
    kube::core::PodStatus status;
    EXPECT_TRUE(status.ParseFromString(statuses_[pod.uid]));
    return status.phase() + " " + status.reason();
  }
  using Lines = std::vector<std::string>;
  std::string reason_ = "Preempting";
  Lines told_;  // of that reason
};

TEST_F(CoreEndsTest, AnEvictedPodIsNotRunAgain) {
  Start();
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  TellAll();
  Run(Seconds(10));
  ASSERT_TRUE(Runs(pod));
  Evict(pod);
  Run(Seconds(10));
  ASSERT_FALSE(Runs(pod));
  Restart();
  Run(Seconds(60));
  EXPECT_FALSE(Runs(pod));
  EXPECT_EQ(Requests(RuntimeRequest::kRunSandbox, pod), 1u);
  EXPECT_EQ(StatusOf(pod), "Failed Evicted");
}

TEST_F(CoreEndsTest, AnEvictionThatHadBegunGoesOn) {
  Start();
  SimPod& pod = Pod(SimPodKind::kServer, "u1", "12345");  // does not stop by itself
  TellAll();
  Run(Seconds(10));
  Evict(pod, 5);
  Run(Seconds(2));
  ASSERT_TRUE(Runs(pod));
  ASSERT_GE(Requests(RuntimeRequest::kStopContainer, pod), 1u);
  Restart();
  Run(Seconds(12));
  EXPECT_FALSE(Runs(pod));
  EXPECT_EQ(StatusOf(pod), "Failed Evicted");
}

TEST_F(CoreEndsTest, APodWhoseDeadlineHasPassedIsNotRunAgain) {
  Start();
  SimPod& pod = Pod(SimPodKind::kDeadline, "u1");
  TellAll();
  Run(Seconds(80));
  ASSERT_TRUE(Runs(pod));
  Run(Seconds(60));
  ASSERT_FALSE(Runs(pod));
  Restart();
  Run(Seconds(60));
  EXPECT_FALSE(Runs(pod));
  EXPECT_EQ(Requests(RuntimeRequest::kRunSandbox, pod), 1u);
  EXPECT_EQ(StatusOf(pod), "Failed DeadlineExceeded");
}

TEST_F(CoreEndsTest, OneThatWasPreemptedIsNotRunBesideItsSuccessor) {
  options_.milli_cpus = kSimMilliCpus;
  Start();
  SimPod& pod = Contested(Pod(SimPodKind::kServer, "u1"));
  TellAll();
  Run(Seconds(10));
  ASSERT_TRUE(Runs(pod));
  SimPod& critical = Contested(Static("u2"));
  TellAll();
  Run(Seconds(60));
  ASSERT_TRUE(Runs(critical));
  ASSERT_FALSE(Runs(pod));
  EXPECT_EQ(told_, Lines{"u1: Preempted in order to admit critical pod"});
  Restart();
  Run(Seconds(60));
  EXPECT_TRUE(Runs(critical));
  EXPECT_FALSE(Runs(pod));
  EXPECT_EQ(StatusOf(pod), "Failed Preempting");
  EXPECT_EQ(told_.size(), 1u) << "once";
}

// The API server, which knows of it, comes later.
TEST_F(CoreEndsTest, APreemptionIsToldAlsoIfItMeetsThePodWithItsWish) {
  options_.milli_cpus = kSimMilliCpus;
  Start();
  SimPod& pod = Contested(Pod(SimPodKind::kServer, "u1"));
  TellAll();
  Run(Seconds(10));
  ASSERT_TRUE(Runs(pod));
  agent_.reset();
  Start();
  const SimPod& critical = Contested(Static("u2"));
  agent_->OnSources(
      [built = critical.Build()](sync::PodSources& s) { s.OnPods(SourceKind::kFile, {built}); });
  Run(Seconds(5));
  EXPECT_EQ(told_, Lines{}) << "nobody here has the pod";
  TellAll();
  Run(Seconds(60));
  EXPECT_FALSE(Runs(pod));
  EXPECT_TRUE(Runs(critical));
  EXPECT_EQ(told_, Lines{"u1: Preempted in order to admit critical pod"});
}

TEST_F(CoreEndsTest, OneThatDoesNotGoInTimeIsTold) {
  reason_ = "ExceededGracePeriod";
  options_.milli_cpus = kSimMilliCpus;
  Start();
  SimPod& pod = Contested(Pod(SimPodKind::kServer, "u1"));
  TellAll();
  Run(Seconds(10));
  host_.faults().refused = 1;  // nothing can be stopped
  Contested(Static("u2"));
  TellAll();
  Run(Seconds(44));
  EXPECT_EQ(told_, Lines{});
  Run(Seconds(4));
  EXPECT_EQ(told_, Lines{"u1: Container runtime did not kill the pod within specified grace "
                         "period."});
  EXPECT_TRUE(Runs(pod));
}

// As an agent before had told it, which died before all was over: whatever it had seen, nobody sees
// any more.
TEST_F(CoreEndsTest, WhatAPodThatHadEndedShowsIsToldToItsLastWord) {
  kube::core::Pod pod = Pod(SimPodKind::kInit, "u1").Object();
  pod.mutable_status()->set_phase("Failed");
  pod.mutable_status()->set_reason("Evicted");
  for (const char* name : {"app", "web"}) {
    kube::core::ContainerStatus& status = *pod.mutable_status()->add_containerstatuses();
    status.set_name(name);
  }
  auto& ended = *pod.mutable_status()->mutable_containerstatuses(0)->mutable_state();
  ended.mutable_terminated()->set_exitcode(7);
  auto& waits = *pod.mutable_status()->mutable_containerstatuses(1)->mutable_state();
  waits.mutable_waiting()->set_reason("ContainerCreating");
  const kube::PodRef told = *kube::PodAtRest::FromPod(pod);
  Start();
  agent_->OnSources([told](sync::PodSources& s) { s.OnPods(SourceKind::kApi, {told}); });
  Run(Seconds(10));
  kube::core::PodStatus last;
  ASSERT_TRUE(last.ParseFromString(statuses_[PodUid("u1")]));
  EXPECT_EQ(last.phase() + " " + last.reason(), "Failed Evicted");
  ASSERT_EQ(last.containerstatuses_size(), 2);
  EXPECT_EQ(last.containerstatuses(0).state().terminated().exitcode(), 7);
  EXPECT_EQ(last.containerstatuses(1).state().terminated().reason(), "ContainerStatusUnknown");
}

// Somebody else wrote the pod's last phase, and left its containers as they were.
TEST_F(CoreEndsTest, HowThePodsEndedThatOthersGaveUpIsToldAsItWas) {
  Start();
  SimPod& ended = Pod(SimPodKind::kServer, "u1");
  SimPod& runs = Pod(SimPodKind::kServer, "u2");
  TellAll();
  Run(Seconds(10));
  ASSERT_TRUE(Runs(ended) && Runs(runs));
  agent_.reset();
  ASSERT_TRUE(model_.Exit(model_.Read(ended.uid).containers[0].id, 3));
  std::vector<kube::PodRef> told;
  for (const SimPod* pod : {&ended, &runs}) {
    kube::core::Pod object = pod->Object();
    ASSERT_TRUE(object.mutable_status()->ParseFromString(statuses_[pod->uid]));
    ASSERT_TRUE(object.status().containerstatuses(0).state().has_running());
    object.mutable_status()->set_phase("Failed");
    told.push_back(*kube::PodAtRest::FromPod(object));
  }
  statuses_.clear();
  Start();
  agent_->OnSources([told](sync::PodSources& s) { s.OnPods(SourceKind::kApi, told); });
  Run(Seconds(60));
  EXPECT_FALSE(Runs(runs));
  for (const SimPod* pod : {&ended, &runs}) {
    kube::core::PodStatus last;
    ASSERT_TRUE(last.ParseFromString(statuses_[pod->uid]));
    EXPECT_EQ(last.phase(), "Failed");
    ASSERT_EQ(last.containerstatuses_size(), 1);
    const auto& end = last.containerstatuses(0).state().terminated();
    EXPECT_EQ(end.reason(), pod == &ended ? "Error" : "Completed");
    EXPECT_EQ(end.exitcode(), pod == &ended ? 3 : model_.Read(pod->uid).containers[0].exit_code);
  }
}

TEST_F(CoreEndsTest, NothingStopsBeforeTheJournalHasIt) {
  Start();
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  TellAll();
  Run(Seconds(10));
  leaves_.disk().faults().full = true;
  Evict(pod);
  Run(Seconds(1));
  EXPECT_EQ(Requests(RuntimeRequest::kStopContainer, pod), 0u);
  leaves_.disk().faults().full = false;
  Run(Seconds(6));
  EXPECT_FALSE(Runs(pod));
}

TEST_F(CoreEndsTest, AJournalThatCannotWriteHoldsUpAnEvictionForSecondsOnly) {
  Start();
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  TellAll();
  Run(Seconds(10));
  leaves_.disk().faults().full = true;
  Evict(pod);
  Run(Seconds(4));
  EXPECT_TRUE(Runs(pod));
  Run(Seconds(5));
  EXPECT_FALSE(Runs(pod));
  EXPECT_NE(sink_.Take().find("journal does not have it"), std::string::npos);
}

// Killed without a record, it was not to end.
TEST_F(CoreEndsTest, AnEvictionThatNobodyRecordedHasNotBegun) {
  Start();
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  TellAll();
  Run(Seconds(10));
  leaves_.disk().faults().full = true;
  Evict(pod);
  Run(Seconds(2));
  leaves_.disk().faults().full = false;
  Restart();
  Run(Seconds(30));
  EXPECT_TRUE(Runs(pod));
  EXPECT_EQ(Requests(RuntimeRequest::kCreateContainer, pod), 1u);
}

}  // namespace
}  // namespace denselet::sim
