// What the core does about single pods, told one by one: the stories that the seeds only stumble
// on.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "kube/api/types.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/sim/core/core_agent.h"
#include "tests/sim/core/sim_pods.h"

namespace denselet::sim {
namespace {

using fakes::RuntimeRequest;
using sync::ContainerState;
using sync::Phase;
using sync::SourceKind;

class CoreTest : public testing::Test, public CoreAgentUser {
 protected:
  explicit CoreTest(uint32_t shards = 2)
      : world_({.seed = 5, .shards = shards}),
        model_(world_.clock(),
               [this](Duration d, UniqueFunction<void()> t) { world_.Later(d, std::move(t)); }),
        host_(model_, world_.random(),
              [this](Duration d, UniqueFunction<void()> t) { world_.Later(d, std::move(t)); }),
        leaves_(host_) {
    model_.images() = {"image:1", "image:2"};
    model_.set_behave([this](const PodUid& uid, const std::string& name, uint32_t attempt) {
      leaves_.Logged({{"default", pods_[uid].name}, uid}, name, attempt);
      return BehaviourOf(pods_[uid], name, attempt);
    });
    model_.set_on_request([this](const fakes::SentRequest& r) { requests_.push_back(r); });
  }
  ~CoreTest() override { EXPECT_EQ(model_.violations(), std::vector<std::string>()); }

  void Start() {
    agent_ = std::make_unique<CoreAgent>(world_, host_, leaves_, Logger(output_), options_, *this);
  }
  void Run(Duration d) { world_.RunUntil(world_.clock().Now() + d); }
  SimPod& Pod(SimPodKind kind, const std::string& uid, const std::string& name = "") {
    SimPod& pod = pods_[PodUid(uid)];
    pod.kind = kind;
    pod.uid = PodUid(uid);
    pod.name = name.empty() ? "pod-" + uid : name;
    pod.wished = true;
    return pod;
  }
  SimPod& Static(const std::string& uid, const std::string& name = "") {
    SimPod& pod = Pod(SimPodKind::kServer, uid, name);
    pod.is_static = true;
    return pod;
  }
  void TellAll() {
    for (const SourceKind source : {SourceKind::kApi, SourceKind::kFile}) {
      std::vector<kube::PodRef> pods;
      for (const auto& [uid, pod] : pods_) {
        if (pod.wished && pod.is_static == (source == SourceKind::kFile)) {
          pods.push_back(pod.Build());
        }
      }
      agent_->OnSources([source, pods](sync::PodSources& s) { s.OnPods(source, pods); });
    }
  }
  void Tell(const SimPod& pod) {
    agent_->OnSources(
        [built = pod.Build()](sync::PodSources& s) { s.OnPod(SourceKind::kApi, built); });
  }
  std::optional<ContainerState> StateOf(const SimPod& pod, const std::string& name = "app") {
    for (const auto& container : model_.Read(pod.uid).containers) {
      if (container.name == name) return container.state;
    }
    return std::nullopt;
  }
  static sync::PodIdentity IdOf(const SimPod& pod) { return {{"default", pod.name}, pod.uid}; }
  // As an agent before left it.
  void LeaveDirectoriesOf(const SimPod& pod) {
    ASSERT_TRUE(leaves_.disk().MakeDirectories(
        std::string(PodLeaves::kRoot) + "/pods/" + pod.uid.value() + "/volumes", 0750));
    ASSERT_TRUE(leaves_.disk().MakeDirectories(
        std::string(PodLeaves::kLogs) + "/default_" + pod.name + "_" + pod.uid.value() + "/app",
        0755));
    leaves_.Logged(IdOf(pod), "app", 0);
  }
  bool HasDirectories(const SimPod& pod) {
    return leaves_.HasData(pod.uid) || leaves_.HasLogs(IdOf(pod));
  }
  size_t Dead(const SimPod& pod) {
    const sync::ObservedPod there = model_.Read(pod.uid);
    return static_cast<size_t>(std::ranges::count(there.containers, ContainerState::kExited,
                                                  &sync::ObservedContainer::state));
  }
  size_t Logs(const SimPod& pod) {
    const auto logs = leaves_.disk().List(
        std::string(PodLeaves::kLogs) + "/default_" + pod.name + "_" + pod.uid.value() + "/app",
        1000);
    return logs ? logs->size() : 0;
  }
  bool Runs(const SimPod& pod) { return StateOf(pod) == ContainerState::kRunning; }
  size_t Requests(RuntimeRequest request, const SimPod& pod) {
    return static_cast<size_t>(std::ranges::count_if(
        requests_, [&](const auto& r) { return r.request == request && r.pod == pod.uid; }));
  }

  void OnPodDecided(const sync::PodWorker&, const sync::Decision&) override {}
  void OnPodChanged(uint32_t, const sync::PodWorker&) override {}
  void OnPodGone(const sync::PodIdentity& pod) override { gone_.push_back(pod.uid); }
  void OnPodFault(const sync::PodWorker& worker, const Error&) override {
    faults_.push_back(worker.pod().uid);
  }
  void OnPodHeldBack(const sync::PodIdentity& pod) override { held_back_.push_back(pod.uid); }
  void OnPlegMode(const sync::PlegModeChange&) override {}
  void OnStatus(const sync::PodStatusUpdate& update) override {
    statuses_[PodUid(std::string(update.pod->hot().uid))] = update.status;
  }
  void OnStatusForgotten(const PodUid&) override {}
  void OnPodRejected(const kube::PodRef& pod, const sync::Rejection& rejection) override {
    ADD_FAILURE() << pod->hot().uid << ": " << rejection.message;
  }

  World world_;
  fakes::RuntimeModel model_;
  fakes::FakeRuntimeHost host_;
  PodLeaves leaves_;
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput output_{LogFormat{}, world_.clock(), verbosity_, sink_};
  CoreAgentOptions options_;
  std::map<PodUid, SimPod> pods_;
  std::vector<fakes::SentRequest> requests_;
  std::vector<PodUid> gone_;
  std::vector<PodUid> faults_;
  std::vector<PodUid> held_back_;
  std::map<PodUid, std::string> statuses_;  // as told last
  std::unique_ptr<CoreAgent> agent_;
};

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

TEST_F(CoreTest, APodThatEndsAgainAndAgainKeepsOneDeadContainerAndItsLog) {
  options_.node.back_off_base = options_.node.back_off_max = Seconds(1);
  Start();
  SimPod& pod = Pod(SimPodKind::kLooper, "u1");
  TellAll();
  Run(Minutes(10));
  EXPECT_GT(Requests(RuntimeRequest::kCreateContainer, pod), 5u);
  EXPECT_LE(Dead(pod), 2u);
  EXPECT_LE(Logs(pod), 3u) << "of what runs, of the kept one, of one that goes";
}

TEST_F(CoreTest, APodTakesItsDirectoriesAndLogsWithIt) {
  Start();
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  TellAll();
  Run(Seconds(10));
  ASSERT_TRUE(Runs(pod));
  EXPECT_EQ(Logs(pod), 1u);
  pod.wished = false;
  TellAll();
  Run(Seconds(20));
  EXPECT_FALSE(HasDirectories(pod));
  EXPECT_EQ(gone_, std::vector{pod.uid});
}

TEST_F(CoreTest, WhatIsLeftOnTheDiskGoesWhenAllSourcesHaveSpoken) {
  SimPod& left = Pod(SimPodKind::kServer, "u1");
  SimPod& wished = Pod(SimPodKind::kServer, "u2");
  left.wished = false;
  LeaveDirectoriesOf(left);
  LeaveDirectoriesOf(wished);
  Start();
  Run(Minutes(2));
  EXPECT_TRUE(HasDirectories(left)) << "nobody has said that it is not wished";
  TellAll();
  Run(Seconds(10));
  EXPECT_FALSE(HasDirectories(left));
  EXPECT_TRUE(Runs(wished));
  EXPECT_TRUE(leaves_.HasData(wished.uid));
  EXPECT_EQ(Logs(wished), 2u) << "the one before stays, and its number";
  EXPECT_EQ(gone_, std::vector{left.uid});
}

TEST_F(CoreTest, APodThatComesBackWhileItsLeftoversGoIsBegunAnew) {
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  pod.wished = false;
  LeaveDirectoriesOf(pod);
  leaves_.disk().faults().delay_max = Seconds(2);
  Start();
  TellAll();
  while (agent_->Find(pod.uid) == nullptr) Run(Milliseconds(10));
  pod.wished = true;
  Tell(pod);
  Run(Minutes(5));
  EXPECT_TRUE(Runs(pod));
  EXPECT_TRUE(leaves_.HasData(pod.uid));
  EXPECT_TRUE(leaves_.HasLogs(IdOf(pod)));
}

TEST_F(CoreTest, LeftoversThatCannotBeRemovedAreLookedAtAgain) {
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  pod.wished = false;
  LeaveDirectoriesOf(pod);
  Start();
  leaves_.disk().faults().error = 1;
  TellAll();
  Run(Minutes(2));
  EXPECT_TRUE(HasDirectories(pod));
  EXPECT_EQ(agent_->Find(pod.uid), nullptr) << "nobody waits for the next look";
  leaves_.disk().faults().error = 0;
  Run(Minutes(1));
  EXPECT_FALSE(HasDirectories(pod));
}

TEST_F(CoreTest, ADeadSandboxThatAnAgentBeforeStoppedIsRemoved) {
  Start();
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  TellAll();
  Run(Seconds(10));
  ASSERT_TRUE(model_.StopSandbox(model_.Read(pod.uid).sandboxes.at(0).id));
  Run(Minutes(1));
  ASSERT_TRUE(Runs(pod));
  ASSERT_EQ(model_.Read(pod.uid).sandboxes.size(), 2u) << "a dead container is in the old one";
  agent_.reset();
  Start();
  TellAll();
  Run(Seconds(10));
  model_.Exit(model_.Read(pod.uid).containers.at(0).id, 1);
  Run(Minutes(1));
  EXPECT_TRUE(Runs(pod));
  EXPECT_EQ(Dead(pod), 1u);
  EXPECT_EQ(model_.Read(pod.uid).sandboxes.size(), 1u);
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
