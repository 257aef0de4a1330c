#include "cri/list_collector.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cri/messages.h"

namespace denselet::cri {
namespace {

pb::PodSandbox Sandbox(const std::string& pod, const std::string& id, uint32_t attempt) {
  pb::PodSandbox sandbox;
  sandbox.set_id(id);
  sandbox.mutable_metadata()->set_name("name-of-" + pod);
  sandbox.mutable_metadata()->set_namespace_("default");
  sandbox.mutable_metadata()->set_uid(pod);
  sandbox.mutable_metadata()->set_attempt(attempt);
  sandbox.set_created_at(5);
  (*sandbox.mutable_labels())["io.kubernetes.pod.uid"] = pod;
  return sandbox;
}

pb::Container Container(const std::string& pod, const std::string& id, const std::string& name,
                        uint32_t attempt) {
  pb::Container container;
  container.set_id(id);
  container.set_pod_sandbox_id("s-" + pod);
  container.mutable_metadata()->set_name(name);
  container.mutable_metadata()->set_attempt(attempt);
  container.set_state(pb::ContainerState::CONTAINER_RUNNING);
  auto& labels = *container.mutable_labels();
  labels["io.kubernetes.pod.uid"] = pod;
  labels["io.kubernetes.pod.name"] = "name-of-" + pod;
  labels["io.kubernetes.pod.namespace"] = "default";
  return container;
}

TEST(ListCollector, GroupsByPodAndSorts) {
  ListCollector collector;
  collector.Add(Container("b", "c1", "web", 0));
  collector.Add(Container("b", "c2", "web", 1));
  collector.Add(Sandbox("b", "s1", 0));
  collector.Add(Container("a", "c3", "app", 0));
  collector.Add(Sandbox("b", "s2", 1));
  const sync::RuntimeList list = collector.Take();
  ASSERT_EQ(list.pods.size(), 2u);
  // A container whose sandbox was not seen still makes its pod known.
  EXPECT_EQ(list.pods[0].pod.uid, PodUid("a"));
  EXPECT_EQ(list.pods[0].pod.ref.ToString(), "default/name-of-a");
  EXPECT_TRUE(list.pods[0].sandboxes.empty());
  const sync::ListedPod& b = list.pods[1];
  EXPECT_TRUE(b.sandboxes[0] == (sync::ListedSandbox{.pod = b.pod,
                                                     .id = SandboxId("s2"),
                                                     .attempt = 1,
                                                     .state = sync::SandboxState::kReady,
                                                     .created = WallTime(Duration(5))}));
  EXPECT_EQ(b.sandboxes[1].id, SandboxId("s1"));
  EXPECT_TRUE(b.containers[0] == (sync::ListedContainer{.pod = PodUid("b"),
                                                        .id = ContainerId("c2"),
                                                        .sandbox = SandboxId("s-b"),
                                                        .name = "web",
                                                        .attempt = 1,
                                                        .state = sync::ContainerState::kRunning}));
  EXPECT_EQ(b.containers[1].id, ContainerId("c1"));
  EXPECT_EQ(collector.unreadable(), 0u);
}

TEST(ListCollector, TheOrderOfArrivalDoesNotMatter) {
  const std::vector<pb::Container> containers = {
      Container("a", "c1", "x", 0), Container("a", "c2", "x", 0), Container("b", "c3", "y", 2)};
  ListCollector forward, backward;
  for (size_t i = 0; i < containers.size(); ++i) {
    forward.Add(containers[i]);
    backward.Add(containers[containers.size() - 1 - i]);
  }
  EXPECT_TRUE(forward.Take().pods == backward.Take().pods);
}

TEST(ListCollector, WhatCameTwiceIsThereOnce) {
  ListCollector collector;
  for (int i = 0; i < 2; ++i) {
    collector.Add(Sandbox("a", "s1", 0));
    collector.Add(Container("a", "c1", "x", 0));
  }
  const sync::RuntimeList list = collector.Take();
  ASSERT_EQ(list.pods.size(), 1u);
  EXPECT_EQ(list.pods[0].sandboxes.size(), 1u);
  EXPECT_EQ(list.pods[0].containers.size(), 1u);
}

TEST(ListCollector, PassesOverWhatIsNotOursAndCountsWhatCannotBeRead) {
  ListCollector collector;
  pb::PodSandbox foreign = Sandbox("a", "s1", 0);
  foreign.clear_labels();
  collector.Add(foreign);
  pb::Container unlabelled = Container("a", "c1", "x", 0);
  (*unlabelled.mutable_labels())["io.kubernetes.pod.uid"] = "";
  collector.Add(unlabelled);
  EXPECT_EQ(collector.unreadable(), 0u);

  pb::PodSandbox without_metadata = Sandbox("a", "s1", 0);
  without_metadata.clear_metadata();
  collector.Add(without_metadata);
  collector.Add(Container("a", "", "x", 0));
  collector.Add(Container("a", "c1", "", 0));
  EXPECT_EQ(collector.unreadable(), 3u);
  EXPECT_TRUE(collector.Take().pods.empty());
}

}  // namespace
}  // namespace denselet::cri
