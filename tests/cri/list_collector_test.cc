#include "cri/list_collector.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
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

void Add(ListCollector& collector, const pb::PodSandbox& sandbox) {
  pb::ListPodSandboxResponse answer;
  *answer.add_items() = sandbox;
  EXPECT_TRUE(collector.AddSandboxes(answer.SerializeAsString()));
}

void Add(ListCollector& collector, const pb::Container& container) {
  pb::StreamContainersResponse part;
  *part.add_containers() = container;
  EXPECT_TRUE(collector.AddContainers(part.SerializeAsString()));
}

TEST(ListCollector, GroupsByPodAndSorts) {
  ListCollector collector;
  Add(collector, Container("b", "c1", "web", 0));
  Add(collector, Container("b", "c2", "web", 1));
  Add(collector, Sandbox("b", "s1", 0));
  Add(collector, Container("a", "c3", "app", 0));
  Add(collector, Sandbox("b", "s2", 1));
  const sync::RuntimeList list = collector.Take();
  ASSERT_EQ(list.pods.size(), 2u);
  // A container whose sandbox was not seen still makes its pod known.
  EXPECT_EQ(list.pods[0].pod.uid, PodUid("a"));
  EXPECT_EQ(list.pods[0].pod.ref.ToString(), "default/name-of-a");
  EXPECT_TRUE(list.pods[0].sandboxes.empty());
  const sync::ListedPod& b = list.pods[1];
  EXPECT_TRUE(b.sandboxes[0] ==
              (sync::ListedSandbox{
                  .id = SandboxId("s2"), .attempt = 1, .state = sync::SandboxState::kReady}));
  EXPECT_EQ(b.sandboxes[1].id, SandboxId("s1"));
  EXPECT_TRUE(b.containers[0] == (sync::ListedContainer{.id = ContainerId("c2"),
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
    Add(forward, containers[i]);
    Add(backward, containers[containers.size() - 1 - i]);
  }
  EXPECT_TRUE(forward.Take().pods == backward.Take().pods);
}

TEST(ListCollector, WhatCameTwiceIsThereOnce) {
  ListCollector collector;
  for (int i = 0; i < 2; ++i) {
    Add(collector, Sandbox("a", "s1", 0));
    Add(collector, Container("a", "c1", "x", 0));
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
  Add(collector, foreign);
  pb::Container unlabelled = Container("a", "c1", "x", 0);
  (*unlabelled.mutable_labels())["io.kubernetes.pod.uid"] = "";
  Add(collector, unlabelled);
  EXPECT_EQ(collector.unreadable(), 0u);

  pb::PodSandbox without_metadata = Sandbox("a", "s1", 0);
  without_metadata.clear_metadata();
  Add(collector, without_metadata);
  Add(collector, Container("a", "", "x", 0));
  Add(collector, Container("a", "c1", "", 0));
  EXPECT_EQ(collector.unreadable(), 3u);
  EXPECT_TRUE(collector.Take().pods.empty());
}

// Fields by number: the answers' bytes are what protobuf makes of the messages.
TEST(ListCollector, ReadsWhatTheMessagesHave) {
  pb::ListPodSandboxResponse sandboxes;
  pb::PodSandbox& sandbox = *sandboxes.add_items();
  sandbox = Sandbox("a", "s1", 7);
  sandbox.set_state(pb::PodSandboxState::SANDBOX_NOTREADY);
  sandbox.set_created_at(1'700'000'000'000'000'000);
  sandbox.set_runtime_handler("runc");
  (*sandbox.mutable_annotations())["io.kubernetes.pod.uid"] = "of an annotation";
  (*sandbox.mutable_labels())["io.kubernetes.pod.name"] = "name-of-a";
  pb::ListContainersResponse containers;
  pb::Container& container = *containers.add_containers();
  container = Container("a", "c1", "app", 3);
  container.set_state(pb::ContainerState::CONTAINER_EXITED);
  container.set_created_at(-62135596800000000);  // Go's zero time
  container.mutable_image()->set_image("app:1");
  container.set_image_ref("ref");
  container.set_image_id("id");
  (*container.mutable_annotations())["io.kubernetes.container.hash"] = "1";
  // What later versions may add is passed over.
  std::string answer = containers.SerializeAsString();
  answer += std::string("\x98\x06\x2a\xa2\x06\x03xyz", 9);  // fields 99 and 100
  ListCollector collector;
  ASSERT_TRUE(collector.AddSandboxes(sandboxes.SerializeAsString()));
  ASSERT_TRUE(collector.AddContainers(answer));
  const sync::RuntimeList list = collector.Take();
  ASSERT_EQ(list.pods.size(), 1u);
  const sync::PodIdentity owner = {.ref = {.ns = "default", .name = "name-of-a"},
                                   .uid = PodUid("a")};
  EXPECT_EQ(list.pods[0].pod, owner);
  ASSERT_EQ(list.pods[0].sandboxes.size(), 1u);
  EXPECT_TRUE(list.pods[0].sandboxes[0] ==
              (sync::ListedSandbox{
                  .id = SandboxId("s1"), .attempt = 7, .state = sync::SandboxState::kNotReady}));
  ASSERT_EQ(list.pods[0].containers.size(), 1u);
  EXPECT_TRUE(list.pods[0].containers[0] ==
              (sync::ListedContainer{.id = ContainerId("c1"),
                                     .name = "app",
                                     .attempt = 3,
                                     .state = sync::ContainerState::kExited}));
}

TEST(ListCollector, WhatIsNoListIsRefusedWherever) {
  pb::ListContainersResponse containers;
  *containers.add_containers() = Container("a", "c1", "app", 3);
  const std::string whole = containers.SerializeAsString();
  for (size_t size = 1; size < whole.size(); ++size) {
    ListCollector collector;
    const Status taken = collector.AddContainers(std::string_view(whole).substr(0, size));
    ASSERT_FALSE(taken) << size;
    EXPECT_EQ(taken.error().code(), ErrorCode::kCorrupt);
  }
  ListCollector collector;
  EXPECT_TRUE(collector.AddContainers(""));
  EXPECT_FALSE(collector.AddSandboxes("not a message"));
}

}  // namespace
}  // namespace denselet::cri
