// What people are told of single pods by the core: events, in upstream's words.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/api/types.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/sim/core/core_agent.h"
#include "tests/sim/core/sim_pods.h"

namespace denselet::sim {
namespace {

using sync::ProbeResult;
using sync::SourceKind;

class CoreEventsTest : public testing::Test, public CoreAgentUser {
 protected:
  CoreEventsTest()
      : model_(world_.clock(),
               [this](Duration d, UniqueFunction<void()> t) { world_.Later(d, std::move(t)); }),
        host_(model_, world_.random(),
              [this](Duration d, UniqueFunction<void()> t) { world_.Later(d, std::move(t)); }),
        leaves_(host_) {
    model_.images() = {"image:1"};
    model_.set_behave([this](const PodUid& uid, const std::string& name, uint32_t attempt) {
      if (const auto own = behaviours_.find(name); own != behaviours_.end()) return own->second;
      const auto drawn = pods_.find(uid);
      return drawn == pods_.end() ? fakes::ContainerBehaviour{}
                                  : BehaviourOf(drawn->second, name, attempt);
    });
    pod_.mutable_metadata()->set_name("pod");
    pod_.mutable_metadata()->set_namespace_("default");
    pod_.mutable_metadata()->set_uid("u1");
    pod_.mutable_spec()->set_nodename(kSimNode);
    pod_.mutable_spec()->set_restartpolicy("Always");
    pod_.mutable_spec()->set_terminationgraceperiodseconds(30);
  }
  ~CoreEventsTest() override { EXPECT_EQ(model_.violations(), std::vector<std::string>()); }

  void Run(Duration d) { world_.RunUntil(world_.clock().Now() + d); }
  kube::core::Container& Add(const std::string& name) {
    kube::core::Container& container = *pod_.mutable_spec()->add_containers();
    container.set_name(name);
    container.set_image("image:1");
    return container;
  }
  // What the pod is, from now on.
  void Tell() {
    if (agent_ == nullptr) {
      agent_ =
          std::make_unique<CoreAgent>(world_, host_, leaves_, Logger(output_), options_, *this);
      agent_->OnSources([](sync::PodSources& s) { s.OnPods(SourceKind::kFile, {}); });
    }
    agent_->OnSources([built = *kube::PodAtRest::FromPod(pod_)](sync::PodSources& s) {
      s.OnPods(SourceKind::kApi, {built});
    });
  }
  void Tell(const SimPod& pod) {
    pods_[pod.uid] = pod;
    pod_ = pod.Object();
    Tell();
  }
  // Lines with this text.
  size_t Logged(const std::string& text) const {
    return static_cast<size_t>(std::ranges::count_if(sink_.lines(), [&](const auto& line) {
      return line.text.find(text) != std::string::npos;
    }));
  }
  void Delete() {
    pod_.mutable_metadata()->mutable_deletiontimestamp()->set_seconds(1'764'000'000);
    pod_.mutable_metadata()->set_deletiongraceperiodseconds(
        pod_.spec().terminationgraceperiodseconds());
    Tell();
  }
  ContainerId IdOf(const std::string& name) {
    ContainerId id;
    for (const auto& container : model_.Read(PodUid("u1")).containers) {
      if (container.name == name) id = container.id;
    }
    return id;
  }
  bool Runs(const std::string& name) { return model_.IsRunning(IdOf(name)); }
  void RunUntilMade(const std::string& name) {
    for (int i = 0; i < 10'000 && IdOf(name).empty(); ++i) Run(Milliseconds(1));
    ASSERT_FALSE(IdOf(name).empty());
  }
  void RunUntilSpecified() {
    const auto specifies = [this] {
      const sync::PodWorker* worker = agent_->Find(PodUid("u1"));
      if (worker == nullptr) return false;
      const auto& containers = worker->ledger().view().containers;
      return !containers.empty() && containers.front().create.in_flight();
    };
    for (int i = 0; i < 100'000 && !specifies(); ++i) Run(Milliseconds(1));
    ASSERT_TRUE(specifies());
  }
  // Messages of one reason, of what they are told of.
  std::vector<std::string> Told(const std::string& reason) const {
    std::vector<std::string> told;
    for (const sync::ObjectEvent& event : events_) {
      if (event.reason == reason) told.push_back(event.object.field_path + ": " + event.message);
    }
    return told;
  }
  using Lines = std::vector<std::string>;

  void OnPodDecided(const sync::PodWorker&, const sync::Decision&) override {}
  void OnPodChanged(uint32_t, const sync::PodWorker&) override {}
  void OnPodGone(const sync::PodIdentity&) override {}
  void OnPodFault(const sync::PodWorker&, const Error& error) override {
    ADD_FAILURE() << error.message();
  }
  void OnPodHeldBack(const sync::PodIdentity&) override {}
  void OnPlegMode(const sync::PlegModeChange&) override {}
  void OnStatus(const sync::PodStatusUpdate&) override {}
  void OnStatusForgotten(const PodUid&) override {}
  void OnPodRejected(const kube::PodRef&, const sync::Rejection& rejection) override {
    ADD_FAILURE() << rejection.message;
  }
  void OnPodEvent(const sync::ObjectEvent& event) override { events_.push_back(event); }

  World world_{{.seed = 5, .shards = 1}};
  fakes::RuntimeModel model_;
  fakes::FakeRuntimeHost host_;
  PodLeaves leaves_;
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput output_{LogFormat{}, world_.clock(), verbosity_, sink_};
  CoreAgentOptions options_;
  kube::core::Pod pod_;
  std::map<PodUid, SimPod> pods_;
  std::map<std::string, fakes::ContainerBehaviour> behaviours_;  // by container
  std::vector<sync::ObjectEvent> events_;
  std::unique_ptr<CoreAgent> agent_;
};

TEST_F(CoreEventsTest, AKillForAHookThatFailedSaysSo) {
  Add("app").mutable_lifecycle()->mutable_poststart()->mutable_exec()->add_command("hello");
  Tell();
  RunUntilMade("app");
  leaves_.faults().fails = 1;
  Run(Seconds(5));
  ASSERT_FALSE(Told("FailedPostStartHook").empty());
  EXPECT_EQ(Told("FailedPostStartHook").front(), "spec.containers{app}: PostStartHook failed");
  ASSERT_FALSE(Told("Killing").empty());
  EXPECT_EQ(Told("Killing").front(), "spec.containers{app}: FailedPostStartHook");
}

TEST_F(CoreEventsTest, AKillForTheRestartOfAllSaysSo) {
  Tell({.kind = SimPodKind::kRestartAll, .name = "pod", .uid = PodUid("u1"), .wished = true});
  Run(Seconds(8));
  EXPECT_EQ(Told("Killing"), Lines{"spec.containers{web}: killing"});
}

TEST_F(CoreEventsTest, AKillOfAContainerWhoseStateIsUnknownSaysSo) {
  Add("app");
  Tell();
  Run(Seconds(5));
  ASSERT_TRUE(model_.LoseState(IdOf("app")));
  Run(Minutes(2));
  EXPECT_EQ(Told("Killing"), Lines{"spec.containers{app}: Container is in \"unknown\" state, try "
                                   "killing it before restart"});
}

TEST_F(CoreEventsTest, AKillForAProbeSaysWhetherItComesBack) {
  pod_.mutable_spec()->set_restartpolicy("Never");
  for (const char* name : {"app", "again"}) {
    Add(name).mutable_livenessprobe()->mutable_handler()->mutable_exec()->add_command("up?");
  }
  pod_.mutable_spec()->mutable_containers(1)->set_restartpolicy("Always");
  Tell();
  Run(Seconds(5));
  for (const char* name : {"app", "again"}) {
    agent_->OnOwner(PodUid("u1"), [name](sync::PodShard& shard) {
      shard.SetProbe(PodUid("u1"), name, 0, std::nullopt, ProbeResult::kFailure);
    });
    Run(Seconds(2));
  }
  EXPECT_EQ(Told("Killing"),
            (Lines{"spec.containers{app}: Container app failed liveness probe",
                   "spec.containers{again}: Container again failed liveness probe, will be "
                   "restarted"}));
}

TEST_F(CoreEventsTest, AKillOfASidecarCallsItAnInitContainer) {
  Tell({.kind = SimPodKind::kProbed, .name = "pod", .uid = PodUid("u1"), .wished = true});
  Run(Seconds(5));
  agent_->OnOwner(PodUid("u1"), [](sync::PodShard& shard) {
    shard.SetProbe(PodUid("u1"), "proxy", 0, ProbeResult::kFailure, std::nullopt);
  });
  Run(Seconds(2));
  EXPECT_EQ(Told("Killing"),
            Lines{"spec.initContainers{proxy}: Init container proxy failed startup probe"});
}

TEST_F(CoreEventsTest, AHookThatIsGivenUpHasNotFailed) {
  Add("app").mutable_lifecycle()->mutable_poststart()->mutable_exec()->add_command("hello");
  Tell();
  RunUntilMade("app");
  leaves_.faults().hangs = 1;
  Run(Seconds(5));
  Delete();
  Run(Seconds(10));
  EXPECT_FALSE(Runs("app"));
  EXPECT_EQ(Told("FailedPostStartHook"), Lines{});
  EXPECT_EQ(Told("Failed"), Lines{});
}

TEST_F(CoreEventsTest, AStartThatIsGivenUpHasNotFailed) {
  Add("app");
  host_.faults().delay_min = host_.faults().delay_max = Seconds(1);
  Tell();
  for (int i = 0; i < 1000 && model_.sandboxes() == 0; ++i) Run(Milliseconds(10));
  Delete();
  Run(Minutes(1));
  for (const char* reason : {"Failed", "FailedMount", "FailedCreatePodSandBox"}) {
    EXPECT_EQ(Told(reason), Lines{}) << reason;
  }
}

TEST_F(CoreEventsTest, EachVolumeThatCannotBeMountedIsTold) {
  Add("app");
  leaves_.missing_volumes()[PodUid("u1")] = {
      {"conf", Error(ErrorCode::kNotFound, "configmap \"m\" not found")},
      {"host", Error(ErrorCode::kInvalid, "hostPath type check failed: /x is not a directory")}};
  Tell();
  Run(Milliseconds(900));
  EXPECT_EQ(
      Told("FailedMount"),
      (Lines{": MountVolume.SetUp failed for volume \"conf\" : configmap \"m\" not found",
             ": MountVolume.SetUp failed for volume \"host\" : hostPath type check failed: /x "
             "is not a directory"}));
  leaves_.missing_volumes().clear();
  Run(Minutes(1));
  EXPECT_EQ(Told("Started").size(), 1u);
}

TEST_F(CoreEventsTest, TheLogSaysWhoWaitsForWhatAndWhenThatIsOver) {
  Add("app");
  leaves_.missing_volumes()[PodUid("u1")] = {
      {"conf", Error(ErrorCode::kNotFound, "configmap \"m\" not found")}};
  leaves_.missing().insert(PodUid("u1"));
  Tell();
  Run(Minutes(10));
  EXPECT_EQ(Logged("Pod waits for a volume"), 1u);
  leaves_.missing_volumes().clear();
  Run(Minutes(10));
  EXPECT_EQ(Logged("Pod has the volume that it waited for"), 1u);
  EXPECT_EQ(Logged("Container waits for what it refers to"), 1u);
  leaves_.missing().clear();
  Run(Minutes(10));
  EXPECT_EQ(Logged("Container has what it waited for"), 1u);
  EXPECT_EQ(Logged("Pod waits for a volume"), 1u);
}

TEST_F(CoreEventsTest, AVolumeThatKeepsItsOldContentIsToldAndItsPodRunsOn) {
  Add("app");
  Tell();
  Run(Seconds(5));
  const auto tell = [&] {
    agent_->OnOwner(PodUid("u1"), [](sync::PodShard& shard) {
      shard.VolumeNotRenewed(PodUid("u1"),
                             {"conf", Error(ErrorCode::kNotFound, "configmap \"m\" not found")});
    });
    Run(Seconds(1));
  };
  tell();
  tell();
  EXPECT_EQ(Told("FailedMount"),
            Lines(2, ": MountVolume.SetUp failed for volume \"conf\" : configmap \"m\" not found"));
  EXPECT_EQ(Logged("Volume of a running pod could not be renewed"), 1u);
  EXPECT_TRUE(Runs("app"));
  agent_->OnOwner(PodUid("u1"),
                  [](sync::PodShard& shard) { shard.VolumeRenewed(PodUid("u1"), "conf"); });
  Run(Seconds(1));
  EXPECT_EQ(Logged("Volume of a running pod was renewed again"), 1u);
  Delete();
  Run(Seconds(1));
  tell();
  EXPECT_EQ(Told("FailedMount").size(), 2u) << "a pod that ends";
}

TEST_F(CoreEventsTest, AHookThatTheGraceCutsOffHasNotFailed) {
  Add("app").mutable_lifecycle()->mutable_prestop()->mutable_exec()->add_command("goodbye");
  Tell();
  Run(Seconds(5));
  leaves_.faults().hangs = 1;
  Delete();
  Run(Seconds(40));
  EXPECT_EQ(Told("Killing"), Lines{"spec.containers{app}: Stopping container app"});
  EXPECT_EQ(Told("FailedPreStopHook"), Lines{});
}

TEST_F(CoreEventsTest, AHookThatFailsBeforeTheEndIsTold) {
  Add("app").mutable_lifecycle()->mutable_prestop()->mutable_exec()->add_command("goodbye");
  Tell();
  Run(Seconds(5));
  leaves_.faults().fails = 1;
  Delete();
  Run(Seconds(5));
  EXPECT_EQ(Told("FailedPreStopHook"), Lines{"spec.containers{app}: PreStopHook failed"});
}

TEST_F(CoreEventsTest, AHookThatWasAnsweredWithoutTlsIsTold) {
  auto& lifecycle = *Add("app").mutable_lifecycle();
  lifecycle.mutable_poststart()->mutable_exec()->add_command("hello");
  lifecycle.mutable_prestop()->mutable_exec()->add_command("goodbye");
  leaves_.faults().hooks_without_tls = "10.0.0.7:80";
  const std::string line =
      ": request to HTTPS lifecycle hook 10.0.0.7:80 got HTTP response, retry with HTTP succeeded";
  Tell();
  Run(Seconds(5));
  EXPECT_EQ(Told("LifecycleHTTPFallback"), Lines{line});
  Delete();
  Run(Seconds(5));
  EXPECT_EQ(Told("LifecycleHTTPFallback"), (Lines{line, line}));
}

TEST_F(CoreEventsTest, EveryContainerInACrashLoopIsToldOnceAnEnd) {
  Add("a");
  Add("b");
  behaviours_["a"] = {.runs_for = Seconds(1), .exit_code = 1};
  behaviours_["b"] = {.runs_for = Milliseconds(1500), .exit_code = 1};
  Tell();
  // It ends, ends again after the restart at once, and is held for 10 s, for 20 s, for 40 s.
  Run(Seconds(60));
  const auto line = [](const std::string& name) {
    return "spec.containers{" + name + "}: Back-off restarting failed container " + name +
           " in pod pod_default(u1)";
  };
  const Lines told = Told("BackOff");
  EXPECT_EQ(std::ranges::count(told, line("a")), 3) << testing::PrintToString(told);
  EXPECT_EQ(std::ranges::count(told, line("b")), 3) << testing::PrintToString(told);
  EXPECT_EQ(told.size(), 6u) << testing::PrintToString(told);
}

TEST_F(CoreEventsTest, APodThatCannotBeStoppedIsTold) {
  Add("app");
  Tell();
  Run(Seconds(5));
  host_.faults().refused = 1;
  Delete();
  Run(Milliseconds(500));
  EXPECT_EQ(Told("FailedKillPod"),
            Lines{": error killing pod: [failed to \"KillContainer\" for \"app\" with "
                  "KillContainerError: \"the runtime failed\", failed to \"KillPodSandbox\" for "
                  "\"u1\" with "
                  "KillPodSandboxError: \"the runtime failed\"]"});
  host_.faults().refused = 0;
  Run(Minutes(2));
  EXPECT_FALSE(Runs("app"));
  EXPECT_EQ(Told("FailedKillPod").size(), 1u);
}

TEST_F(CoreEventsTest, ASandboxThatCannotBeReadIsToldOnceForAllFailuresInARow) {
  Add("app");
  Tell();
  for (int i = 0; i < 10'000 && model_.sandboxes() == 0; ++i) Run(Microseconds(100));
  host_.faults().refused = 1;
  Run(Seconds(10));
  EXPECT_EQ(Told("FailedPodSandBoxStatus"),
            Lines{": Unable to get pod sandbox status: the runtime failed"});
  host_.faults().refused = 0;
  Run(Minutes(1));
  EXPECT_TRUE(Runs("app"));
}

TEST_F(CoreEventsTest, APodThatCannotBeReadIsToldOnceForAllFailuresInARow) {
  Add("app");
  Tell();
  Run(Seconds(20));
  ASSERT_TRUE(Runs("app"));
  host_.faults().refused = 1;
  model_.Exit(IdOf("app"), 1);
  Run(Minutes(3));
  EXPECT_EQ(Told("FailedSync"), Lines{": error determining status: the runtime failed"});
  EXPECT_EQ(Logged("Could not read a pod from the runtime"), 1u);
  host_.faults().refused = 0;
  Run(Minutes(2));
  EXPECT_EQ(Logged("Pod can be read from the runtime again"), 1u);
  EXPECT_EQ(Told("Started").size(), 2u);
}

TEST_F(CoreEventsTest, ARuntimeThatIsAwaySaysNothingOfItsPods) {
  Add("app");
  Tell();
  Run(Seconds(20));
  host_.Crash();
  Run(Minutes(3));
  host_.Start();
  Run(Minutes(2));
  EXPECT_EQ(Told("FailedSync"), Lines{});
}

TEST_F(CoreEventsTest, APodThatIsStoppedHasNoFailureToTell) {
  Add("app");
  Tell();
  Run(Seconds(5));
  Delete();
  Run(Minutes(1));
  EXPECT_EQ(Told("FailedKillPod"), Lines{});
}

TEST_F(CoreEventsTest, WhatAContainerRefersToIsMissingAndComesLater) {
  Add("app");
  leaves_.missing().insert(PodUid("u1"));
  Tell();
  Run(Minutes(3));
  EXPECT_TRUE(IdOf("app").empty());
  const Lines told = Told("Failed");
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.front(), R"(spec.containers{app}: Error: configmap "settings" not found)");
  EXPECT_LT(told.size(), 20u) << "with growing pauses";
  const auto waiting = agent_->Find(PodUid("u1"))->Waiting(world_.clock().Now());
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_EQ(waiting.front().reason, "CreateContainerConfigError");
  EXPECT_EQ(waiting.front().message, R"(configmap "settings" not found)");
  leaves_.missing().clear();
  agent_->OnOwner(PodUid("u1"), [](sync::PodShard& shard) { shard.ObjectsChanged(PodUid("u1")); });
  Run(Seconds(1));
  EXPECT_TRUE(Runs("app")) << "as soon as it came";
}

TEST_F(CoreEventsTest, WhatCameWhileItWasAskedForIsTriedAgainAtOnce) {
  Add("app");
  leaves_.missing().insert(PodUid("u1"));
  leaves_.faults().delay_max = Seconds(20);
  Tell();
  RunUntilSpecified();
  agent_->OnOwner(PodUid("u1"), [](sync::PodShard& shard) { shard.ObjectsChanged(PodUid("u1")); });
  leaves_.faults().delay_max = Milliseconds(100);
  for (int i = 0; i < 100'000 && Told("Failed").empty(); ++i) Run(Milliseconds(1));
  ASSERT_EQ(Told("Failed").size(), 1u) << "the answer was older than the word of its change";
  leaves_.missing().clear();
  Run(Milliseconds(500));
  EXPECT_TRUE(Runs("app"));
}

TEST_F(CoreEventsTest, APodThatEndsWhileItsContainerIsSpecifiedGetsNoContainer) {
  Add("app");
  leaves_.faults().delay_max = Seconds(20);
  Tell();
  RunUntilSpecified();
  leaves_.faults().delay_max = Milliseconds(1);
  Delete();
  Run(Seconds(30));
  EXPECT_TRUE(model_.Read(PodUid("u1")).containers.empty());
  EXPECT_EQ(Told("Created"), Lines());
  EXPECT_EQ(Told("Failed"), Lines()) << "what was given up is no failure";
  const sync::PodWorker* worker = agent_->Find(PodUid("u1"));
  EXPECT_TRUE(worker == nullptr || worker->state().phase == sync::Phase::kFinished);
}

}  // namespace
}  // namespace denselet::sim
