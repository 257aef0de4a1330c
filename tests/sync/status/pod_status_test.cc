#include "sync/status/pod_status.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/api/codec/codec.h"
#include "sync/status/status_lookup.h"
#include "tests/sync/status/status_scene.h"

namespace denselet::sync::tests {
namespace {

using kube::core::ContainerStatus;
using kube::core::PodStatus;

constexpr char kPlain[] = R"({"metadata": {"name": "pod", "namespace": "default", "uid": "u",
  "generation": 3}, "spec": {"containers": [{"name": "app", "image": "app:1"}]},
  "status": {"phase": "Pending"}})";
constexpr char kNever[] = R"({"metadata": {"name": "pod", "namespace": "default", "uid": "u"},
  "spec": {"restartPolicy": "Never", "containers": [{"name": "app", "image": "app:1"}]}})";
constexpr char kProbed[] = R"({"metadata": {"name": "pod", "namespace": "default", "uid": "u"},
  "spec": {"containers": [{"name": "app", "image": "app:1", "readinessProbe": {},
  "startupProbe": {}}]}})";
constexpr char kWithInit[] = R"({"metadata": {"name": "pod", "namespace": "default", "uid": "u"},
  "spec": {"initContainers": [{"name": "first", "image": "i"}, {"name": "side", "image": "s",
  "restartPolicy": "Always"}], "containers": [{"name": "app", "image": "app:1"}]}})";

PodStatus Built(const StatusScene& scene) {
  const auto status = scene.Build();
  EXPECT_TRUE(status) << status.error().message();
  return status ? *status : PodStatus();
}

// Sees it, and takes what comes of that for what was told.
PodStatus Told(StatusScene& scene, std::string_view given) {
  scene.See(given);
  scene.before = Built(scene);
  return *scene.before;
}

std::string Condition(const PodStatus& status, std::string_view type) {
  const auto* condition = FindCondition(status, type);
  if (!condition) return "none";
  return condition->status() + " " + condition->reason() + " " + condition->message();
}

const ContainerStatus& Of(const PodStatus& status, std::string_view name) {
  const ContainerStatus* found = FindStatus(status, name);
  static const ContainerStatus kNone;
  EXPECT_NE(found, nullptr) << name;
  return found ? *found : kNone;
}

TEST(PodStatus, FirstOneSaysThatContainersAreCreated) {
  const PodStatus status = Built(MakeStatusScene(kPlain, ""));
  EXPECT_EQ(status.phase(), "Pending");
  EXPECT_EQ(Of(status, "app").state().waiting().reason(), "ContainerCreating");
  EXPECT_FALSE(Of(status, "app").started());
  EXPECT_EQ(Condition(status, "Initialized"), "True  ");
  EXPECT_EQ(Condition(status, "Ready"),
            "False ContainersNotReady containers with unready status: [app]");
  EXPECT_EQ(Condition(status, "PodReadyToStartContainers"), "False  ");
  EXPECT_EQ(Condition(status, "PodScheduled"), "True  ");
  EXPECT_EQ(status.observedgeneration(), 3);
  EXPECT_EQ(FindCondition(status, "Ready")->observedgeneration(), 3);
  EXPECT_EQ(status.qosclass(), "BestEffort");
  EXPECT_EQ(status.starttime().seconds(), ToTimestamp(WallTime(Hours(490'000))).seconds);
}

TEST(PodStatus, RunningPodHasAddressImageAndContainerId) {
  const PodStatus status = Built(MakeStatusScene(kPlain, "sb0=ready:10.0.0.9 app/0=running"));
  EXPECT_EQ(status.phase(), "Running");
  EXPECT_EQ(status.podip(), "10.0.0.9");
  EXPECT_EQ(Of(status, "app").containerid(), "containerd://app/0");
  EXPECT_EQ(Of(status, "app").imageid(), "sha256:app");
  EXPECT_EQ(Of(status, "app").image(), "docker.io/image-of-app");
  EXPECT_EQ(Of(status, "app").state().running().startedat().seconds(),
            ToTimestamp(SceneStart()).seconds);
  EXPECT_TRUE(Of(status, "app").ready());
  EXPECT_EQ(Condition(status, "Ready"), "True  ");
  EXPECT_EQ(Condition(status, "PodReadyToStartContainers"), "True  ");
}

TEST(PodStatus, RestartOfTheAgentChangesNothing) {
  for (const char* given : {"", "sb0=ready:10.0.0.1", "sb0=ready:10.0.0.1 app/0=running",
                            "sb0=ready:10.0.0.1 app/0=running ready(app/0)=ok startup(app/0)=ok",
                            "sb0=ready:10.0.0.1 app/0=exited:1 wait(app)=CrashLoopBackOff",
                            "sb0=ready:10.0.0.1 app/1=running app/0=exited:1"}) {
    for (const char* pod : {kPlain, kProbed}) {
      SCOPED_TRACE(given);
      StatusScene scene = MakeStatusScene(pod, given);
      const PodStatus told = Told(scene, given);
      // The API server has it, the agent has forgotten all, probes have not spoken.
      *scene.pod.mutable_status() = told;
      scene.before.reset();
      scene.probes.clear();
      scene.now += Hours(1);
      EXPECT_EQ(kube::EncodeJson(Built(scene)), kube::EncodeJson(told));
    }
  }
}

TEST(PodStatus, ReadinessOfAnInstanceStaysUntilItsProbeSpeaks) {
  StatusScene scene = MakeStatusScene(kProbed, "");
  EXPECT_FALSE(Of(Told(scene, "sb0=ready:1.1.1.1 app/0=running"), "app").ready());
  EXPECT_FALSE(Of(Told(scene, "sb0=ready:1.1.1.1 app/0=running startup(app/0)=ok"), "app").ready());
  EXPECT_TRUE(
      Of(Told(scene, "sb0=ready:1.1.1.1 app/0=running startup(app/0)=ok ready(app/0)=ok"), "app")
          .ready());
  const PodStatus silent = Told(scene, "sb0=ready:1.1.1.1 app/0=running");
  EXPECT_TRUE(Of(silent, "app").ready());
  EXPECT_TRUE(Of(silent, "app").started());
  EXPECT_FALSE(Of(Told(scene, "sb0=ready:1.1.1.1 app/0=running ready(app/0)=fail"), "app").ready());
}

TEST(PodStatus, NewInstanceIsNotReadyBeforeItsProbeSpeaks) {
  StatusScene scene = MakeStatusScene(kProbed, "");
  Told(scene, "sb0=ready:1.1.1.1 app/0=running startup(app/0)=ok ready(app/0)=ok");
  const PodStatus next = Told(scene, "sb0=ready:1.1.1.1 app/1=running app/0=exited:1");
  EXPECT_FALSE(Of(next, "app").started());
  EXPECT_FALSE(Of(next, "app").ready());
  EXPECT_EQ(Of(next, "app").laststate().terminated().exitcode(), 1);
  EXPECT_EQ(Of(next, "app").restartcount(), 1);
}

TEST(PodStatus, ContainerThatTheRuntimeForgotIsShownAsItEnded) {
  StatusScene scene = MakeStatusScene(kNever, "");
  Told(scene, "sb0=ready:1.1.1.1 app/0=exited:7");
  const PodStatus status = Told(scene, "");
  EXPECT_EQ(Of(status, "app").state().terminated().exitcode(), 7);
  EXPECT_EQ(Of(status, "app").state().terminated().message(), "bye");
  EXPECT_EQ(status.phase(), "Failed");
}

TEST(PodStatus, ContainerThatVanishedWhileItRanHasFailed) {
  StatusScene scene = MakeStatusScene(kPlain, "");
  Told(scene, "sb0=ready:1.1.1.1 app/0=running");
  const PodStatus status = Told(scene, "sb0=ready:1.1.1.1");
  EXPECT_EQ(Of(status, "app").laststate().terminated().reason(), "ContainerStatusUnknown");
  EXPECT_EQ(Of(status, "app").laststate().terminated().exitcode(), 137);
  EXPECT_EQ(Of(status, "app").restartcount(), 1);
  EXPECT_EQ(status.phase(), "Running");
}

TEST(PodStatus, ContainerOfUnknownStateThatRanHasFailedAndStaysSo) {
  StatusScene scene = MakeStatusScene(kNever, "");
  Told(scene, "sb0=ready:1.1.1.1 app/0=running");
  const PodStatus once = Told(scene, "sb0=ready:1.1.1.1 app/0=unknown");
  EXPECT_EQ(Of(once, "app").state().terminated().reason(), "ContainerStatusUnknown");
  const PodStatus twice = Told(scene, "sb0=ready:1.1.1.1 app/0=unknown");
  EXPECT_EQ(kube::EncodeJson(twice), kube::EncodeJson(once));
}

TEST(PodStatus, AddressOutlivesTheSandbox) {
  StatusScene scene = MakeStatusScene(kNever, "");
  Told(scene, "sb0=ready:10.1.1.1 app/0=running");
  EXPECT_EQ(Told(scene, "sb0=notready app/0=exited:0").podip(), "10.1.1.1");
  EXPECT_EQ(Told(scene, "").podip(), "10.1.1.1");
  // A new sandbox that has none yet: then it has none.
  EXPECT_EQ(Told(scene, "sb1=ready sb0=notready").podip(), "");
}

TEST(PodStatus, AddressesAreOneOfEachFamilyTheNodesFirst) {
  StatusScene scene = MakeStatusScene(kPlain, "");
  scene.See("sb0=ready app/0=running");
  scene.seen.sandboxes[0].ips = {"fd00:0:0::1", "10.0.0.1", "10.0.0.2", "nonsense"};
  PodStatus status = Built(scene);
  ASSERT_EQ(status.podips_size(), 2);
  EXPECT_EQ(status.podips(0).ip(), "10.0.0.1");
  EXPECT_EQ(status.podips(1).ip(), "fd00::1");
  scene.node.prefers_ipv6 = true;
  EXPECT_EQ(Built(scene).podip(), "fd00::1");
}

TEST(PodStatus, PodInTheNodesNetworkHasTheNodesAddressesFromItsFirstStatus) {
  StatusScene scene =
      MakeStatusScene(R"({"spec": {"hostNetwork": true, "containers": [{"name": "app"}]}})", "");
  scene.node.host_ips = {"192.168.0.1"};
  EXPECT_EQ(Told(scene, "").podip(), "192.168.0.1");
  scene.node.host_ips = {"192.168.0.2", "fd00::2"};
  const PodStatus status = Told(scene, "sb0=ready:host app/0=running");
  EXPECT_EQ(status.hostip(), "192.168.0.2");
  ASSERT_EQ(status.podips_size(), 2);
  EXPECT_EQ(status.podips(0).ip(), "192.168.0.1");
  EXPECT_EQ(status.podips(1).ip(), "fd00::2");
}

TEST(PodStatus, ReadinessGatesHoldReadyAndNotContainersReady) {
  StatusScene scene = MakeStatusScene(
      R"({"spec": {"containers": [{"name": "app"}], "readinessGates": [{"conditionType": "a/b"},
          {"conditionType": "c/d"}]},
          "status": {"conditions": [{"type": "c/d", "status": "False"}]}})",
      "sb0=ready:1.1.1.1 app/0=running");
  const PodStatus status = Built(scene);
  EXPECT_EQ(Condition(status, "ContainersReady"), "True  ");
  EXPECT_EQ(Condition(status, "Ready"),
            "False ReadinessGatesNotReady corresponding condition of pod readiness gate \"a/b\" "
            "does not exist., the status of pod readiness gate \"c/d\" is not \"True\", but False");
  EXPECT_EQ(Condition(status, "c/d"), "False  ");  // of others: kept
}

TEST(PodStatus, InitContainersAndSidecarsLeadToRunning) {
  StatusScene scene = MakeStatusScene(kWithInit, "");
  PodStatus status = Told(scene, "sb0=ready:1.1.1.1 first/0=running");
  EXPECT_EQ(status.phase(), "Pending");
  EXPECT_EQ(Condition(status, "Initialized"),
            "False ContainersNotInitialized containers with incomplete status: [first side]");
  EXPECT_EQ(Of(status, "app").state().waiting().reason(), "PodInitializing");
  status = Told(scene, "sb0=ready:1.1.1.1 first/0=exited:0 side/0=running");
  EXPECT_EQ(status.phase(), "Pending");
  EXPECT_EQ(Condition(status, "Initialized"), "True  ");
  status = Told(scene, "sb0=ready:1.1.1.1 first/0=exited:0 side/0=running app/0=running");
  EXPECT_EQ(status.phase(), "Running");
  EXPECT_EQ(Condition(status, "Ready"), "True  ");
  // The runtime has removed the first: it is known to have completed.
  status = Told(scene, "sb0=ready:1.1.1.1 side/1=running side/0=exited:1 app/0=running");
  EXPECT_EQ(Of(status, "first").state().terminated().exitcode(), 0);
  EXPECT_EQ(status.phase(), "Running");
}

TEST(PodStatus, TimeOfATransitionStaysWhileTheStatusDoes) {
  StatusScene scene = MakeStatusScene(kPlain, "");
  const auto time = [&](const PodStatus& status) {
    return FindCondition(status, "Ready")->lasttransitiontime().seconds();
  };
  const int64_t first = time(Told(scene, ""));
  scene.now += Seconds(10);
  EXPECT_EQ(time(Told(scene, "sb0=ready:1.1.1.1")), first);
  scene.now += Seconds(10);
  EXPECT_EQ(time(Told(scene, "sb0=ready:1.1.1.1 app/0=running")), first + 20);
}

TEST(PodStatus, WhoEndsThePodSaysWhy) {
  StatusScene scene = MakeStatusScene(kPlain, "");
  Told(scene, "sb0=ready:1.1.1.1 app/0=running");
  scene.ending = Ending{.reason = EndReason::kKilled,
                        .outcome = PodOutcome::kFailed,
                        .status_reason = "Evicted",
                        .status_message = "The node was low on resource: memory."};
  scene.disruption = "The node was low on resource: memory.";
  const PodStatus status = Built(scene);
  EXPECT_EQ(status.phase(), "Failed");
  EXPECT_EQ(status.reason(), "Evicted");
  EXPECT_EQ(Condition(status, "DisruptionTarget"),
            "True TerminationByKubelet The node was low on resource: memory.");
  EXPECT_EQ(Condition(status, "Ready"), "False PodFailed ");
  // Said once, it stays, also when nobody says it any more.
  scene.before = status;
  scene.ending.reset();
  scene.disruption.clear();
  const PodStatus later = Built(scene);
  EXPECT_EQ(later.phase(), "Failed");
  EXPECT_EQ(later.reason(), "Evicted");
  EXPECT_EQ(Condition(later, "DisruptionTarget"), Condition(status, "DisruptionTarget"));
}

TEST(PodStatus, PhaseOfTheApiServerThatIsTerminalIsNeverLeft) {
  StatusScene scene = MakeStatusScene(kPlain, "sb0=ready:1.1.1.1 app/0=running");
  scene.pod.mutable_status()->set_phase("Succeeded");
  EXPECT_EQ(Built(scene).phase(), "Succeeded");
  scene.ending = Ending{.outcome = PodOutcome::kFailed};
  EXPECT_EQ(Built(scene).phase(), "Succeeded");
}

TEST(PodStatus, ContainerThatEndedForGoodIsNeverShownAsRunning) {
  StatusScene scene = MakeStatusScene(kNever, "");
  Told(scene, "sb0=ready:1.1.1.1 app/0=exited:1");
  scene.See("sb0=ready:1.1.1.1 app/1=running app/0=exited:1");
  const auto status = scene.Build();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kBug);
}

TEST(PodStatus, EndsByItsExitCodesWhenNothingIsStartedAnyMore) {
  StatusScene scene = MakeStatusScene(kPlain, "");
  EXPECT_EQ(Told(scene, "sb0=ready:1.1.1.1 app/0=exited:0").phase(), "Running");
  EXPECT_EQ(Told(scene, "sb0=notready app/0=exited:0 ends").phase(), "Succeeded");
  StatusScene other = MakeStatusScene(kPlain, "sb0=notready app/0=exited:9 ends");
  EXPECT_EQ(Built(other).phase(), "Failed");
}

TEST(PodStatus, FinishedPodHasATerminalPhaseAndNoContainerWithoutAnEnd) {
  StatusScene scene = MakeStatusScene(kPlain, "ends finished");
  const PodStatus status = Built(scene);
  EXPECT_EQ(status.phase(), "Failed");
  EXPECT_EQ(Of(status, "app").state().terminated().exitcode(), 137);
  // One that never got to its containers.
  const PodStatus early = Built(MakeStatusScene(kWithInit, "ends finished"));
  EXPECT_TRUE(Of(early, "first").state().has_terminated());
  EXPECT_TRUE(Of(early, "side").state().has_waiting());
  EXPECT_TRUE(Of(early, "app").state().has_waiting());
}

TEST(PodStatus, StaticPodEndsWithoutATerminalPhase) {
  StatusScene scene = MakeStatusScene(kPlain, "");
  (*scene.pod.mutable_metadata()->mutable_annotations())["kubernetes.io/config.source"] = "file";
  EXPECT_EQ(Told(scene, "sb0=notready app/0=exited:0 ends finished").phase(), "Running");
}

TEST(PodStatus, TerminationMessagesHaveABoundForThePodAndStayText) {
  StatusScene scene = MakeStatusScene(kNever, "sb0=ready:1.1.1.1 app/0=exited:1");
  std::string text;
  while (text.size() < 20'000) text += "é";
  scene.seen.containers[0].message = "x" + text;  // so that the bound falls into a character
  const std::string told = Of(Built(scene), "app").state().terminated().message();
  EXPECT_EQ(told.size(), 12 * 1024 - 1);
  EXPECT_EQ(told, ("x" + text).substr(0, told.size()));
}

TEST(PodStatus, AllContainersRestartingIsSaidOfPodsThatCan) {
  StatusScene scene = MakeStatusScene(
      R"({"spec": {"restartPolicy": "Never", "containers": [{"name": "app", "restartPolicy": "Never",
          "restartPolicyRules": [{"action": "RestartAllContainers", "exitCodes": {"operator": "In",
          "values": [42]}}]}, {"name": "other"}]}})",
      "");
  EXPECT_EQ(Condition(Told(scene, "sb0=ready:1.1.1.1 app/0=running other/0=running"),
                      "AllContainersRestarting"),
            "False  ");
  EXPECT_EQ(Condition(Told(scene, "sb0=ready:1.1.1.1 app/0=exited:42 other/0=running"),
                      "AllContainersRestarting"),
            "True RestartAllContainersStarted container exited with restart policy rule");
  const PodStatus removed = Told(scene, "sb0=ready:1.1.1.1");
  EXPECT_EQ(Condition(removed, "AllContainersRestarting"), "False  ");
  EXPECT_EQ(Of(removed, "other").state().waiting().reason(), "RestartingAllContainers");
  EXPECT_EQ(Of(removed, "other").restartcount(), 1);
}

TEST(PodStatus, InitContainerThatIsRemovedForARestartOfAllIsCountedOnce) {
  StatusScene scene = MakeStatusScene(
      R"({"spec": {"initContainers": [{"name": "init"}], "containers": [{"name": "app",
          "restartPolicy": "Always", "restartPolicyRules": [{"action": "RestartAllContainers",
          "exitCodes": {"operator": "In", "values": [42]}}]}]}})",
      "");
  Told(scene, "sb0=ready:1.1.1.1 init/0=exited:0 app/0=exited:42");
  for (int look = 0; look < 3; ++look) {
    const PodStatus removed = Told(scene, "sb0=ready:1.1.1.1 app/0=exited:42");
    EXPECT_EQ(removed.initcontainerstatuses(0).restartcount(), 1);
    EXPECT_EQ(removed.initcontainerstatuses(0).laststate().terminated().reason(),
              "RestartingAllContainers");
  }
  EXPECT_EQ(Told(scene, "sb0=ready:1.1.1.1 init/1=running").initcontainerstatuses(0).restartcount(),
            1);
}

TEST(PodStatus, ResourcesAreThoseOfTheRuntimeWhileItRuns) {
  StatusScene scene = MakeStatusScene(
      R"({"spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": "100m",
          "memory": "64Mi"}, "limits": {"cpu": "1"}}}]}})",
      "sb0=ready:1.1.1.1 app/0=running:cpu=500");
  const PodStatus status = Built(scene);
  const auto& app = Of(status, "app");
  EXPECT_EQ(app.resources().requests().at("cpu").string(), "500m");
  EXPECT_EQ(app.resources().requests().at("memory").string(), "64Mi");
  EXPECT_EQ(app.resources().limits().at("memory").string(), "128Mi");
  EXPECT_EQ(app.allocatedresources().at("cpu").string(), "100m");
  EXPECT_EQ(status.allocatedresources().at("cpu").string(), "100m");
  EXPECT_EQ(status.resources().limits().at("cpu").string(), "1");
}

}  // namespace
}  // namespace denselet::sync::tests
