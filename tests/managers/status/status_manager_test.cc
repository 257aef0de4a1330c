#include "managers/status/status_manager.h"

#include "tests/managers/status/status_fixture.h"

namespace denselet::managers::tests {
namespace {

using kube::core::Pod;
using kube::core::PodStatus;
using sync::ApiVerb;
using sync::Finished;
using sync::MayRun;

std::string StatusOf(const Pod& pod, std::string_view condition) {
  for (const auto& each : pod.status().conditions()) {
    if (each.type() == condition) return each.status();
  }
  return "none";
}

TEST_F(StatusTest, StatusCostsOnePatchAndNoGet) {
  Start();
  const Pod pod = Create("a");
  Set(pod, MakeStatus("Running", 1, true));
  RunFor(Seconds(30));
  EXPECT_EQ(Find("a")->status().phase(), "Running");
  ASSERT_EQ(api_.seen.size(), 1U);
  EXPECT_EQ(api_.seen[0].request.verb, ApiVerb::kPatch);
  EXPECT_EQ(api_.seen[0].request.subresource, "status");
  EXPECT_NE(api_.seen[0].request.body.find(pod.metadata().uid()), std::string::npos);
  EXPECT_TRUE(IsSettled(pod));
}

TEST_F(StatusTest, PodThatStartsWithoutDelayCostsOnePatch) {
  Start();
  const Pod pod = Create("a");
  Set(pod, MakeStatus("Pending", 0, false));
  RunFor(Milliseconds(300));
  PodStatus sandbox = MakeStatus("Pending", 0, false);
  sandbox.set_podip("10.0.0.1");
  Set(pod, sandbox);
  RunFor(Milliseconds(300));
  EXPECT_EQ(api_.seen.size(), 0U);
  Set(pod, MakeStatus("Running", 0, true));
  RunFor(Milliseconds(20));
  EXPECT_EQ(Find("a")->status().phase(), "Running");
  RunFor(Seconds(30));
  EXPECT_EQ(api_.seen.size(), 1U);
}

TEST_F(StatusTest, OrdinaryStartThatTakesLongerIsTold) {
  Start();
  const Pod pod = Create("a");
  Set(pod, MakeStatus("Pending", 0, false));
  RunFor(Milliseconds(900));
  Set(pod, [] {
    PodStatus status = MakeStatus("Pending", 0, false);
    status.set_podip("10.0.0.1");
    return status;
  }());
  RunFor(Milliseconds(10));
  EXPECT_EQ(manager_->stage(PodUid(pod.metadata().uid())), Stage::kHeld);
  RunFor(Milliseconds(140));
  EXPECT_EQ(Find("a")->status().podip(), "10.0.0.1");
  EXPECT_EQ(api_.seen.size(), 1U);
}

TEST_F(StatusTest, OrdinaryStartTakesNoTurnFromRequestsThatWait) {
  Start();
  const Pod pod = Create("a");
  api_.busy = true;
  Set(pod, MakeStatus("Pending", 0, false));
  RunFor(Seconds(20));
  EXPECT_EQ(api_.seen.size(), 0U);
  Set(pod, MakeStatus("Running", 0, true));
  RunFor(Milliseconds(20));
  EXPECT_EQ(Find("a")->status().phase(), "Running");
  EXPECT_EQ(api_.seen.size(), 1U);
}

TEST_F(StatusTest, OrdinaryStartIsToldWhenThereIsRoomAndInTheEndAnyway) {
  Start();
  api_.busy = true;
  const Pod soon = Create("a");
  Set(soon, MakeStatus("Pending", 0, false));
  RunFor(Seconds(5));
  api_.busy = false;
  RunFor(Milliseconds(1100));
  EXPECT_EQ(api_.seen.size(), 1U);
  api_.busy = true;
  const Pod late = Create("b");
  Set(late, MakeStatus("Pending", 0, false));
  RunFor(Seconds(29));
  EXPECT_EQ(api_.seen.size(), 1U);
  RunFor(Seconds(2));
  EXPECT_EQ(api_.seen.size(), 2U);
}

TEST_F(StatusTest, WhatPeopleWaitForIsNeverHeld) {
  Start();
  const Pod pod = Create("a");
  Set(pod, MakeStatus("Pending", 0, false));
  RunFor(Milliseconds(10));
  PodStatus status = MakeStatus("Pending", 0, false);
  auto& waiting = *status.mutable_containerstatuses(0)->mutable_state()->mutable_waiting();
  waiting.set_reason("ErrImagePull");
  waiting.set_message("no such image");
  Set(pod, status);
  RunFor(Milliseconds(20));
  EXPECT_EQ(Find("a")->status().containerstatuses(0).state().waiting().reason(), "ErrImagePull");
}

TEST_F(StatusTest, RestartOfTheAgentSendsNothing) {
  Start();
  const Pod pod = Create("a");
  Set(pod, MakeStatus("Running", 1, true));
  RunFor(Seconds(1));
  Stop();
  api_.seen.clear();
  Start();
  Set(*Find("a"), MakeStatus("Running", 1, true));
  RunFor(Minutes(1));
  EXPECT_TRUE(api_.seen.empty());
  EXPECT_TRUE(IsSettled(pod));
}

TEST_F(StatusTest, ConditionsOfOthersStay) {
  Start();
  const Pod pod = Create("a");
  PatchStatus("a", R"({"status": {"conditions": [{"type": "x/y", "status": "True"}]}})");
  RunFor(Milliseconds(50));
  Set(pod, MakeStatus("Running", 1, false));
  RunFor(Milliseconds(50));
  PatchStatus("a", R"({"status": {"conditions": [{"type": "x/z", "status": "True"}]}})");
  Set(pod, MakeStatus("Running", 2, true));  // before the watch tells
  RunFor(Milliseconds(100));
  EXPECT_EQ(StatusOf(*Find("a"), "x/y"), "True");
  EXPECT_EQ(StatusOf(*Find("a"), "x/z"), "True");
  EXPECT_EQ(StatusOf(*Find("a"), "Ready"), "True");
  EXPECT_EQ(NumberOf("a"), 2);
  EXPECT_LE(api_.Count(ApiVerb::kGet), 1U);  // the conflict, unless the watch was sooner
}

TEST_F(StatusTest, TerminalPhaseIsWithheldWhileContainersMayRun) {
  Start();
  const Pod pod = Create("a");
  Set(pod, MakeStatus("Running", 1, true));
  RunFor(Milliseconds(50));
  PodStatus failed = MakeStatus("Failed", 2, false);
  failed.set_reason("Evicted");
  auto& disruption = *failed.add_conditions();
  disruption.set_type("DisruptionTarget");
  disruption.set_status("True");
  Set(pod, failed);
  RunFor(Milliseconds(50));
  EXPECT_EQ(NumberOf("a"), 2);  // all else is told
  EXPECT_EQ(Find("a")->status().phase(), "Running");
  EXPECT_EQ(Find("a")->status().reason(), "");
  EXPECT_EQ(StatusOf(*Find("a"), "DisruptionTarget"), "none");
  EXPECT_EQ(StatusOf(*Find("a"), "Ready"), "False");
  Set(pod, failed, MayRun::kNo);
  RunFor(Milliseconds(50));
  EXPECT_EQ(Find("a")->status().phase(), "Failed");
  EXPECT_EQ(Find("a")->status().reason(), "Evicted");
  EXPECT_EQ(StatusOf(*Find("a"), "DisruptionTarget"), "True");
}

TEST_F(StatusTest, PodThatIsFinishedAndDeletedGoesAfterItsLastStatus) {
  Start();
  const Pod pod = Create("a");
  Set(pod, MakeStatus("Running", 1, true));
  RunFor(Milliseconds(50));
  Delete("a");
  Set(pod, MakeStatus("Failed", 2, false), MayRun::kNo);
  RunFor(Seconds(5));
  ASSERT_TRUE(Find("a"));  // its volumes, its cgroup: not yet
  EXPECT_EQ(NumberOf("a"), 2);
  api_.seen.clear();
  Set(pod, MakeStatus("Failed", 3, false), MayRun::kNo, Finished::kYes);
  RunFor(Seconds(5));
  EXPECT_FALSE(Find("a"));
  ASSERT_EQ(api_.seen.size(), 2U);
  EXPECT_EQ(api_.seen[0].request.verb, ApiVerb::kPatch);
  EXPECT_EQ(api_.seen[1].request.verb, ApiVerb::kDelete);
  EXPECT_EQ(api_.seen[1].request.grace_seconds, 0);
  EXPECT_EQ(api_.seen[1].request.uid_precondition, pod.metadata().uid());
  EXPECT_TRUE(IsSettled(pod));
}

TEST_F(StatusTest, FinishedPodThatNobodyDeletesStays) {
  Start();
  const Pod pod = Create("a");
  Set(pod, MakeStatus("Succeeded", 1, false), MayRun::kNo, Finished::kYes);
  RunFor(Minutes(1));
  EXPECT_EQ(api_.seen.size(), 1U);
  Delete("a", 5);  // of a terminal pod: gone at once at this server
  EXPECT_FALSE(Find("a"));
}

TEST_F(StatusTest, DeletionIsTriedUntilItIsDone) {
  Start();
  const Pod pod = Create("a");
  Delete("a");
  int refusals = 3;
  api_.fate = [&](const sync::ApiRequest& request) {
    return request.verb == ApiVerb::kDelete && refusals-- > 0 ? ServeAndLose() : Fate{};
  };
  Set(pod, MakeStatus("Failed", 3, false), MayRun::kNo, Finished::kYes);
  RunFor(Seconds(20));
  EXPECT_FALSE(Find("a"));
  EXPECT_LE(api_.Count(ApiVerb::kDelete), 2U);
}

TEST_F(StatusTest, NewestWinsWhileARequestIsUnderWay) {
  Start();
  const Pod pod = Create("a");
  fake_.faults().delay_min = fake_.faults().delay_max = Milliseconds(100);
  for (int32_t i = 1; i <= 20; ++i) {
    Set(pod, MakeStatus("Running", i, true));
    RunFor(Milliseconds(5));
  }
  RunFor(Seconds(5));
  EXPECT_EQ(NumberOf("a"), 20);
  EXPECT_EQ(api_.Count(ApiVerb::kPatch), 2U);
  EXPECT_TRUE(IsSettled(pod));
}

TEST_F(StatusTest, EndsAndReadinessGoFirst) {
  options_.requests_max = 1;
  Start();
  std::vector<Pod> pods;
  for (const char* name : {"a", "b", "c", "d", "e"}) pods.push_back(Create(name));
  Delete("d");
  fake_.faults().delay_min = fake_.faults().delay_max = Milliseconds(50);
  Set(pods[0], MakeStatus("Running", 1, false));  // is sent at once
  Set(pods[1], MakeStatus("Running", 1, false));
  Set(pods[2], MakeStatus("Running", 1, false));
  Set(pods[2], MakeStatus("Running", 1, true));
  Set(pods[3], MakeStatus("Running", 1, false));
  Set(pods[4], MakeStatus("Failed", 1, false), MayRun::kNo);
  RunFor(Seconds(5));
  std::string order;
  for (const auto& each : api_.seen) order += each.request.object.name;
  EXPECT_EQ(order, "adecb");
  EXPECT_EQ(api_.seen[1].context.priority, Priority::kCritical);
  EXPECT_EQ(api_.seen[3].context.priority, Priority::kReadiness);
}

TEST_F(StatusTest, OrdinaryStatusesAreNotHeldUpForEverByUrgentOnes) {
  options_.requests_max = 1;
  Start();
  const Pod ordinary = Create("ordinary");
  std::vector<Pod> pods;
  for (int i = 0; i < 30; ++i) pods.push_back(Create("p" + std::to_string(i)));
  for (const Pod& pod : pods) Set(pod, MakeStatus("Running", 1, true));
  Set(ordinary, MakeStatus("Running", 1, false));
  RunFor(Seconds(5));
  const auto place = std::ranges::find_if(
      api_.seen, [](const auto& each) { return each.request.object.name == "ordinary"; });
  EXPECT_LE(place - api_.seen.begin(), 10);
}

TEST_F(StatusTest, PodsDoNotWaitForOneWhoseRequestHangs) {
  Start();
  const Pod a = Create("a");
  const Pod b = Create("b");
  bool stuck = true;
  api_.fate = [&](const sync::ApiRequest& request) {
    return stuck && request.object.name == "a" ? Hang() : Fate{};
  };
  Set(a, MakeStatus("Running", 1, true));
  for (int32_t i = 1; i <= 5; ++i) {
    Set(b, MakeStatus("Running", i, true));
    RunFor(Seconds(4));
    EXPECT_EQ(NumberOf("b"), i);
  }
  stuck = false;
  RunFor(Seconds(30));
  EXPECT_EQ(NumberOf("a"), 1);
}

TEST_F(StatusTest, LostAnswerIsFollowedUp) {
  Start();
  const Pod pod = Create("a");
  int lost = 2;
  api_.fate = [&](const sync::ApiRequest&) { return lost-- > 0 ? ServeAndLose() : Fate{}; };
  Set(pod, MakeStatus("Running", 1, true));
  RunFor(Milliseconds(50));
  // The watch has told that it arrived.
  EXPECT_TRUE(IsSettled(pod));
  RunFor(Seconds(10));
  EXPECT_EQ(NumberOf("a"), 1);
  EXPECT_LE(api_.seen.size(), 2U);
}

TEST_F(StatusTest, PatchThatArrivesLateDoesNotUndoANewerOne) {
  Start();
  const Pod pod = Create("a");
  int late = 1;
  api_.fate = [&](const sync::ApiRequest&) { return late-- > 0 ? ServeLate(Seconds(3)) : Fate{}; };
  Set(pod, MakeStatus("Running", 1, true));
  RunFor(Milliseconds(10));
  Set(pod, MakeStatus("Running", 2, false));
  RunFor(Seconds(1));
  EXPECT_EQ(NumberOf("a"), 2);
  api_.seen.clear();
  RunFor(Seconds(10));
  EXPECT_EQ(NumberOf("a"), 2);
  EXPECT_TRUE(api_.seen.empty());
}

TEST_F(StatusTest, PodThatIsGoneIsSettledAndLeftAlone) {
  Start();
  const Pod pod = Create("a");
  watch_.reset();  // nobody tells
  Delete("a", 0);
  Set(pod, MakeStatus("Running", 1, true));
  RunFor(Minutes(5));
  EXPECT_EQ(api_.seen.size(), 1U);
  EXPECT_TRUE(IsSettled(pod));
}

TEST_F(StatusTest, PodThatCameInItsPlaceIsLeftAlone) {
  Start();
  const Pod pod = Create("a");
  watch_.reset();
  Delete("a", 0);
  Create("a");
  Set(pod, MakeStatus("Running", 7, true));
  RunFor(Minutes(5));
  EXPECT_EQ(NumberOf("a"), -1);
  EXPECT_TRUE(IsSettled(pod));
  EXPECT_LE(api_.seen.size(), 2U);
}

TEST_F(StatusTest, ServerThatIsAwayIsTriedByOneRequestAtATime) {
  Start();
  std::vector<Pod> pods;
  for (int i = 0; i < 50; ++i) pods.push_back(Create("p" + std::to_string(i)));
  for (const ErrorCode code : {ErrorCode::kUnavailable, ErrorCode::kOverloaded}) {
    bool away = true;
    api_.fate = [&](const sync::ApiRequest&) { return away ? Refuse(code) : Fate{}; };
    api_.seen.clear();
    for (const Pod& pod : pods)
      Set(pod, MakeStatus("Running", static_cast<int32_t>(version_), true));
    RunFor(Minutes(5));
    EXPECT_LE(api_.seen.size(), options_.requests_max + 45);
    EXPECT_TRUE(manager_->counts().server_in_trouble);
    away = false;
    RunFor(Seconds(13));
    EXPECT_EQ(manager_->counts().in_line, 0U);
    for (const Pod& pod : pods) EXPECT_GE(NumberOf(pod.metadata().name()), 0);
    EXPECT_FALSE(manager_->counts().server_in_trouble);
  }
}

TEST_F(StatusTest, ServerThatIsSilentIsTriedByOneRequestAtATimeAndToldOfOnce) {
  Start();
  std::vector<Pod> pods;
  for (int i = 0; i < 50; ++i) pods.push_back(Create("p" + std::to_string(i)));
  bool silent = true;
  api_.fate = [&](const sync::ApiRequest&) { return silent ? Hang() : Fate{}; };
  for (const Pod& pod : pods) Set(pod, MakeStatus("Running", 7, true));
  RunFor(Minutes(5));
  EXPECT_LE(api_.seen.size(), options_.requests_max + 45);
  EXPECT_TRUE(manager_->counts().server_in_trouble);
  const std::string told = sink_.Take();
  EXPECT_THAT(told, testing::HasSubstr("The API server does not take statuses of pods"));
  EXPECT_THAT(told, testing::Not(testing::HasSubstr("Could not bring")));
  silent = false;
  RunFor(Seconds(30));
  for (const Pod& pod : pods) EXPECT_EQ(NumberOf(pod.metadata().name()), 7);
  EXPECT_FALSE(manager_->counts().server_in_trouble);
}

// Requests wait for their turn under our own limit: the server has nothing to do with it.
TEST_F(StatusTest, RequestsThatGetNoTurnAreNoTroubleOfTheServers) {
  Start();
  std::vector<Pod> pods;
  for (int i = 0; i < 50; ++i) pods.push_back(Create("p" + std::to_string(i)));
  bool crowded = true;
  api_.fate = [&](const sync::ApiRequest&) { return crowded ? NoTurn() : Fate{}; };
  for (const Pod& pod : pods) Set(pod, MakeStatus("Running", 7, true));
  RunFor(Minutes(2));
  EXPECT_FALSE(manager_->counts().server_in_trouble);
  EXPECT_EQ(manager_->counts().requests, options_.requests_max);
  EXPECT_LE(api_.seen.size(), options_.requests_max * 13) << "asked again in a tight loop";
  const std::string told = sink_.Take();
  EXPECT_THAT(told, testing::HasSubstr("Statuses of pods are late"));
  EXPECT_THAT(told, testing::HasSubstr("no turn"));
  EXPECT_THAT(told, testing::Not(testing::HasSubstr("The API server does not take")));
  EXPECT_LE(std::ranges::count(told, '\n'), 4);
  crowded = false;
  RunFor(Seconds(30));
  for (const Pod& pod : pods) EXPECT_EQ(NumberOf(pod.metadata().name()), 7);
}

// One of them in the client's line would keep back the next status of its pod.
TEST_F(StatusTest, NoStatusWaitsBehindTheTokensOfOthers) {
  Start();
  const Pod pod = Create("a");
  Set(pod, MakeStatus("Pending", 0, false));
  RunFor(Seconds(2));
  Set(pod, MakeStatus("Running", 1, false));
  RunFor(Seconds(2));
  Set(pod, MakeStatus("Running", 2, false));
  RunFor(Seconds(2));
  ASSERT_EQ(api_.seen.size(), 3U);
  for (const auto& seen : api_.seen) EXPECT_LT(seen.context.priority, Priority::kNormal);
}

TEST_F(StatusTest, StatusThatTheServerCallsInvalidWaitsForANewerOne) {
  Start();
  const Pod pod = Create("a");
  bool refuse = true;
  api_.fate = [&](const sync::ApiRequest& request) {
    return refuse && request.verb == ApiVerb::kPatch ? Refuse(ErrorCode::kInvalid) : Fate{};
  };
  Set(pod, MakeStatus("Running", 1, true));
  RunFor(Seconds(50));
  EXPECT_EQ(api_.Count(ApiVerb::kPatch), 1U);
  EXPECT_FALSE(IsSettled(pod));
  refuse = false;
  WakeUp();
  Set(pod, MakeStatus("Running", 2, true));
  RunFor(Milliseconds(50));
  EXPECT_EQ(NumberOf("a"), 2);
}

TEST_F(StatusTest, WhatOthersChangeOfOursIsSetRightAgainWithPauses) {
  Start();
  const Pod pod = Create("a");
  Set(pod, MakeStatus("Running", 1, true));
  RunFor(Milliseconds(50));
  api_.seen.clear();
  for (int i = 0; i < 20; ++i) {
    PatchStatus("a", R"({"status": {"phase": "Pending"}})");
    RunFor(Seconds(1));
  }
  RunFor(Seconds(11));
  EXPECT_EQ(Find("a")->status().phase(), "Running");
  EXPECT_LE(api_.Count(ApiVerb::kPatch), 4U);
}

TEST_F(StatusTest, StatusOfAStaticPodGoesToItsMirror) {
  Start();
  Pod pod = fakes::MakePod("static", "n1");
  pod.mutable_metadata()->set_uid("of-the-file");
  auto& annotations = *pod.mutable_metadata()->mutable_annotations();
  annotations["kubernetes.io/config.source"] = "file";
  annotations["kubernetes.io/config.hash"] = "h1";
  Set(pod, MakeStatus("Running", 1, true));
  RunFor(Seconds(5));
  EXPECT_TRUE(IsSettled(pod));  // there is nobody to tell
  EXPECT_TRUE(api_.seen.empty());
  Create("static", {{"kubernetes.io/config.mirror", "h0"}});  // of another version
  RunFor(Seconds(5));
  EXPECT_TRUE(api_.seen.empty());
  Delete("static", 0);
  const Pod mirror = Create("static", {{"kubernetes.io/config.mirror", "h1"}});
  RunFor(Seconds(1));
  EXPECT_EQ(NumberOf("static"), 1);
  ASSERT_EQ(api_.seen.size(), 1U);
  EXPECT_NE(api_.seen[0].request.body.find(mirror.metadata().uid()), std::string::npos);
  // Somebody deletes the mirror: that is not for us to finish.
  Delete("static");
  Set(pod, MakeStatus("Failed", 2, false), MayRun::kNo, Finished::kYes);
  RunFor(Seconds(5));
  EXPECT_EQ(api_.Count(ApiVerb::kDelete), 0U);
}

// What an agent before us wrote there is more than we know before we have seen it.
TEST_F(StatusTest, OverAMirrorThatWasThereBeforeGoesOnlyAStatusThatGoesOnFromIt) {
  Pod pod = fakes::MakePod("static", "n1");
  pod.mutable_metadata()->set_uid("of-the-file");
  auto& annotations = *pod.mutable_metadata()->mutable_annotations();
  annotations["kubernetes.io/config.source"] = "file";
  annotations["kubernetes.io/config.hash"] = "h1";
  const Pod mirror = Create("static", {{"kubernetes.io/config.mirror", "h1"}});
  PatchStatus("static", R"({"status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}})");
  Start();
  Set(pod, MakeStatus("Running", 1, true));
  RunFor(Seconds(30));
  EXPECT_TRUE(api_.seen.empty());
  EXPECT_FALSE(IsSettled(pod));
  Set(pod, MakeStatus("Running", 2, true), MayRun::kYes, Finished::kNo, mirror.metadata().uid());
  RunFor(Seconds(1));
  EXPECT_EQ(NumberOf("static"), 2);
  EXPECT_TRUE(IsSettled(pod));
  // One that is made anew has nothing that could be lost.
  Delete("static", 0);
  Create("static", {{"kubernetes.io/config.mirror", "h1"}});
  RunFor(Seconds(1));
  EXPECT_EQ(NumberOf("static"), 2);
  Set(pod, MakeStatus("Running", 3, true), MayRun::kYes, Finished::kNo, mirror.metadata().uid());
  RunFor(Seconds(1));
  EXPECT_EQ(NumberOf("static"), 3);
}

TEST_F(StatusTest, NothingIsSentForAPodThatIsForgotten) {
  Start();
  const Pod pod = Create("a");
  api_.fate = [](const sync::ApiRequest&) { return Refuse(ErrorCode::kPermission); };
  Set(pod, MakeStatus("Running", 1, true));
  RunFor(Milliseconds(50));
  manager_->Forget(PodUid(pod.metadata().uid()));
  api_.seen.clear();
  RunFor(Minutes(1));
  EXPECT_TRUE(api_.seen.empty());
  EXPECT_EQ(manager_->counts().pods, 0U);
}

TEST_F(StatusTest, DurationIsMeasuredFromTheFirstChangeThatWasNotTold) {
  Start();
  const Pod pod = Create("a");
  Set(pod, MakeStatus("Pending", 0, false));
  RunFor(Milliseconds(700));
  Set(pod, MakeStatus("Running", 0, true));
  RunFor(Seconds(1));
  EXPECT_GT(manager_->metrics().Histogram(StatusMetric::kSyncDuration).sum(), 0.7);
}

}  // namespace
}  // namespace denselet::managers::tests
