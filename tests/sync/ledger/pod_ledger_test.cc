#include "sync/ledger/pod_ledger.h"

#include <gtest/gtest.h>

namespace denselet::sync {
namespace {

const TimePoint kNow(Seconds(100));

void End(PodLedger& ledger, Call& call, const Status& answer, Epoch ended) {
  ledger.End(call, answer, ended, "CreateContainerError", true, kNow, 0);
}

TEST(PodLedger, OneCreateOfANameAtATime) {
  PodLedger ledger;
  ASSERT_TRUE(ledger.BeginCreate("app", 0, SandboxId("s"), 1, kNow));
  const Status again = ledger.BeginCreate("app", 0, SandboxId("s"), 1, kNow);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), ErrorCode::kBug);
  EXPECT_FALSE(ledger.BeginCreate("app", 1, SandboxId("s"), 1, kNow));
  EXPECT_TRUE(ledger.BeginCreate("web", 0, SandboxId("s"), 1, kNow));
}

TEST(PodLedger, WhatWasCreatedIsNotCreatedAgain) {
  PodLedger ledger;
  ASSERT_TRUE(ledger.BeginCreate("app", 0, SandboxId("s"), 1, kNow));
  End(ledger, ledger.Container("app", 0).create, Ok(), 5);
  EXPECT_FALSE(ledger.BeginCreate("app", 0, SandboxId("s"), 1, kNow));
}

TEST(PodLedger, ATimedOutCreateIsUnknownAndSoIsOneThatExistsAlready) {
  for (const ErrorCode code : {ErrorCode::kUnknownOutcome, ErrorCode::kAlreadyExists}) {
    PodLedger ledger;
    ASSERT_TRUE(ledger.BeginRunSandbox(0, kNow));
    Call& run = ledger.Sandbox(0).run;
    End(ledger, run, Error(code, "x"), 5);
    EXPECT_EQ(run.state, CallState::kUnknown);
    EXPECT_FALSE(run.no_effect);
    EXPECT_EQ(ledger.Unresolved(5), 1u);
    EXPECT_EQ(ledger.Unresolved(6), 0u) << "an observation that was asked for later resolves it";
  }
}

TEST(PodLedger, WhatWasSurelyNotTakenNeedsNoLook) {
  PodLedger ledger;
  ASSERT_TRUE(ledger.BeginRunSandbox(0, kNow));
  Call& run = ledger.Sandbox(0).run;
  End(ledger, run, Error(ErrorCode::kUnavailable, "x"), 5);
  EXPECT_EQ(run.state, CallState::kFailed);
  EXPECT_TRUE(run.no_effect);
  EXPECT_EQ(run.retry_at, kNow + Seconds(1));
  PodLedger::Begin(run, kNow);
  End(ledger, run, Error(ErrorCode::kIo, "x"), 6);
  EXPECT_FALSE(run.no_effect);
  EXPECT_EQ(run.retry_at, kNow + Seconds(2)) << "the pause grows";
}

TEST(PodLedger, AnObservationThatCoversACallMakesItHistory) {
  PodLedger ledger;
  ASSERT_TRUE(ledger.BeginCreate("app", 0, SandboxId("s"), 1, kNow));
  End(ledger, ledger.Container("app", 0).create, Ok(), 5);
  ledger.Prune({}, 5);
  EXPECT_EQ(ledger.view().containers.size(), 1u) << "asked for before the answer came";
  ledger.Prune({}, 6);
  EXPECT_TRUE(ledger.view().containers.empty()) << "it is gone from the runtime";
}

TEST(PodLedger, ACallInFlightIsNeverForgotten) {
  PodLedger ledger;
  ASSERT_TRUE(ledger.BeginCreate("app", 0, SandboxId("s"), 1, kNow));
  ledger.Prune({}, 100);
  EXPECT_EQ(ledger.view().containers.size(), 1u);
  EXPECT_TRUE(ledger.making());
}

TEST(PodLedger, AFailedCreateIsKeptForItsRetry) {
  PodLedger ledger;
  ASSERT_TRUE(ledger.BeginCreate("app", 0, SandboxId("s"), 1, kNow));
  End(ledger, ledger.Container("app", 0).create, Error(ErrorCode::kIo, "x"), 5);
  ledger.Prune({}, 100);
  EXPECT_EQ(ledger.view().containers.size(), 1u);
}

TEST(PodLedger, ACreateThatSeemedToHaveFailedAndIsSeenWasMade) {
  for (const ErrorCode code : {ErrorCode::kUnknownOutcome, ErrorCode::kIo}) {
    PodLedger ledger;
    ASSERT_TRUE(ledger.BeginCreate("app", 0, SandboxId("s"), 1, kNow));
    End(ledger, ledger.Container("app", 0).create, Error(code, "x"), 5);
    ASSERT_TRUE(ledger.BeginRunSandbox(0, kNow));
    End(ledger, ledger.Sandbox(0).run, Error(code, "x"), 5);
    ObservedPod observed;
    observed.sandboxes = {{.id = SandboxId("s")}};
    observed.containers = {{.id = ContainerId("c"), .name = "app"}};
    ledger.Prune(observed, 5);
    EXPECT_FALSE(ledger.Container("app", 0).create.done()) << "asked for before the answer came";
    ledger.Prune(observed, 6);
    EXPECT_TRUE(ledger.Container("app", 0).create.done());
    EXPECT_EQ(ledger.Container("app", 0).id, ContainerId("c"));
    EXPECT_TRUE(ledger.Sandbox(0).run.done());
    EXPECT_EQ(ledger.Sandbox(0).id, SandboxId("s"));
  }
}

TEST(PodLedger, ALookAtAContainerIsDroppedWhenALaterObservationShowsIt) {
  PodLedger ledger;
  ASSERT_TRUE(ledger.BeginCreate("app", 0, SandboxId("s"), 1, kNow));
  ContainerEntry& entry = ledger.Container("app", 0);
  End(ledger, entry.create, Ok(), 5);
  entry.id = ContainerId("c");
  entry.seen = ObservedContainer{.id = ContainerId("c"), .name = "app"};
  entry.seen_at = 6;
  ObservedPod observed;
  ledger.Prune(observed, 5);
  observed.containers = {{.id = ContainerId("c"), .name = "app"}};
  ledger.Prune(observed, 6);
  EXPECT_TRUE(ledger.Container("app", 0).seen) << "not asked for later";
  ledger.Prune(observed, 7);
  EXPECT_FALSE(ledger.Container("app", 0).seen);
  EXPECT_TRUE(ledger.Container("app", 0).create.done());
}

TEST(PodLedger, AnOldAttemptGoesWhenANewerOneIsSeen) {
  PodLedger ledger;
  ASSERT_TRUE(ledger.BeginCreate("app", 0, SandboxId("s"), 1, kNow));
  End(ledger, ledger.Container("app", 0).create, Ok(), 5);
  ObservedPod observed;
  observed.containers = {{.name = "app", .attempt = 1}, {.name = "app", .attempt = 0}};
  ledger.Prune(observed, 6);
  EXPECT_TRUE(ledger.view().containers.empty());
}

}  // namespace
}  // namespace denselet::sync
