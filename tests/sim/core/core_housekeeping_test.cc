// What stays of pods and what goes, told one by one: dead containers, directories, logs.
#include "tests/sim/core/core_fixture.h"

namespace denselet::sim {
namespace {

TEST_F(CoreTest, APodThatEndsAgainAndAgainKeepsOneDeadContainerAndItsLog) {
  options_.node.back_off_base = options_.node.back_off_max = Seconds(1);
  Start();
  SimPod& pod = Pod(SimPodKind::kLooper, "u1");
  TellAll();
  Run(Minutes(10));
  EXPECT_GT(Requests(RuntimeRequest::kCreateContainer, pod), 5u);
  EXPECT_LE(Dead(pod), 2u);
  EXPECT_LE(Logs(pod), 3u) << "of what runs, of the kept one, of one that goes";
  EXPECT_LE(leaves_.LinksOf(IdOf(pod)), 3u);
}

TEST_F(CoreTest, APodTakesItsDirectoriesAndLogsWithIt) {
  Start();
  SimPod& pod = Pod(SimPodKind::kServer, "u1");
  TellAll();
  Run(Seconds(10));
  ASSERT_TRUE(Runs(pod));
  EXPECT_EQ(Logs(pod), 1u);
  EXPECT_EQ(leaves_.LinksOf(IdOf(pod)), 1u);
  pod.wished = false;
  TellAll();
  Run(Seconds(20));
  EXPECT_FALSE(HasDirectories(pod));
  EXPECT_EQ(leaves_.LinksOf(IdOf(pod)), 0u);
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

TEST_F(CoreTest, LinksThatLeadNowhereGoWithWhatIsLeft) {
  sim::Disk& disk = leaves_.disk();
  ASSERT_TRUE(disk.MakeDirectories(PodLeaves::kLinks, 0755));
  const std::string dead = std::string(PodLeaves::kLinks) + "/p_default_c-0123456789.log";
  ASSERT_TRUE(disk.Symlink("/var/log/pods/default_p_gone/c/0.log", dead, WallTime{}));
  SimPod& wished = Pod(SimPodKind::kServer, "u2");
  Start();
  TellAll();
  Run(Minutes(1));
  EXPECT_FALSE(disk.Stat(dead));
  EXPECT_TRUE(Runs(wished));
  EXPECT_EQ(leaves_.LinksOf(IdOf(wished)), 1u);
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

}  // namespace
}  // namespace denselet::sim
