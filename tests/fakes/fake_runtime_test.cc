// The model of the runtime must itself be right: what it allows, what it refuses, what it writes
// down, and that a seed decides everything.
#include "tests/fakes/fake_runtime.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/fakes/fake_event_stream.h"
#include "tests/sim/world.h"

namespace denselet::fakes {
namespace {

class Fixture {
 public:
  explicit Fixture(uint64_t seed = 1)
      : world({.seed = seed, .shards = 1}),
        model(world.clock(),
              [this](Duration d, UniqueFunction<void()> task) { world.Later(d, std::move(task)); }),
        host(model, world.random(),
             [this](Duration d, UniqueFunction<void()> task) { world.Later(d, std::move(task)); }),
        runtime(world.loop(0), host) {
    model.images().insert("image");
  }

  void Run(Duration d) { world.RunUntil(world.clock().Now() + d); }
  // Calls are made in turns of the loop, as the agent makes them.
  void InTurn(reactor::Task call, Duration wait = Seconds(1)) {
    world.loop(0).Post(std::move(call));
    Run(wait);
  }

  sync::SandboxSpec Sandbox(uint32_t attempt = 0) {
    return {.pod = {.ref = {"ns", "pod"}, .uid = PodUid("u1")}, .attempt = attempt};
  }
  Result<SandboxId> RunSandbox(uint32_t attempt = 0) {
    std::optional<Result<SandboxId>> answer;
    InTurn([&] {
      runtime.RunSandbox({}, Sandbox(attempt), [&answer](Result<SandboxId> r) { answer = r; });
    });
    return *answer;
  }
  Result<ContainerId> Create(const SandboxId& sandbox, uint32_t attempt = 0) {
    std::optional<Result<ContainerId>> answer;
    InTurn([&] {
      runtime.CreateContainer(
          {}, sandbox, {.pod = PodUid("u1"), .name = "web", .attempt = attempt, .image = "image"},
          Sandbox(), [&answer](Result<ContainerId> r) { answer = r; });
    });
    return *answer;
  }
  Status Start(const ContainerId& id) {
    std::optional<Status> answer;
    InTurn([&] { runtime.StartContainer({}, id, [&answer](Status r) { answer = r; }); });
    return *answer;
  }

  sim::World world;
  RuntimeModel model;
  FakeRuntimeHost host;
  FakeRuntime runtime;
};

TEST(FakeRuntime, RunsAContainerUntilItEndsByItself) {
  Fixture f;
  f.model.set_behave([](const PodUid&, const std::string&, uint32_t) {
    return ContainerBehaviour{.runs_for = Seconds(100), .exit_code = 3};
  });
  const auto sandbox = f.RunSandbox();
  ASSERT_TRUE(sandbox);
  const auto container = f.Create(*sandbox);
  ASSERT_TRUE(container);
  ASSERT_TRUE(f.Start(*container));
  EXPECT_TRUE(f.model.IsRunning(*container));
  f.Run(Seconds(200));
  const sync::ObservedPod pod = f.model.Read(PodUid("u1"));
  ASSERT_EQ(pod.containers.size(), 1u);
  EXPECT_EQ(pod.containers[0].state, sync::ContainerState::kExited);
  EXPECT_EQ(pod.containers[0].exit_code, 3);
  EXPECT_TRUE(f.model.violations().empty());
}

TEST(FakeRuntime, RefusesASecondOfOneAttempt) {
  Fixture f;
  ASSERT_TRUE(f.RunSandbox());
  const auto again = f.RunSandbox();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), ErrorCode::kAlreadyExists);
  EXPECT_TRUE(f.model.violations().empty());
}

TEST(FakeRuntime, WritesDownASecondSandboxBesideAReadyOne) {
  Fixture f;
  ASSERT_TRUE(f.RunSandbox());
  ASSERT_TRUE(f.RunSandbox(1));
  EXPECT_EQ(f.model.violations().size(), 2u);  // when it was sent, and when it was there
}

TEST(FakeRuntime, WritesDownACreateRepeatedBlindly) {
  Fixture f;
  const auto sandbox = f.RunSandbox();
  ASSERT_TRUE(sandbox);
  f.host.faults().lost_after = 1;
  ASSERT_FALSE(f.Create(*sandbox));
  f.host.faults().lost_after = 0;
  ASSERT_FALSE(f.Create(*sandbox));
  ASSERT_EQ(f.model.violations().size(), 1u);
  f.InTurn([&f] { f.runtime.ReadPod({}, PodUid("u1"), [](Result<sync::ObservedPod>) {}); });
  ASSERT_FALSE(f.Create(*sandbox));
  EXPECT_EQ(f.model.violations().size(), 1u);
}

TEST(FakeRuntime, WritesDownAnotherAttemptBesideOneInTheMaking) {
  Fixture f;
  const SandboxId sandbox = *f.RunSandbox();
  SentRequest create{.request = RuntimeRequest::kCreateContainer,
                     .pod = PodUid("u1"),
                     .name = "web",
                     .attempt = 1,
                     .sandbox = sandbox};
  ASSERT_TRUE(f.model.Reserve(create));
  create.attempt = 2;
  f.model.Sent(create);
  EXPECT_EQ(f.model.violations().size(), 1u);
}

TEST(FakeRuntime, WhatADeadAgentAskedForMayArriveLate) {
  Fixture f;
  const SandboxId sandbox = *f.RunSandbox();
  SentRequest create{.request = RuntimeRequest::kCreateContainer,
                     .pod = PodUid("u1"),
                     .name = "web",
                     .attempt = 1,
                     .sandbox = sandbox,
                     .agent = f.model.agent()};
  f.model.AgentStarted();
  ASSERT_TRUE(f.model.Reserve(create));
  create.attempt = 0;
  f.model.Sent(create);
  EXPECT_EQ(f.model.violations(), std::vector<std::string>());
}

TEST(FakeRuntime, AStartThatADeadAgentAskedForCannotBeKnown) {
  for (const bool looked : {true, false}) {
    Fixture f;
    const ContainerId id = *f.Create(*f.RunSandbox());
    const uint64_t dead = f.model.agent();
    f.model.AgentStarted();
    const auto remove = [&] {
      f.host.faults().refused = 1;
      f.InTurn([&] { f.runtime.RemoveContainer({}, id, [](Status) {}); });
      f.host.faults().refused = 0;
    };
    remove();
    ASSERT_TRUE(f.model.StartContainer(id, dead));
    if (looked) f.model.ReadSent(PodUid("u1"));
    remove();
    EXPECT_EQ(f.model.violations().empty(), looked) << "each removal needs its look";
  }
}

TEST(FakeRuntime, NothingIsInTheMakingInASandboxThatIsGone) {
  Fixture f;
  const SandboxId old = *f.RunSandbox();
  SentRequest create{.request = RuntimeRequest::kCreateContainer,
                     .pod = PodUid("u1"),
                     .name = "web",
                     .attempt = 1,
                     .sandbox = old};
  ASSERT_TRUE(f.model.Reserve(create));
  ASSERT_TRUE(f.model.RemoveSandbox(old));
  create.sandbox = *f.RunSandbox(1);
  create.attempt = 0;
  f.model.Sent(create);
  EXPECT_EQ(f.model.violations(), std::vector<std::string>());
}

TEST(FakeRuntime, WritesDownARemovalOfOneThatRuns) {
  Fixture f;
  const ContainerId id = *f.Create(*f.RunSandbox());
  ASSERT_TRUE(f.Start(id));
  f.InTurn([&] { f.runtime.RemoveContainer({}, id, [](Status) {}); });
  EXPECT_EQ(f.model.violations().size(), 1u);
  EXPECT_EQ(f.model.containers(), 0u) << "it is removed by force";
}

TEST(FakeRuntime, OneThatRunsWithoutTheAgentsKnowledgeIsNotToBeRemovedEither) {
  Fixture f;
  const ContainerId id = *f.Create(*f.RunSandbox());
  f.host.faults().late = 1;
  ASSERT_FALSE(f.Start(id));
  f.host.faults().late = 0;
  f.Run(Minutes(1));
  ASSERT_TRUE(f.model.IsRunning(id));
  f.InTurn([&] { f.runtime.RemoveContainer({}, id, [](Status) {}); });
  EXPECT_EQ(f.model.violations().size(), 1u);
}

TEST(FakeRuntime, ASandboxOfADeadAgentMayTurnUpBesideTheFirstOfALaterLife) {
  for (const bool begun_anew : {true, false}) {
    Fixture f;
    const SandboxId old = *f.RunSandbox();
    const SentRequest run{
        .request = RuntimeRequest::kRunSandbox, .pod = PodUid("u1"), .attempt = 2};
    ASSERT_TRUE(f.model.Reserve(run));
    f.model.AgentStarted();
    ASSERT_TRUE(begun_anew ? f.model.RemoveSandbox(old) : f.model.StopSandbox(old));
    ASSERT_TRUE(f.RunSandbox(1));
    ASSERT_TRUE(f.model.RunSandbox(f.Sandbox(2)));
    EXPECT_EQ(f.model.violations().empty(), begun_anew);
  }
}

TEST(FakeRuntime, ASandboxOfADeadAgentMayTurnUpWhileTheFirstOfALaterLifeIsMade) {
  for (const bool too_early : {false, true}) {
    Fixture f;
    const SentRequest dead{
        .request = RuntimeRequest::kRunSandbox, .pod = PodUid("u1"), .attempt = 1};
    ASSERT_TRUE(f.model.Reserve(dead));
    f.model.AgentStarted();
    SentRequest run = dead;
    run.attempt = 0;
    if (!too_early) f.model.Sent(run);
    ASSERT_TRUE(f.model.RunSandbox(f.Sandbox(1)));
    if (too_early) f.model.Sent(run);
    ASSERT_TRUE(f.model.RunSandbox(f.Sandbox(0)));
    EXPECT_EQ(f.model.violations().empty(), !too_early);
  }
}

TEST(FakeRuntime, TakesEffectAfterTheCallerGaveUp) {
  Fixture f;
  f.host.faults().late = 1;
  std::optional<Result<SandboxId>> answer;
  f.InTurn(
      [&] {
        f.runtime.RunSandbox({}, f.Sandbox(), [&answer](Result<SandboxId> r) { answer = r; });
      },
      Milliseconds(100));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error().code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(f.model.sandboxes(), 0u);
  f.Run(Minutes(1));
  EXPECT_EQ(f.model.sandboxes(), 1u);
}

TEST(FakeRuntime, WritesDownAGraceThatGrows) {
  Fixture f;
  f.model.set_behave([](const PodUid&, const std::string&, uint32_t) {
    return ContainerBehaviour{.stops_within = Hours(1)};
  });
  const auto sandbox = f.RunSandbox();
  const auto container = f.Create(*sandbox);
  ASSERT_TRUE(f.Start(*container));
  f.InTurn([&] { f.runtime.StopContainer({}, *container, Seconds(30), [](Status) {}); });
  f.InTurn([&] { f.runtime.StopContainer({}, *container, Seconds(10), [](Status) {}); });
  EXPECT_TRUE(f.model.violations().empty());
  f.InTurn([&] { f.runtime.StopContainer({}, *container, Seconds(20), [](Status) {}); });
  EXPECT_EQ(f.model.violations().size(), 1u);
}

class Counting final : public sync::RuntimeEventsUser {
 public:
  void OnPodHint(const sync::PodHint&) override { ++hints; }
  void OnHintsLost() override { ++lost; }
  void OnStreamState(sync::EventStreamState state) override { states.push_back(state); }
  int hints = 0;
  int lost = 0;
  std::vector<sync::EventStreamState> states;
};

TEST(FakeEventStream, TellsOfChangesAndComesBackAfterACrash) {
  Fixture f;
  Counting user;
  FakeEventStream stream(f.world.loop(0), f.host, {}, user);
  f.Run(Seconds(1));
  ASSERT_EQ(user.states, std::vector{sync::EventStreamState::kEstablished});
  ASSERT_TRUE(f.RunSandbox());
  EXPECT_EQ(user.hints, 1);
  f.host.Crash();
  f.Run(Seconds(2));
  EXPECT_FALSE(stream.established());
  f.host.Start();
  f.Run(Seconds(2));
  EXPECT_TRUE(stream.established());
}

TEST(FakeEventStream, LosesSilentlyWhatItIsToLose) {
  Fixture f;
  Counting user;
  FakeEventStream stream(f.world.loop(0), f.host, {.lost = 1}, user);
  f.Run(Seconds(1));
  ASSERT_TRUE(f.RunSandbox());
  EXPECT_EQ(user.hints + user.lost, 0);
}

TEST(FakeEventStream, SaysWhoseWordWentWrong) {
  Fixture f;
  Counting user;
  std::vector<FakeEventFault> faults;
  f.host.set_on_event_fault(
      [&faults](FakeEventFault fault, const PodUid&) { faults.push_back(fault); });
  FakeEventStream stream(f.world.loop(0), f.host, {.repeated = 1, .late = 1}, user);
  f.Run(Seconds(1));
  ASSERT_TRUE(f.RunSandbox());
  EXPECT_EQ(faults, (std::vector{FakeEventFault::kLate, FakeEventFault::kRepeated}));
}

}  // namespace
}  // namespace denselet::fakes
