#include "sync/pleg/observed_store.h"

#include <gtest/gtest.h>

namespace denselet::sync {
namespace {

const PodUid kPod("u1");

ObservedPod Running(const std::string& id = "c1") {
  ObservedPod pod;
  pod.pod.uid = kPod;
  pod.sandboxes = {{.id = SandboxId("s1"), .state = SandboxState::kReady}};
  pod.containers = {
      {.id = ContainerId(id), .name = "app", .state = ContainerState::kRunning, .exit_code = 0}};
  return pod;
}

ListedPod ListedRunning(ContainerState state = ContainerState::kRunning) {
  ListedPod pod;
  pod.pod.uid = kPod;
  pod.sandboxes = {{.id = SandboxId("s1"), .state = SandboxState::kReady}};
  pod.containers = {{.id = ContainerId("c1"), .name = "app", .state = state}};
  return pod;
}

TEST(ObservedStore, AnAnswerCountsByWhenItWasAskedForNotByWhenItCame) {
  ObservedStore store;
  EXPECT_EQ(store.Apply(kPod, 7, Running("new")), Applied::kNew);
  EXPECT_EQ(store.Apply(kPod, 5, Running("old")), Applied::kStale);
  EXPECT_EQ(store.Find(kPod)->pod, Running("new"));
  EXPECT_EQ(store.Find(kPod)->as_of, 7u);
}

TEST(ObservedStore, TheSameAgainMovesFreshnessOnly) {
  ObservedStore store;
  ASSERT_EQ(store.Apply(kPod, 1, Running()), Applied::kNew);
  EXPECT_EQ(store.Apply(kPod, 2, Running()), Applied::kSame);
  EXPECT_EQ(store.Find(kPod)->as_of, 2u);
}

TEST(ObservedStore, AListThatAgreesProvesThePictureAsOfItsRequest) {
  ObservedStore store;
  ASSERT_EQ(store.Apply(kPod, 1, Running()), Applied::kNew);
  EXPECT_TRUE(store.Compare(4, {ListedRunning()}).empty());
  EXPECT_EQ(store.Find(kPod)->as_of, 4u);
}

TEST(ObservedStore, AListThatDiffersProvesNothingAndAsksForARead) {
  ObservedStore store;
  ASSERT_EQ(store.Apply(kPod, 1, Running()), Applied::kNew);
  EXPECT_EQ(store.Compare(4, {ListedRunning(ContainerState::kExited)}), std::vector{kPod});
  EXPECT_EQ(store.Find(kPod)->as_of, 1u);
  EXPECT_EQ(store.Compare(5, {}), std::vector{kPod}) << "a pod that is gone from the list";
}

// It may have been answered between two of the looks.
TEST(ObservedStore, AReadThatWasAskedForBeforeTheListThatProvesLooksIsOld) {
  ObservedStore store;
  ASSERT_EQ(store.Apply(kPod, 10, Running()), Applied::kNew);
  ASSERT_EQ(store.Compare(20, {ListedRunning(ContainerState::kExited)}).size(), 1u);
  ObservedPod ended = Running();
  ended.containers[0].state = ContainerState::kExited;
  EXPECT_EQ(store.Complete(kPod, {.looked = 14, .pod = ended}, 20), Applied::kNew);
  EXPECT_EQ(store.Find(kPod)->as_of, 20u);
  EXPECT_EQ(store.Apply(kPod, 15, Running()), Applied::kStale);
  EXPECT_EQ(store.Find(kPod)->pod, ended);
}

TEST(ObservedStore, AListOlderThanTheReadSaysNothing) {
  ObservedStore store;
  ASSERT_EQ(store.Apply(kPod, 9, Running()), Applied::kNew);
  EXPECT_TRUE(store.Compare(4, {ListedRunning(ContainerState::kExited)}).empty());
  EXPECT_EQ(store.Find(kPod)->as_of, 9u);
}

TEST(ObservedStore, WhatWasForgottenStaysForgotten) {
  ObservedStore store;
  ASSERT_EQ(store.Apply(kPod, 1, Running()), Applied::kNew);
  store.Forget(kPod, 5);
  EXPECT_EQ(store.Apply(kPod, 4, Running()), Applied::kStale);
  EXPECT_TRUE(store.Compare(5, {ListedRunning()}).empty());
  EXPECT_EQ(store.Find(kPod), nullptr);
  EXPECT_EQ(store.Compare(6, {ListedRunning()}), std::vector{kPod});
  EXPECT_EQ(store.Apply(kPod, 7, Running()), Applied::kNew);
}

TEST(ObservedStore, AListProvesThatAPodIsNew) {
  ObservedStore store;
  EXPECT_FALSE(store.TakeAbsence(kPod)) << "there was no list yet";
  EXPECT_TRUE(store.Compare(4, {}).empty());
  EXPECT_TRUE(store.TakeAbsence(kPod));
  EXPECT_EQ(store.Find(kPod)->as_of, 4u);
  EXPECT_TRUE(store.Find(kPod)->pod.empty());
  store.Forget(kPod, 5);
  EXPECT_FALSE(store.TakeAbsence(kPod)) << "the list is older than the end of the one before";
}

TEST(ObservedStoreDeathTest, ATombstoneThatIsOlderThanWhatItStandsForIsNoticed) {
  ObservedStore store;
  ASSERT_EQ(store.Apply(kPod, 7, Running()), Applied::kNew);
  EXPECT_DEATH(store.Forget(kPod, 7), "now > here->as_of");
}

TEST(ObservedStoreDeathTest, FreshnessThatNoReadAndNoListHasGivenIsNoticed) {
  ObservedStore store;
  ASSERT_EQ(store.Apply(kPod, 1, Running()), Applied::kNew);
  store.faults_for_tests().hints_prove = true;
  store.Hinted(kPod, 5);
  store.faults_for_tests().hints_prove = false;
  EXPECT_DEATH((void)store.Compare(6, {ListedRunning()}), "here.as_of");
  EXPECT_DEATH((void)store.Apply(kPod, 6, Running()), "here.as_of");
}

TEST(ObservedStore, TombstonesGoWhenNothingOlderIsUnderWay) {
  ObservedStore store;
  store.Forget(kPod, 5);
  store.NothingOlderThan(5);
  EXPECT_EQ(store.tombstones(), 1u);
  store.NothingOlderThan(6);
  EXPECT_EQ(store.tombstones(), 0u);
}

}  // namespace
}  // namespace denselet::sync
