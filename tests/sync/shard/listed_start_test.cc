// A list that comes in the middle of a start: nothing is asked for that the start asks for anyway.
#include "tests/sync/shard/shard_fixture.h"

namespace denselet::sync {
namespace {

class ListedStartTest : public PodShardTest {
 protected:
  ListedStartTest() {
    leaves_.let_start = true;
    model_.images().insert(kImage);
    host_.faults().delay_min = host_.faults().delay_max = Milliseconds(100);
    Make();
    Do([](PodShard& shard) { shard.SourcesReady(); });
    List();
    Run(Milliseconds(500));
    Do([](PodShard& shard) { shard.Update(WishOf("u1")); });
  }

  // As PLEG does it: the epoch first, and the answer a while later.
  void List() {
    Do([this](PodShard&) {
      const Epoch epoch = epochs_.Next();
      runtime_.ListAll({}, [this, epoch](Result<RuntimeList> list) {
        ASSERT_TRUE(list);
        missed_ += shard_->Listed(epoch, RuntimeWas::kThere, list->pods);
      });
    });
  }
  // Until the runtime has a container of the pod in that state.
  void RunUntil(ContainerState state) {
    for (int i = 0; i < 1000; ++i) {
      const ObservedPod pod = model_.Read(pod_);
      if (!pod.containers.empty() && pod.containers[0].state == state) return;
      Run(Milliseconds(10));
    }
    FAIL() << "the container does not come to it";
  }
  uint64_t Calls(const std::string& name) { return host_.counters().calls[name]; }
  ContainerState Seen() {
    const PodWorker* const worker = shard_->Find(pod_);
    const Observation observation = worker->Observe();
    if (observation.pod == nullptr || observation.pod->containers.empty()) {
      return ContainerState::kUnknown;
    }
    return observation.pod->containers[0].state;
  }

  const PodUid pod_{"u1"};
  uint64_t missed_ = 0;
};

TEST_F(ListedStartTest, AStartNeedsNoLookAtTheWholePod) {
  Run(Seconds(5));
  EXPECT_EQ(model_.Read(pod_).containers.size(), 1u);
  EXPECT_EQ(Calls("ReadPod"), 0u);
}

TEST_F(ListedStartTest, AListInTheMiddleOfItAddsNone) {
  for (const ContainerState state : {ContainerState::kCreated, ContainerState::kRunning}) {
    RunUntil(state);
    List();
  }
  Run(Seconds(30));
  EXPECT_EQ(Calls("ReadPod"), 0u);
  EXPECT_EQ(missed_, 0u);
}

TEST_F(ListedStartTest, AListAfterItMakesThePictureWhole) {
  Run(Seconds(5));
  EXPECT_EQ(Seen(), ContainerState::kUnknown) << "only its parts were looked at";
  List();
  Run(Seconds(1));
  EXPECT_EQ(Seen(), ContainerState::kRunning);
  EXPECT_EQ(Calls("ReadPod"), 0u);
  EXPECT_FALSE(shard_->Find(pod_)->ledger().view().containers[0].seen) << "the picture has it";
}

TEST_F(ListedStartTest, WhatTheListShowsBesidesIsLookedAt) {
  Run(Seconds(5));
  const ObservedPod before = model_.Read(pod_);
  ASSERT_TRUE(model_.CreateContainer(
      before.sandboxes[0].id, {.pod = pod_, .name = "other", .attempt = 0, .image = kImage}));
  List();
  Run(Seconds(1));
  EXPECT_EQ(Calls("ReadPod"), 1u);
}

TEST_F(ListedStartTest, WhatHasEndedMeanwhileIsLookedAt) {
  Run(Seconds(5));
  ASSERT_TRUE(model_.Exit(model_.Read(pod_).containers[0].id, 1));
  List();
  Run(Milliseconds(700));
  EXPECT_EQ(Calls("ReadPod"), 1u);
  EXPECT_EQ(missed_, 1u) << "no event has told";
}

TEST_F(ListedStartTest, ASandboxThatDiedIsLookedAt) {
  Run(Seconds(5));
  ASSERT_TRUE(model_.KillSandbox(model_.Read(pod_).sandboxes[0].id,
                                 fakes::RuntimeModel::Containers::kLiveOn));
  List();
  Run(Milliseconds(700));
  EXPECT_GE(Calls("ReadPod"), 1u);
}

// A container vanishes while a hook of another one runs. Of the first pod only looks at its parts
// have shown it, of the second one a look at the whole.
TEST_F(ListedStartTest, WhatTheListLacksIsLookedAtAlsoInTheMiddleOfIt) {
  for (const std::string uid : {"u2", "u3"}) {
    kube::core::Pod pod = ObjectOf(uid);
    auto& second = *pod.mutable_spec()->add_containers();
    second.set_name("second");
    second.set_image("image:1");
    second.mutable_lifecycle()->mutable_poststart()->mutable_exec()->add_command("hangs");
    Do([wish = PodWish{.kind = WishKind::kAdd, .pod = RefOf(pod)}](PodShard& shard) {
      shard.Update(wish);
    });
    Run(Seconds(5));
    if (uid == "u3") Do([uid](PodShard& shard) { shard.Hint({PodHint(PodUid(uid))}); });
    Run(Seconds(5));
    const uint64_t looks = Calls("ReadPod");
    const ObservedPod there = model_.Read(PodUid(uid));
    ASSERT_EQ(there.containers.size(), 2u);
    const ContainerId lost = there.containers[there.containers[0].name == "app" ? 0 : 1].id;
    ASSERT_TRUE(model_.Exit(lost, 1));
    ASSERT_TRUE(model_.RemoveContainer(lost));
    List();
    Run(Seconds(3));
    EXPECT_GE(Calls("ReadPod"), looks + 1) << uid;
  }
  EXPECT_GE(Calls("ReadPod"), 3u) << "the hint's, too";
}

// What is held back waits for the calls under way, but not for ever.
TEST_F(ListedStartTest, AHangingStartIsLookedAtAfterAWhile) {
  RunUntil(ContainerState::kCreated);
  host_.faults().delay_min = host_.faults().delay_max = Seconds(40);
  Run(Seconds(1));
  host_.faults().delay_min = host_.faults().delay_max = Milliseconds(100);
  List();
  Run(Seconds(5));
  EXPECT_EQ(Calls("ReadPod"), 0u);
  Run(Seconds(10));
  EXPECT_EQ(Calls("ReadPod"), 1u);
}

}  // namespace
}  // namespace denselet::sync
