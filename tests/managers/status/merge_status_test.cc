#include "managers/status/merge_status.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"

namespace denselet::managers {
namespace {

using kube::core::Pod;
using kube::core::PodStatus;
using sync::MayRun;

constexpr WallTime kNow = WallTime(Hours(490'000));

PodStatus Status(const std::string& json) {
  PodStatus status;
  EXPECT_TRUE(kube::DecodeJson(json, status).ok()) << json;
  return status;
}

Pod Shown(const std::string& status) {
  Pod pod;
  *pod.mutable_status() = Status(status);
  return pod;
}

std::string Types(const PodStatus& status) {
  std::string types;
  for (const auto& condition : status.conditions()) {
    types += condition.type() + "=" + condition.status() + " ";
  }
  return types;
}

TEST(MergeStatus, KeepsWhatOthersOwn) {
  const Pod shown = Shown(R"({"conditions": [{"type": "x", "status": "True"},
    {"type": "Ready", "status": "False"}], "nominatedNodeName": "n",
    "resourceClaimStatuses": [{"name": "c"}]})");
  const PodStatus merged =
      MergeStatus(shown, Status(R"({"conditions": [{"type": "x", "status": "False"},
                    {"type": "Ready", "status": "True"}, {"type": "PodScheduled", "status": "True"}]})"),
                  MayRun::kYes, kNow);
  EXPECT_EQ(Types(merged), "x=True Ready=True PodScheduled=True ");
  EXPECT_EQ(merged.nominatednodename(), "n");
  EXPECT_EQ(merged.resourceclaimstatuses_size(), 1);
}

TEST(MergeStatus, PodThatHasEndedIsNotReadyAndDoesNotComeBack) {
  const Pod shown = Shown(R"({"phase": "Failed", "observedGeneration": 4})");
  const PodStatus merged =
      MergeStatus(shown, Status(R"({"phase": "Running", "observedGeneration": 3,
                    "conditions": [{"type": "Ready", "status": "True"}]})"),
                  MayRun::kYes, kNow);
  EXPECT_EQ(merged.phase(), "Failed");
  EXPECT_EQ(merged.observedgeneration(), 4);
  EXPECT_EQ(Types(merged), "Ready=False ContainersReady=False ");
  EXPECT_EQ(merged.conditions(0).reason(), "PodFailed");
}

TEST(MergeStatus, AMirrorShowsThatItsPodHasBegunAnew) {
  Pod shown = Shown(R"({"phase": "Failed", "reason": "NodePorts"})");
  (*shown.mutable_metadata()->mutable_annotations())["kubernetes.io/config.mirror"] = "u1";
  const PodStatus merged = MergeStatus(shown, Status(R"({"phase": "Running",
                    "conditions": [{"type": "Ready", "status": "True"}]})"),
                                       MayRun::kYes, kNow);
  EXPECT_EQ(merged.phase(), "Running");
  EXPECT_EQ(merged.reason(), "");
  EXPECT_EQ(Types(merged), "Ready=True ");
}

TEST(MergeStatus, APodBeginsOnce) {
  const Pod shown = Shown(R"({"phase": "Running", "startTime": "2026-01-01T00:00:00Z"})");
  const PodStatus ours = Status(R"({"phase": "Running", "startTime": "2026-01-01T00:00:09Z"})");
  const PodStatus merged = MergeStatus(shown, ours, MayRun::kYes, kNow);
  EXPECT_EQ(merged.starttime().seconds(), shown.status().starttime().seconds());
  EXPECT_EQ(MergeStatus(Shown("{}"), ours, MayRun::kYes, kNow).starttime().seconds(),
            ours.starttime().seconds());
}

// A late word of an agent before us, or a mirror that we had not seen yet when its pod ended: it
// tells of containers that the runtime has forgotten.
TEST(MergeStatus, RestartsAndEndsThatWereToldStayTold) {
  const Pod shown = Shown(R"({"phase": "Running",
    "initContainerStatuses": [{"name": "proxy", "restartCount": 0,
                               "state": {"terminated": {"exitCode": 137}}}],
    "containerStatuses": [{"name": "app", "restartCount": 3, "state": {"running": {}},
                           "lastState": {"terminated": {"exitCode": 2}}},
                          {"name": "web", "restartCount": 1, "state": {"running": {}}}]})");
  const PodStatus merged = MergeStatus(shown, Status(R"({"phase": "Pending",
    "initContainerStatuses": [{"name": "proxy", "restartCount": 0,
                               "state": {"waiting": {"reason": "PodInitializing"}}}],
    "containerStatuses": [{"name": "app", "restartCount": 2, "state": {"waiting": {}}},
                          {"name": "new", "restartCount": 0},
                          {"name": "web", "restartCount": 2,
                           "state": {"terminated": {"exitCode": 1}}}]})"),
                                       MayRun::kYes, kNow);
  EXPECT_TRUE(merged.initcontainerstatuses(0).state().has_waiting());
  EXPECT_EQ(merged.initcontainerstatuses(0).laststate().terminated().exitcode(), 137);
  EXPECT_EQ(merged.containerstatuses(0).restartcount(), 3);
  EXPECT_EQ(merged.containerstatuses(0).laststate().terminated().exitcode(), 2);
  EXPECT_EQ(merged.containerstatuses(1).restartcount(), 0);
  EXPECT_EQ(merged.containerstatuses(2).restartcount(), 2);
  EXPECT_FALSE(merged.containerstatuses(2).laststate().has_terminated());
}

TEST(MergeStatus, DisruptionOfOthersIsReplacedOnlyAtTheEnd) {
  const Pod shown = Shown(R"({"phase": "Running", "conditions": [{"type": "DisruptionTarget",
    "status": "True", "reason": "Theirs"}]})");
  const PodStatus ours = Status(R"({"phase": "Failed", "conditions": [{"type": "DisruptionTarget",
    "status": "True", "reason": "TerminationByKubelet"}]})");
  EXPECT_EQ(MergeStatus(shown, ours, MayRun::kYes, kNow).conditions(0).reason(), "Theirs");
  const PodStatus ended = MergeStatus(shown, ours, MayRun::kNo, kNow);
  EXPECT_EQ(ended.conditions_size(), 1);
  EXPECT_EQ(ended.conditions(0).reason(), "TerminationByKubelet");
}

TEST(SameStatus, OrderOfConditionsAndZerosAreNoDifference) {
  const PodStatus a = Status(R"({"conditions": [{"type": "a"}, {"type": "b"}]})");
  PodStatus b = Status(R"({"conditions": [{"type": "b"}, {"type": "a"}]})");
  b.set_observedgeneration(0);
  b.set_message("");
  EXPECT_TRUE(SameStatus(a, b));
  b.set_observedgeneration(1);
  EXPECT_FALSE(SameStatus(a, b));
}

TEST(Urgency, OfStatuses) {
  const auto of = [](const std::string& shown, const std::string& merged) {
    return UrgencyOf(Shown(shown), Status(merged));
  };
  const std::string creating =
      R"({"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ContainerCreating"}}}]})";
  EXPECT_EQ(of("{}", creating), Urgency::kMayWait);
  EXPECT_EQ(of(R"({"phase": "Pending"})", creating), Urgency::kMayWait);
  EXPECT_EQ(of(R"({"phase": "Running"})", creating), Urgency::kNormal);
  EXPECT_EQ(of("{}", R"({"phase": "Pending", "reason": "R"})"), Urgency::kNormal);
  EXPECT_EQ(
      of("{}",
         R"({"phase": "Pending", "initContainerStatuses": [{"state": {"terminated": {"exitCode": 0}}}]})"),
      Urgency::kMayWait);
  EXPECT_EQ(
      of("{}",
         R"({"phase": "Pending", "initContainerStatuses": [{"state": {"terminated": {"exitCode": 1}}}]})"),
      Urgency::kNormal);
  EXPECT_EQ(of("{}", R"({"phase": "Pending", "containerStatuses": [{"restartCount": 1}]})"),
            Urgency::kNormal);
  EXPECT_EQ(of("{}", R"({"phase": "Running"})"), Urgency::kNormal);
  EXPECT_EQ(
      of("{}", R"({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})"),
      Urgency::kReadiness);
  EXPECT_EQ(of("{}", R"({"phase": "Succeeded"})"), Urgency::kEnd);
}

}  // namespace
}  // namespace denselet::managers
