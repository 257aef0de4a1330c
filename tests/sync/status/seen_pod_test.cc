#include "sync/status/seen_pod.h"

#include <gtest/gtest.h>

namespace denselet::sync {
namespace {

ObservedContainer Container(const std::string& name, uint32_t attempt, ContainerState state) {
  return {.id = ContainerId(name + "/" + std::to_string(attempt)),
          .name = name,
          .attempt = attempt,
          .state = state};
}

ContainerEntry SeenAt(Epoch epoch, const ObservedContainer& container) {
  return {.name = container.name,
          .attempt = container.attempt,
          .id = container.id,
          .seen = container,
          .seen_at = epoch};
}

TEST(SeenPod, ReadsOfSingleObjectsCountIfTheyAreNewer) {
  ObservedPod observed;
  observed.containers = {Container("a", 0, ContainerState::kCreated),
                         Container("b", 0, ContainerState::kRunning)};
  LedgerView ledger;
  ledger.containers = {SeenAt(11, Container("a", 0, ContainerState::kRunning)),
                       SeenAt(9, Container("b", 0, ContainerState::kCreated)),
                       SeenAt(12, Container("c", 1, ContainerState::kCreated))};
  const ObservedPod seen = SeenPod({.pod = &observed, .epoch = 10}, ledger);
  ASSERT_EQ(seen.containers.size(), 3U);
  EXPECT_EQ(seen.containers[0].state, ContainerState::kRunning);
  EXPECT_EQ(seen.containers[1].state, ContainerState::kRunning);
  EXPECT_EQ(seen.containers[2].attempt, 1U);
}

TEST(SeenPod, WhatCallsShouldHaveDoneWasNotSeen) {
  LedgerView ledger;
  ledger.containers = {{.name = "a", .id = ContainerId("a/0")}};
  ledger.containers[0].create.state = CallState::kDone;
  ledger.containers[0].start.state = CallState::kDone;
  EXPECT_TRUE(SeenPod({}, ledger).empty());
}

TEST(SeenPod, WhatFollowsOneThatHasEndedIsSeenWhenItIsStarted) {
  ObservedPod observed;
  observed.containers = {
      Container("a", 2, ContainerState::kCreated), Container("a", 1, ContainerState::kExited),
      Container("b", 0, ContainerState::kCreated), Container("c", 1, ContainerState::kCreated),
      Container("c", 0, ContainerState::kRunning)};
  LedgerView ledger;
  ledger.containers = {{.name = "a", .attempt = 2, .id = ContainerId("a/2")}};
  Call& start = ledger.containers[0].start;
  const auto newest = [&] {
    return SeenPod({.pod = &observed, .epoch = 1}, ledger).containers.front().attempt;
  };
  EXPECT_EQ(newest(), 1U);
  start.state = CallState::kInFlight;
  EXPECT_EQ(newest(), 1U);
  EXPECT_EQ(SeenPod({.pod = &observed, .epoch = 1}, ledger).containers.size(), 3U);
  start.state = CallState::kFailed;
  EXPECT_EQ(newest(), 2U);
  start.state = CallState::kDone;
  observed.containers[0].state = ContainerState::kRunning;
  EXPECT_EQ(newest(), 2U);
}

// It was asked for by an agent before us: the one that runs is shown.
TEST(SeenPod, WhatWasMadeBesideOneThatRunsIsNotShown) {
  ObservedPod observed;
  observed.containers = {Container("a", 1, ContainerState::kCreated),
                         Container("a", 0, ContainerState::kRunning)};
  LedgerView ledger;
  const ObservedPod seen = SeenPod({.pod = &observed, .epoch = 1}, ledger);
  ASSERT_EQ(seen.containers.size(), 1U);
  EXPECT_EQ(seen.containers.front().attempt, 0U);
  // One that we made follows one that we stopped, which nobody looked at since.
  ledger.containers = {{.name = "a", .attempt = 1, .id = ContainerId("a/1")}};
  ledger.containers[0].create.state = CallState::kDone;
  EXPECT_EQ(SeenPod({.pod = &observed, .epoch = 1}, ledger).containers.size(), 2U);
}

TEST(SeenPod, SandboxesAreInDescendingOrderOfAttempt) {
  ObservedPod observed;
  observed.sandboxes = {{.id = SandboxId("s0"), .attempt = 0}};
  LedgerView ledger;
  ledger.sandboxes = {{.attempt = 1,
                       .id = SandboxId("s1"),
                       .seen = ObservedSandbox{.id = SandboxId("s1"), .attempt = 1},
                       .seen_at = 5}};
  const ObservedPod seen = SeenPod({.pod = &observed, .epoch = 4}, ledger);
  ASSERT_EQ(seen.sandboxes.size(), 2U);
  EXPECT_EQ(seen.sandboxes[0].id, SandboxId("s1"));
}

}  // namespace
}  // namespace denselet::sync
