// The parts of a decision by themselves: plan, grace, memory, reasons, and what holds for all.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "sync/decide/grace.h"
#include "tests/golden.h"
#include "tests/sync/decide/scene.h"

namespace denselet::sync::tests {
namespace {

struct GraceRow {
  int64_t before;
  std::optional<int64_t> deletion;
  std::optional<int64_t> asked_for;
  std::optional<int64_t> pods;
  int64_t grace;
};

TEST(ShrinkGrace, OnlyShrinks) {
  constexpr std::nullopt_t kNo = std::nullopt;
  const std::vector<GraceRow> rows{
      {0, kNo, kNo, kNo, 1}, {0, kNo, kNo, 30, 30}, {0, kNo, kNo, 0, 1},   {0, 10, kNo, 30, 10},
      {0, 60, kNo, 30, 60},  {0, kNo, 5, 30, 5},    {0, 10, 5, 30, 5},     {0, 5, 10, 30, 5},
      {0, 0, kNo, 30, 1},    {0, kNo, 0, 30, 1},    {30, kNo, kNo, 5, 30}, {30, 10, kNo, 30, 10},
      {10, 30, kNo, 30, 10}, {10, kNo, 30, 30, 10}, {10, 0, kNo, 30, 1},   {1, 30, 30, 30, 1},
      {10, 8, 6, 30, 6},     {10, 6, 8, 30, 6},
  };
  for (const GraceRow& row : rows) {
    const PodPlan plan{.deletion_grace_seconds = row.deletion,
                       .termination_grace_seconds = row.pods};
    EXPECT_EQ(ShrinkGrace(row.before, plan, row.asked_for), row.grace)
        << row.before << " " << row.deletion.value_or(-1) << " " << row.asked_for.value_or(-1);
    if (row.before > 0) {
      EXPECT_LE(ShrinkGrace(row.before, plan, row.asked_for), row.before);
    }
  }
}

TEST(GraceLeft, CountsBegunSeconds) {
  EXPECT_EQ(GraceLeft(Seconds(30), kNow, kNow), Seconds(30));
  EXPECT_EQ(GraceLeft(Seconds(30), kNow - Milliseconds(999), kNow), Seconds(30));
  EXPECT_EQ(GraceLeft(Seconds(30), kNow - Milliseconds(1000), kNow), Seconds(29));
  EXPECT_EQ(GraceLeft(Seconds(30), kNow - Seconds(31), kNow), Seconds(0));
  EXPECT_EQ(GraceLeft(Seconds(30), kNow + Seconds(5), kNow), Seconds(30));
}

TEST(PodMemory, RemembersTheTwoNewestExitsAndWhenTheyWereFirstSeen) {
  PodMemory memory;
  ObservedContainer container{.name = "app", .attempt = 0, .state = ContainerState::kExited};
  memory.NoteObserved(container, kNow);
  memory.NoteObserved(container, kNow + Seconds(5));
  EXPECT_EQ(memory.Find("app")->last_exit, (ExitSeen{0, kNow}));
  container.attempt = 2;
  memory.NoteObserved(container, kNow + Seconds(7));
  EXPECT_EQ(memory.Find("app")->last_exit, (ExitSeen{2, kNow + Seconds(7)}));
  EXPECT_EQ(memory.Find("app")->exit_before, (ExitSeen{0, kNow}));
  container.attempt = 1;
  memory.NoteObserved(container, kNow + Seconds(9));
  EXPECT_EQ(memory.Find("app")->exit_before, (ExitSeen{1, kNow + Seconds(9)}));
  EXPECT_EQ(memory.Find("app")->attempts, 3u);
}

TEST(PodMemory, RunningContainersHaveNotEnded) {
  PodMemory memory;
  memory.NoteObserved({.name = "app", .attempt = 4, .state = ContainerState::kRunning}, kNow);
  EXPECT_FALSE(memory.Find("app")->last_exit);
  EXPECT_EQ(memory.Find("app")->attempts, 5u);
  memory.NoteCreate("app", 7, BackOffEntry{.key = 1, .delay = Seconds(10), .updated = kNow});
  EXPECT_EQ(memory.Find("app")->attempts, 8u);
  EXPECT_TRUE(memory.Find("app")->back_off);
}

TEST(PodMemory, KnowsHowLongAStartWasHeldUp) {
  PodMemory memory;
  const auto entry = [](int delay, int at) {
    return BackOffEntry{.key = 1, .delay = Seconds(delay), .updated = kNow + Seconds(at)};
  };
  memory.NoteCreate("app", 1, entry(10, 0));
  EXPECT_EQ(memory.Find("app")->waited, std::nullopt);
  memory.NoteWaited("app", entry(20, 15));  // begun, and not sent yet
  EXPECT_EQ(memory.Find("app")->waited, Seconds(10));
  EXPECT_EQ(memory.Find("app")->attempts, 2u);
  EXPECT_EQ(memory.Find("app")->back_off, entry(10, 0));
  memory.NoteCreate("app", 2, entry(20, 15));
  EXPECT_EQ(memory.Find("app")->waited, Seconds(10));
  memory.NoteCreate("app", 3, entry(10, 4000));  // it ran for an hour
  EXPECT_EQ(memory.Find("app")->waited, std::nullopt);
}

TEST(BackOff, AnotherKeyStartsAnew) {
  const BackOffEntry entry{.key = 1, .delay = Seconds(160), .updated = kNow - Seconds(1)};
  EXPECT_EQ(BackOffDelay(entry, 1, kNow, kNow), Seconds(160));
  EXPECT_EQ(BackOffDelay(entry, 2, kNow, kNow), std::nullopt);
  EXPECT_EQ(NextBackOff(entry, 2, kNow, {}, kNow).delay, Seconds(10));
}

struct ReasonRow {
  const char* behaviour;
  const char* pod;
  const char* given;
  const char* reasons;
};

TEST(WaitingReasons, AreTheKubelets) {
  const std::vector<ReasonRow> rows{
      {"a new pod", "Always c:a c:b", "", "a:ContainerCreating b:ContainerCreating"},
      {"nobody looked", "Always c:a", "unobserved", "a:ContainerCreating"},
      {"a new pod with init containers", "Always i:i c:a", "",
       "i:PodInitializing a:PodInitializing"},
      {"an init container runs", "Always i:i c:a", "sb0=ready i/0=running", "a:PodInitializing"},
      {"an init container is done", "Always i:i c:a", "sb0=ready i/0=exited:0",
       "a:PodInitializing"},
      {"all runs", "Always c:a", "sb0=ready a/0=running", ""},
      {"one is created", "Always c:a", "sb0=ready a/0=created", "a:ContainerCreating"},
      {"one was started, and nobody looked since", "Always c:a",
       "sb0=ready a/0=created a/0.start=done", "a:ContainerCreating"},
      {"an image fails", "Always c:a", "sb0=ready image(a)=failed:ErrImagePull:retry=5",
       "a:ErrImagePull(why)"},
      {"an image backs off", "Always c:a", "sb0=ready image(a)=failed:ImagePullBackOff:retry=5",
       "a:ImagePullBackOff(why)"},
      {"a create fails", "Always c:a",
       "sb0=ready a/0.create=failed:retry=5:reason=CreateContainerError",
       "a:CreateContainerError(why)"},
      {"a start fails", "Always c:a",
       "sb0=ready a/0=exited:128 a/0.start=failed:covered:reason=RunContainerError exit(a/0)=0",
       "a:RunContainerError(why)"},
      {"a hook fails", "Always c:a[post]",
       "sb0=ready a/0=exited:137 a/0.post=failed:covered:reason=PostStartHookError exit(a/0)=0",
       "a:PostStartHookError(why)"},
      {"a crash loop", "Always c:a", "sb0=ready a/1=exited:1 exit(a/1)=0 backoff(a)=80:-1",
       "a:CrashLoopBackOff(back-off 1m20s restarting failed container=a pod=pod_default(uid))"},
      {"a crash loop whose time is over, and that is not started yet", "Always c:a",
       "sb0=ready a/1=exited:1 exit(a/1)=-90 backoff(a)=80:-100",
       "a:CrashLoopBackOff(back-off 1m20s restarting failed container=a pod=pod_default(uid))"},
      {"it ended and waits for nothing", "Always c:a", "sb0=ready a/0=exited:1", ""},
      {"it ended for good", "Never c:a c:b", "sb0=ready a/0=exited:1", "b:ContainerCreating"},
      {"an init container in a loop", "Always i:i c:a",
       "sb0=ready i/1=exited:1 exit(i/1)=0 backoff(i)=10:-1",
       "i:CrashLoopBackOff(back-off 10s restarting failed container=i pod=pod_default(uid)) "
       "a:PodInitializing"},
      {"a pod that ends", "Always deleted c:a c:b",
       "term pgrace=30 sb0=ready a/1=exited:1 exit(a/1)=0 backoff(a)=10:-1", "b:ContainerCreating"},
      {"an ephemeral container that ended", "Always c:a e:dbg",
       "sb0=ready a/0=running dbg/0=exited:1", ""},
  };
  for (const ReasonRow& row : rows) {
    const Scene scene = ParseScene(row.pod, row.given);
    std::string text;
    for (const ContainerWaiting& waiting : WaitingReasons(scene.Input())) {
      if (!text.empty()) text += ' ';
      text += scene.plan.containers[waiting.container].name + ":" + waiting.reason;
      if (!waiting.message.empty()) text += "(" + waiting.message + ")";
    }
    EXPECT_EQ(text, row.reasons) << row.behaviour;
  }
}

TEST(WaitingReasons, ACrashLoopIsToldUntilTheNextStartIsSeen) {
  for (const char* const start : {"a/2=created", "a/2=created a/2.start=done"}) {
    Scene scene = ParseScene("Always c:a", std::string("sb0=ready a/1=exited:1 ") + start);
    BackOffEntry loop{.key = 1, .delay = Seconds(10), .updated = kNow};
    scene.memory.NoteCreate("a", 1, loop);
    loop.delay = Seconds(20);
    loop.updated = kNow + Seconds(15);
    scene.memory.NoteCreate("a", 2, loop);
    const auto reasons = WaitingReasons(scene.Input());
    ASSERT_EQ(reasons.size(), 1U) << start;
    EXPECT_EQ(reasons[0].reason, "CrashLoopBackOff") << start;
  }
}

TEST(WaitingReasons, TellWhatTheRuntimeSaidWithoutItsCode) {
  EXPECT_EQ(WithoutRpcCode("rpc error: code = Unknown desc = no such file: desc = x"),
            "no such file: desc = x");
  EXPECT_EQ(WithoutRpcCode("rpc error: code = Unknown"), "rpc error: code = Unknown");
  EXPECT_EQ(WithoutRpcCode("container has runAsNonRoot"), "container has runAsNonRoot");
}

// In every state of the golden table: whatever the order of the lists, the decision is the same;
// every decision can be told; and a wait says what for.
TEST(Decide, DoesNotDependOnTheOrderOfLists) {
  int waits = 0;
  for (const auto& row : denselet::tests::ReadGolden("tests/sync/decide/golden/pod_actions.txt")) {
    Scene scene = ParseScene(row[0], row[1]);
    const Decision decision = Decide(scene.Input());
    const std::string forward = Brief(decision, scene.plan);
    std::ranges::reverse(scene.observed.sandboxes);
    std::ranges::reverse(scene.observed.containers);
    EXPECT_EQ(Brief(Decide(scene.Input()), scene.plan), forward) << row[0] << " | " << row[1];
    EXPECT_FALSE(Describe(decision, scene.plan, kNow).empty());
    waits += std::holds_alternative<Wait>(decision.action);
  }
  EXPECT_GT(waits, 100);
}

// The whole way of a pod of one container, each answer entered into the ledger as the core does it:
// six calls of the runtime, two of them looks.
TEST(Decide, NamesEveryContainerThatABackOffHolds) {
  const Scene scene = ParseScene("Always c:a c:b c:c",
                                 "sb0=ready a/1=exited:1 exit(a/1)=0 backoff(a)=80:-1 b/0=running "
                                 "c/1=exited:1 exit(c/1)=0 backoff(c)=20:-1");
  const Decision decision = Decide(scene.Input());
  ASSERT_TRUE(std::holds_alternative<Wait>(decision.action));
  EXPECT_EQ(std::get<Wait>(decision.action).in_back_off, (std::vector<ContainerIndex>{0, 2}));
}

TEST(Decide, StartsAPodWithSixCalls) {
  const char* pod = "Always c:app";
  EXPECT_EQ(Brief(Decide(ParseScene(pod, "").Input()), ParsePod(pod)), "run sb0");
  const std::vector<std::pair<const char*, const char*>> steps{
      {"sb0.run=done image(app)=none", "read sb0"},
      {"sb0.run=done sb0.seen=ready image(app)=none", "images app/0"},
      {"sb0.run=done sb0.seen=ready", "create app/0 in sb0"},
      {"sb0.run=done sb0.seen=ready app/0.create=done", "start app/0"},
      {"sb0.run=done sb0.seen=ready app/0.create=done app/0.start=done", "read app/0"},
      {"sb0.run=done sb0.seen=ready app/0.create=done app/0.start=done app/0.seen=running",
       "wait change"},
  };
  for (const auto& [given, decision] : steps) {
    const Scene scene = ParseScene(pod, given);
    EXPECT_EQ(Brief(Decide(scene.Input()), scene.plan), decision) << given;
  }
}

TEST(Describe, TellsPeopleWhatIsWaitedFor) {
  const Scene scene =
      ParseScene("Always c:app", "sb0=ready image(app)=failed:ErrImagePull:retry=3");
  EXPECT_EQ(Describe(Decide(scene.Input()), scene.plan, kNow),
            "wait for the next try to get the image of container \"app\", 3s at most: \"why\"");
}

kube::core::Pod PodFrom(const char* json) {
  kube::core::Pod pod;
  EXPECT_TRUE(kube::DecodeJson(json, pod).ok()) << json;
  return pod;
}

TEST(PodPlan, TakesWhatDecisionsNeed) {
  const auto plan = MakePodPlan(PodFrom(R"({
    "metadata": {"name": "p", "namespace": "n", "uid": "u", "deletionTimestamp": "2026-01-01T00:00:00Z",
                 "deletionGracePeriodSeconds": 5},
    "spec": {"restartPolicy": "Never", "hostNetwork": true, "terminationGracePeriodSeconds": 7,
      "activeDeadlineSeconds": 60,
      "initContainers": [{"name": "i"}, {"name": "s", "restartPolicy": "Always"},
                         {"name": "o", "restartPolicy": "OnFailure"}],
      "containers": [{"name": "c", "image": "img", "restartPolicy": "Never",
        "restartPolicyRules": [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}],
        "lifecycle": {"postStart": {"sleep": {"seconds": 1}}, "preStop": {"sleep": {"seconds": 1}}},
        "livenessProbe": {"terminationGracePeriodSeconds": 3}, "startupProbe": {},
        "resources": {"requests": {"cpu": "100m"}, "limits": {"memory": "64Mi"}},
        "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]}],
      "ephemeralContainers": [{"name": "e", "targetContainerName": "c"}]},
    "status": {"phase": "Failed"}})"));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->pod.ref.ToString(), "n/p");
  EXPECT_EQ(plan->restart_policy, RestartPolicy::kNever);
  EXPECT_EQ(plan->network, NetworkMode::kNode);
  EXPECT_TRUE(plan->deleted);
  EXPECT_EQ(plan->deletion_grace_seconds, 5);
  EXPECT_EQ(plan->termination_grace_seconds, 7);
  EXPECT_EQ(plan->active_deadline, Seconds(60));
  EXPECT_EQ(plan->api_outcome, PodOutcome::kFailed);
  ASSERT_EQ(plan->containers.size(), 5u);
  EXPECT_EQ(plan->containers[0].kind, ContainerKind::kInit);
  EXPECT_EQ(plan->containers[1].kind, ContainerKind::kSidecar);
  EXPECT_EQ(plan->containers[2].kind, ContainerKind::kInit);
  const ContainerPlan& c = plan->containers[3];
  EXPECT_EQ(c.kind, ContainerKind::kRegular);
  EXPECT_EQ(c.restart_policy, RestartPolicy::kNever);
  ASSERT_EQ(c.restart_rules.size(), 1u);
  EXPECT_EQ(c.restart_rules[0].action, RestartRule::Action::kRestartAllContainers);
  EXPECT_TRUE(c.post_start && c.pre_stop && c.startup_probe && c.liveness_probe);
  EXPECT_EQ(c.liveness_grace_seconds, 3);
  EXPECT_EQ(c.startup_grace_seconds, std::nullopt);
  EXPECT_EQ(c.resources.cpu_request_milli, 100);
  EXPECT_EQ(c.resources.memory_limit_bytes, 64 << 20);
  EXPECT_TRUE(c.resources.cpu_resize_restarts);
  EXPECT_EQ(plan->containers[4].target, "c");
  EXPECT_EQ(plan->ephemeral().size(), 1u);
  EXPECT_EQ(plan->Find("c"), 3);
  EXPECT_EQ(plan->Find("x"), kNoContainer);
}

TEST(PodPlan, NamesWhatImagesAreNeededAndWhatTheyArePulledWith) {
  const auto plan = MakePodPlan(PodFrom(R"({"metadata": {"name": "p"}, "spec": {
    "imagePullSecrets": [{"name": "one"}, {}, {"name": "two"}],
    "containers": [{"name": "a", "volumeMounts": [{"name": "y"}, {"name": "x"}, {"name": "y"}, {"name": "e"}]},
                   {"name": "b"}],
    "volumes": [{"name": "x", "image": {"reference": "x:1", "pullPolicy": "Always"}}, {"name": "e", "emptyDir": {}},
                {"name": "y", "image": {"reference": "y:1"}}, {"name": "z", "image": {"reference": "z:1"}}]}})"));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->pull_secrets, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(plan->containers[0].image_volumes,
            (std::vector<ImageVolumePlan>{{"x", "x:1", PullPolicy::kAlways},
                                          {"y", "y:1", PullPolicy::kIfNotPresent}}));
  EXPECT_TRUE(plan->containers[1].image_volumes.empty());
}

TEST(PodPlan, TheBackOffKeyFollowsImageAndResources) {
  const auto key = [](const char* container) {
    const std::string json =
        std::string(R"({"metadata":{"name":"p"},"spec":{"containers":[)") + container + "]}}";
    return MakePodPlan(PodFrom(json.c_str()))->containers.at(0).back_off_key;
  };
  const uint64_t first = key(R"({"name":"a","image":"x"})");
  EXPECT_EQ(key(R"({"name":"a","image":"x","command":["sh"]})"), first);
  EXPECT_NE(key(R"({"name":"a","image":"y"})"), first);
  EXPECT_NE(key(R"({"name":"b","image":"x"})"), first);
  EXPECT_NE(key(R"({"name":"a","image":"x","resources":{"limits":{"memory":"1Gi"}}})"), first);
}

TEST(PodPlan, OfAnOrphanIsEnoughToStopIt) {
  const ObservedPod orphan{.pod = {.ref = {"n", "p"}, .uid = PodUid("u")},
                           .containers = {{.id = ContainerId("1"),
                                           .name = "a",
                                           .attempt = 1,
                                           .pod_termination_grace_seconds = 9,
                                           .pre_stop_json = "{}"},
                                          {.id = ContainerId("0"), .name = "a", .attempt = 0}}};
  const PodPlan plan = PlanOfOrphan(orphan);
  ASSERT_EQ(plan.containers.size(), 1u);
  EXPECT_FALSE(plan.containers[0].pre_stop) << "a kubelet runs no hook of a pod that it lost";
  EXPECT_EQ(plan.termination_grace_seconds, 9);
  EXPECT_EQ(plan.regular_count, 1);
}

}  // namespace
}  // namespace denselet::sync::tests
