// What the core does about single pods, told one by one: the stories that the seeds only stumble
// on.
#include "kube/api/types.h"
#include "tests/sim/core/core_fixture.h"

namespace denselet::sim {
namespace {

// On one shard the runtime announces what it does before it answers; on several, the announcement
// can be overtaken on its way from shard to shard, which costs a look.
class OneShardCoreTest : public CoreTest {
 protected:
  OneShardCoreTest() : CoreTest(1) {}
};

TEST_F(OneShardCoreTest, AOneContainerPodStartsWithFewCalls) {
  options_.events.delay_max = {};
  Start();
  TellAll();
  Run(Seconds(10));  // events lead
  ASSERT_EQ(agent_->pleg().mode(), sync::PlegMode::kEventsLead);
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  host_.counters().calls.clear();
  Tell(pod);
  Run(Seconds(5));
  ASSERT_TRUE(Runs(pod));
  uint64_t calls = 0;
  std::string which;
  for (const auto& [name, count] : host_.counters().calls) {
    calls += count;
    which += name + " " + std::to_string(count) + ", ";
  }
  // Sandbox, its address, image, create, start, and a last look.
  EXPECT_LE(calls, 6u) << which;
  EXPECT_EQ(host_.counters().calls["RunSandbox"], 1u);
  EXPECT_EQ(host_.counters().calls["CreateContainer"], 1u);
}

TEST_F(CoreTest, LateEventsOfOurOwnCallsCostNothing) {
  options_.events.late = 1;  // each comes when the pod has long been up
  options_.events.late_max = Seconds(3);
  Start();
  TellAll();
  Run(Seconds(10));
  ASSERT_EQ(agent_->pleg().mode(), sync::PlegMode::kEventsLead);
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  host_.counters().calls.clear();
  Tell(pod);
  Run(Seconds(5));
  ASSERT_TRUE(Runs(pod));
  EXPECT_EQ(host_.counters().calls["ReadPod"], 0u);
  model_.Exit(model_.Read(pod.uid).containers.at(0).id, 1);
  Run(Seconds(5));
  EXPECT_GE(host_.counters().calls["ReadPod"], 1u) << "an end is always looked at";
}

TEST_F(CoreTest, TheWayOfAStartCanBeAsked) {
  Start();
  SimPod& pod = Pod(SimPodKind::kInit, "u1");
  TellAll();
  Run(Seconds(20));
  ASSERT_TRUE(Runs(pod));
  const sync::WorkerReport report = agent_->Find(pod.uid)->Report(world_.clock().Now());
  EXPECT_EQ(report.phase, Phase::kSyncing);
  EXPECT_TRUE(report.timeline.over);
  ASSERT_TRUE(report.timeline.sandbox && report.timeline.started && report.timeline.images);
  EXPECT_LT(*report.timeline.sandbox, *report.timeline.started);
  EXPECT_LE(report.timeline.wished, report.timeline.begun);
  EXPECT_LE(report.timeline.begun, *report.timeline.first_step);
  ASSERT_TRUE(report.timeline.told) << "the status that shows it arrived";
  EXPECT_LE(*report.timeline.started, *report.timeline.told);
  EXPECT_FALSE(report.transitions.empty());
  EXPECT_TRUE(report.calls.empty());
}

TEST_F(CoreTest, DeletionDuringTheSandboxStopsIt) {
  Start();
  TellAll();
  Run(Seconds(10));
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  host_.faults().delay_min = host_.faults().delay_max = Seconds(1);
  Tell(pod);
  while (Requests(RuntimeRequest::kRunSandbox, pod) == 0) Run(Milliseconds(100));
  pod.deleting = true;
  Tell(pod);
  Run(Seconds(60));
  EXPECT_EQ(Requests(RuntimeRequest::kCreateContainer, pod), 0u);
  EXPECT_GE(agent_->Find(pod.uid)->state().phase, Phase::kTerminated);
  pod.wished = false;
  agent_->OnSources([](sync::PodSources& s) { s.OnPodGone(SourceKind::kApi, "u1"); });
  Run(Seconds(60));
  EXPECT_EQ(gone_, std::vector{pod.uid});
  EXPECT_EQ(model_.sandboxes(), 0u);
  EXPECT_TRUE(leaves_.kept().empty());
}

TEST_F(CoreTest, ARestartOfTheAgentTouchesNothing) {
  Start();
  std::vector<SimPod*> pods;
  for (int i = 0; i < 20; ++i) pods.push_back(&Pod(SimPodKind::kSidecar, "u" + std::to_string(i)));
  TellAll();
  Run(Seconds(60));
  for (const SimPod* pod : pods) ASSERT_TRUE(Runs(*pod));
  const std::string before = model_.Describe();
  for (int i = 0; i < 3; ++i) {
    agent_.reset();
    requests_.clear();
    Start();
    Run(Seconds(5));
    TellAll();
    Run(Seconds(60));
    EXPECT_TRUE(requests_.empty());
  }
  EXPECT_EQ(model_.Describe(), before);
}

TEST_F(CoreTest, WhatNobodyWishesIsEndedWhenAllSourcesHaveSpoken) {
  Start();
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  SimPod& file = Static("u2");
  TellAll();
  Run(Seconds(20));
  ASSERT_TRUE(Runs(pod) && Runs(file));
  agent_.reset();
  Start();
  pod.wished = false;
  file.wished = false;
  agent_->OnSources([](sync::PodSources& s) { s.OnPods(SourceKind::kApi, {}); });
  Run(Seconds(50));
  EXPECT_TRUE(Runs(pod)) << "a file may still name it";
  agent_->OnSources([](sync::PodSources& s) { s.OnPods(SourceKind::kFile, {}); });
  Run(Seconds(50));
  EXPECT_EQ(model_.containers(), 0u);
  EXPECT_EQ(model_.sandboxes(), 0u);
}

TEST_F(CoreTest, WhatTurnsUpOfAPodThatWaitsForItsAdmissionIsNoOrphan) {
  Start();
  TellAll();
  Run(Seconds(5));
  leaves_.disk().faults().full = true;  // no admission becomes durable
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  TellAll();
  Run(Seconds(5));
  ASSERT_EQ(model_.sandboxes(), 0u);
  // An agent before this one had asked for it.
  ASSERT_TRUE(model_.RunSandbox({.pod = {.ref = {"default", pod.name}, .uid = pod.uid}}));
  Run(Minutes(1));
  EXPECT_EQ(model_.sandboxes(), 1u) << "it is wished";
  leaves_.disk().faults().full = false;
  Run(Minutes(1));
  EXPECT_TRUE(Runs(pod));
  EXPECT_EQ(model_.sandboxes(), 1u);
}

TEST_F(CoreTest, AStaticPodWaitsForTheOneBeforeItOfItsName) {
  Start();
  SimPod& old = Static("u1", "same");
  old.grace_seconds = 30;
  TellAll();
  Run(Seconds(20));
  ASSERT_TRUE(Runs(old));
  old.wished = false;
  SimPod& next = Static("u2", "same");
  TellAll();
  bool both = false;
  for (int i = 0; i < 600; ++i) {
    Run(Milliseconds(100));
    both |= !model_.Read(old.uid).empty() && Runs(old) && !model_.Read(next.uid).empty();
  }
  EXPECT_FALSE(both);
  EXPECT_TRUE(Runs(next));
  EXPECT_EQ(agent_->dispatcher().waiting_for_name(), 0u);
}

// The API server may be the very pod whose manifest was changed while no agent ran.
class SilentServerTest : public CoreTest {
 protected:
  SilentServerTest() {
    Start();
    old_ = &Static("u1", "same");
    other_ = &Pod(SimPodKind::kServer, "u3");
    TellAll();
    Run(Seconds(20));
    EXPECT_TRUE(Runs(*old_) && Runs(*other_));
    agent_.reset();
    old_->wished = false;
    next_ = &Static("u2", "same");
  }
  void TellFiles() {
    std::vector<kube::PodRef> pods;
    for (const auto& [uid, pod] : pods_) {
      if (pod.wished && pod.is_static) pods.push_back(pod.Build());
    }
    agent_->OnSources([pods](sync::PodSources& s) { s.OnPods(SourceKind::kFile, pods); });
  }
  SimPod* old_ = nullptr;
  SimPod* next_ = nullptr;
  SimPod* other_ = nullptr;
};

TEST_F(SilentServerTest, AnotherManifestFollowsTheOldOneThatRuns) {
  Start();
  TellFiles();
  bool both = false;
  for (int i = 0; i < 600; ++i) {
    Run(Milliseconds(100));
    both |= Runs(*old_) && !model_.Read(next_->uid).empty();
  }
  EXPECT_FALSE(both);
  EXPECT_FALSE(Runs(*old_));
  EXPECT_TRUE(Runs(*next_));
  EXPECT_TRUE(Runs(*other_)) << "nobody has said that it is no more";
  EXPECT_EQ(Requests(RuntimeRequest::kStopContainer, *other_), 0u);
  TellAll();
  Run(Seconds(30));
  EXPECT_TRUE(Runs(*next_) && Runs(*other_));
  EXPECT_TRUE(model_.Read(old_->uid).empty());
}

TEST_F(SilentServerTest, AnotherManifestFollowsTheOldOneThatTheMachineTookDown) {
  model_.KillEverything();
  Start();
  TellFiles();
  Run(Seconds(20));
  EXPECT_TRUE(Runs(*next_));
  EXPECT_FALSE(Runs(*old_));
}

TEST_F(SilentServerTest, AManifestThatIsGoneEndsItsPod) {
  next_->wished = false;
  Start();
  TellFiles();
  Run(Seconds(60));
  EXPECT_FALSE(Runs(*old_));
  EXPECT_TRUE(Runs(*other_));
}

TEST_F(CoreTest, AStaticPodThatComesBackWhileItEndsIsBegunAnew) {
  Start();
  SimPod& pod = Static("u1");
  TellAll();
  Run(Seconds(20));
  ASSERT_TRUE(Runs(pod));
  pod.wished = false;
  TellAll();
  Run(Milliseconds(20));
  pod.wished = true;
  TellAll();
  Run(Seconds(60));
  EXPECT_TRUE(Runs(pod));
  EXPECT_EQ(Requests(RuntimeRequest::kRunSandbox, pod), 2u);
}

// At any time while what an agent before left of it is ended, also before anybody has begun to.
TEST_F(CoreTest, AStaticPodThatComesBackWhileItsOrphanEndsIsBegunAnew) {
  options_.milli_cpus = kSimMilliCpus;
  SimPod& pod = Static("u1", "12345");  // a name that does not heed signals
  pod.contested = true;
  pod.milli_cpus = 1000;
  pod.host_port = 8000;
  for (const int after_ms : {0, 1, 20, 100, 1000, 2500}) {
    SCOPED_TRACE(after_ms);
    pod.wished = true;
    Start();
    TellAll();
    Run(Seconds(60));
    ASSERT_TRUE(Runs(pod));
    agent_.reset();
    Start();
    pod.wished = false;
    TellAll();
    while (!agent_->core().gate().is_open()) Run(Microseconds(100));
    Run(Milliseconds(after_ms));
    pod.wished = true;
    TellAll();
    Run(Seconds(60));
    EXPECT_TRUE(Runs(pod));
    const sync::Bookings& bookings = agent_->core().admission().bookings();
    EXPECT_FALSE(bookings.IsGoing(pod.uid));
    EXPECT_EQ(bookings.Used("cpu"), 1000);
    agent_.reset();
  }
}

TEST_F(CoreTest, AStaticPodWhoseOrphanIsGoneBeforeAnybodyLookedAtItIsBegunAtOnce) {
  SimPod& pod = Static("u1");
  Start();
  TellAll();
  Run(Seconds(20));
  ASSERT_TRUE(Runs(pod));
  agent_.reset();
  pod.wished = false;
  Start();
  TellAll();
  while (!agent_->core().gate().is_open()) Run(Microseconds(100));
  Run(Milliseconds(1));
  const sync::ObservedPod there = model_.Read(pod.uid);  // somebody else removes it
  for (const auto& container : there.containers) {
    model_.Exit(container.id, 1);
    ASSERT_TRUE(model_.RemoveContainer(container.id));
  }
  for (const auto& sandbox : there.sandboxes) {
    ASSERT_TRUE(model_.StopSandbox(sandbox.id));
    ASSERT_TRUE(model_.RemoveSandbox(sandbox.id));
  }
  pod.wished = true;
  TellAll();
  Run(Milliseconds(300));
  EXPECT_FALSE(agent_->core().gate().WaitsForOrphan(pod.uid));
  Run(Seconds(10));
  EXPECT_TRUE(Runs(pod));
}

TEST_F(CoreTest, TheGraceShrinksWhileItRuns) {
  Start();
  SimPod& pod = Pod(SimPodKind::kServer, "u1", "12345");  // a name that does not heed signals
  pod.grace_seconds = 600;
  TellAll();
  Run(Seconds(20));
  ASSERT_TRUE(Runs(pod));
  pod.deleting = true;
  pod.deletion_grace = 300;
  Tell(pod);
  Run(Seconds(20));
  EXPECT_TRUE(Runs(pod));
  pod.deletion_grace = 25;
  Tell(pod);
  Run(Seconds(10));
  EXPECT_FALSE(Runs(pod));
  EXPECT_EQ(agent_->Find(pod.uid)->state().grace_seconds, 25);
}

TEST_F(CoreTest, ABugAboutOnePodLeavesTheOthersAlone) {
  Start();
  SimPod& good = Pod(SimPodKind::kServer, "u1");
  SimPod& bad = Pod(SimPodKind::kServer, "u2");
  leaves_.poison().insert(bad.uid);
  TellAll();
  Run(Seconds(20));
  EXPECT_TRUE(Runs(good));
  EXPECT_FALSE(Runs(bad));
  ASSERT_FALSE(faults_.empty());
  EXPECT_EQ(faults_.front(), bad.uid);
  const auto& fault = agent_->Find(bad.uid)->fault();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->error.code(), ErrorCode::kBug);
  EXPECT_GT(fault->count, 1u) << "it is tried again";
  EXPECT_LT(fault->count, 8u) << "with growing pauses";
  leaves_.poison().clear();
  Run(Minutes(2));
  EXPECT_TRUE(Runs(bad)) << "and comes back by itself";
}

TEST_F(CoreTest, APodThatKilledTheAgentIsHeldBackUntilItChanges) {
  SimPod& bad = Pod(SimPodKind::kServer, "u1");
  SimPod& good = Pod(SimPodKind::kServer, "u2");
  options_.shard.held_back = {bad.uid};
  Start();
  TellAll();
  Run(Seconds(20));
  EXPECT_TRUE(Runs(good));
  EXPECT_EQ(agent_->Find(bad.uid), nullptr);
  ++bad.version;
  Tell(bad);
  Run(Seconds(20));
  EXPECT_TRUE(Runs(bad));
}

TEST_F(CoreTest, ALabelIsNoChangeForAPodThatIsHeldBack) {
  SimPod& bad = Pod(SimPodKind::kServer, "u1");
  options_.shard.held_back = {bad.uid};
  Start();
  bad.wished = false;  // told by hand
  TellAll();
  kube::core::Pod object = bad.Object();
  const auto tell = [&] {
    agent_->OnSources([built = *kube::PodAtRest::FromPod(object)](sync::PodSources& s) {
      s.OnPod(SourceKind::kApi, built);
    });
    Run(Seconds(20));
  };
  object.mutable_metadata()->set_generation(1);
  tell();
  (*object.mutable_metadata()->mutable_labels())["stranger"] = "1";
  tell();
  object.mutable_status()->add_conditions()->set_type("example.com/Billed");
  tell();
  EXPECT_EQ(agent_->Find(bad.uid), nullptr);
  object.mutable_metadata()->set_generation(2);
  object.mutable_spec()->mutable_containers(0)->set_image("image:2");
  tell();
  EXPECT_TRUE(Runs(bad));
}

TEST_F(CoreTest, AStartupProbeIsToldThoughNobodyWaitsForIt) {
  SimPod& pod = Pod(SimPodKind::kProbed, "u1", "probed-odd");
  Start();
  TellAll();
  const auto succeeds = [&](uint32_t attempt) {
    agent_->OnOwner(pod.uid, [uid = pod.uid, attempt](sync::PodShard& shard) {
      shard.SetProbe(uid, "proxy", attempt, sync::ProbeResult::kSuccess, std::nullopt);
    });
    Run(Seconds(30));
  };
  Run(Seconds(20));
  succeeds(0);
  ASSERT_TRUE(Runs(pod));
  for (const auto& container : model_.Read(pod.uid).containers) {
    if (container.name == "proxy") model_.Exit(container.id, 1);
  }
  Run(Seconds(30));
  ASSERT_EQ(StateOf(pod, "proxy"), ContainerState::kRunning);
  succeeds(1);
  kube::core::PodStatus status;
  ASSERT_TRUE(status.ParseFromString(statuses_[pod.uid]));
  EXPECT_TRUE(status.initcontainerstatuses(0).started());
}

TEST_F(CoreTest, AStaticPodThatIsHeldBackGivesItsNameToTheNext) {
  SimPod& bad = Static("u1", "same");
  options_.shard.held_back = {bad.uid};
  Start();
  TellAll();
  Run(Seconds(20));
  EXPECT_EQ(held_back_, std::vector{bad.uid});
  EXPECT_EQ(model_.sandboxes(), 0u);
  bad.wished = false;
  SimPod& mended = Static("u2", "same");
  TellAll();
  Run(Seconds(20));
  EXPECT_TRUE(Runs(mended));
  EXPECT_EQ(gone_, std::vector{bad.uid});
}

TEST_F(CoreTest, WhatRunsOfAPodThatIsHeldBackStaysUntilItIsGone) {
  SimPod& bad = Pod(SimPodKind::kServer, "u1");
  Start();
  TellAll();
  Run(Seconds(20));
  ASSERT_TRUE(Runs(bad));
  agent_.reset();
  options_.shard.held_back = {bad.uid};
  Start();
  TellAll();
  Run(Minutes(2));
  EXPECT_TRUE(Runs(bad)) << "held back is left alone";
  agent_->OnSources([](sync::PodSources& s) { s.OnPodGone(SourceKind::kApi, "u1"); });
  Run(Minutes(1));
  EXPECT_EQ(model_.containers(), 0u);
  EXPECT_EQ(gone_, std::vector{bad.uid});
}

TEST_F(CoreTest, AThousandPodsAtOnceAllStartAndEventsStayInTheLead) {
  Start();
  TellAll();
  Run(Seconds(5));
  for (int i = 0; i < 1000; ++i) Pod(SimPodKind::kServer, "u" + std::to_string(i));
  TellAll();
  Run(Minutes(2));
  size_t running = 0;
  for (const auto& [uid, pod] : pods_) running += Runs(pod);
  EXPECT_EQ(running, 1000u);
  EXPECT_EQ(agent_->pleg().mode(), sync::PlegMode::kEventsLead);
  requests_.clear();
  const SimPod& one = pods_.begin()->second;
  const auto containers = model_.Read(one.uid).containers;
  ASSERT_FALSE(containers.empty());
  model_.Exit(containers[0].id, 1);
  Run(Seconds(15));
  EXPECT_TRUE(Runs(one)) << "still quick after the burst";
}

TEST_F(CoreTest, AnEndThatNoEventToldIsMissedAlsoIfNoListHasShownThePod) {
  options_.events.lost = 1;
  Start();
  TellAll();
  Run(Seconds(10));
  ASSERT_EQ(agent_->pleg().mode(), sync::PlegMode::kEventsLead);
  SimPod& ends = Pod(SimPodKind::kServer, "u1");
  SimPod& stays = Pod(SimPodKind::kServer, "u2");
  TellAll();
  Run(Seconds(5));
  ASSERT_TRUE(Runs(ends) && Runs(stays));
  const Duration period = agent_->pleg().cross_check_period();
  model_.Exit(model_.Read(ends.uid).containers.at(0).id, 1);
  Run(period + Seconds(30));
  EXPECT_TRUE(Runs(ends));
  EXPECT_EQ(agent_->pleg().missed_events(), 1u) << "the one that stays was our own start";
  EXPECT_LT(agent_->pleg().cross_check_period(), period);
}

TEST_F(CoreTest, AContainerThatTurnsUpWhenItsPodHasEndedIsStopped) {
  Start();
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  TellAll();
  Run(Seconds(10));
  ASSERT_TRUE(Runs(pod));
  pod.deleting = true;
  Tell(pod);
  Run(Minutes(1));
  ASSERT_GE(agent_->Find(pod.uid)->state().phase, Phase::kTerminated);
  // Calls of an agent before, that the runtime was slow with.
  const auto sandbox = model_.RunSandbox({.pod = IdOf(pod), .attempt = 5});
  ASSERT_TRUE(sandbox);
  const auto container = model_.CreateContainer(
      *sandbox, {.pod = pod.uid, .name = "app", .attempt = 5, .image = "image:1"});
  ASSERT_TRUE(container && model_.StartContainer(*container));
  Run(Minutes(1));
  EXPECT_FALSE(model_.IsRunning(*container));
  EXPECT_TRUE(faults_.empty());
}

TEST_F(CoreTest, PodsWaitForTheNetworkAndNoLongerThanThat) {
  Start();
  TellAll();
  Run(Seconds(5));
  agent_->SetTrouble({.network = "no CNI"});
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  Tell(pod);
  Run(Minutes(1));
  EXPECT_EQ(model_.sandboxes(), 0u);
  EXPECT_EQ(agent_->Find(pod.uid)->waits().what, sync::WaitFor::kNetwork);
  EXPECT_EQ(agent_->Find(pod.uid)->waits().detail, "no CNI");
  agent_->SetTrouble({});
  Run(Seconds(5));
  EXPECT_TRUE(Runs(pod));
}

// So that the log of one that hangs says whose it is.
TEST_F(CoreTest, CallsForAPodNameIt) {
  model_.images().clear();
  Start();
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  TellAll();
  Run(Seconds(30));
  ASSERT_TRUE(Runs(pod));
  pod.wished = false;
  TellAll();
  Run(Minutes(2));
  const auto& counters = host_.counters();
  for (const char* of_pods :
       {"RunSandbox", "CreateContainer", "StartContainer", "ReadPod", "PullImage", "StopContainer",
        "StopSandbox", "RemoveContainer", "RemoveSandbox"}) {
    EXPECT_EQ(counters.calls.count(of_pods), 1u) << of_pods;
    EXPECT_EQ(counters.of_no_pod.count(of_pods), 0u) << of_pods;
  }
}

TEST_F(CoreTest, WhileTheRuntimeIsDownPodsWaitAndThenGoOn) {
  Start();
  TellAll();
  Run(Seconds(5));
  host_.Crash();
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  Tell(pod);
  Run(Minutes(4));
  EXPECT_FALSE(agent_->pleg().Healthy(world_.clock().Now()));
  EXPECT_EQ(agent_->Find(pod.uid)->fault(), std::nullopt);
  host_.Start();
  Run(Minutes(2));
  EXPECT_TRUE(Runs(pod));
  EXPECT_TRUE(agent_->pleg().Healthy(world_.clock().Now()));
}

}  // namespace
}  // namespace denselet::sim
