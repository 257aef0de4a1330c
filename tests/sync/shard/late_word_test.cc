// What is told of a pod while its worker goes: nobody tells it again.
#include "tests/sync/shard/shard_fixture.h"

namespace denselet::sync {
namespace {

class LateWordTest : public PodShardTest {
 protected:
  LateWordTest() {
    host_.faults().delay_min = host_.faults().delay_max = Milliseconds(100);
    Make();
    Do([](PodShard& shard) { shard.SourcesReady(); });
    Run(Seconds(1));
  }

  // Home knows of nobody who wishes it.
  void OnPodUnwished(const PodIdentity& pod) override {
    Do([uid = pod.uid](PodShard& shard) { shard.AdoptOrphan(uid); });
  }
  // One that was given up, by us or by an agent before us.
  void SandboxComes() {
    const auto made = model_.RunSandbox({.pod = {{"ns", "pod-u1"}, pod_}});
    ASSERT_TRUE(made);
    Do([pod = pod_, id = made->value()](PodShard& shard) { shard.Hint({PodHint(pod, id)}); });
  }
  // A read takes its picture after 200 ms, and is heard of after 300.
  void RunUntilThePictureIsTaken() { Run(Milliseconds(250)); }
  void ExpectItIsEnded() {
    ASSERT_EQ(model_.Read(pod_).sandboxes.size(), 1u);
    Run(Seconds(30));
    EXPECT_TRUE(model_.Read(pod_).sandboxes.empty());
    EXPECT_TRUE(shard_->idle());
  }

  const PodUid pod_{"u1"};
  PodWish gone_wish_{.kind = WishKind::kGone, .pod = WishOf("u1").pod};
};

TEST_F(LateWordTest, ASandboxThatComesAfterTheLastLookIsFound) {
  Do([this](PodShard& shard) { shard.Update(gone_wish_); });
  RunUntilThePictureIsTaken();
  SandboxComes();
  Run(Milliseconds(100));
  ASSERT_EQ(gone_, std::vector<std::string>{"u1"});
  ExpectItIsEnded();
}

TEST_F(LateWordTest, ASandboxThatComesAfterALookAtNobodysPodIsFound) {
  Do([this](PodShard& shard) { shard.Hint({PodHint(pod_)}); });
  RunUntilThePictureIsTaken();
  SandboxComes();
  ExpectItIsEnded();
}

// A word that waits for calls under way waits no longer than its pod.
TEST_F(LateWordTest, ASandboxThatComesWhileThePodIsPreparedIsFound) {
  Do([](PodShard& shard) { shard.Update(WishOf("u1")); });
  Run(Seconds(1));
  ASSERT_EQ(leaves_.preparing.size(), 1u);
  SandboxComes();
  Do([this](PodShard& shard) { shard.Update(gone_wish_); });
  Run(Milliseconds(10));
  world_.loop(0).Post([this] { leaves_.preparing.front()(PreparedPod{}); });
  Run(Milliseconds(100));
  ASSERT_EQ(gone_, std::vector<std::string>{"u1"});
  ExpectItIsEnded();
}

TEST_F(LateWordTest, APodOfWhichNothingIsToldIsLookedAtOnce) {
  Do([this](PodShard& shard) { shard.Update(gone_wish_); });
  Run(Seconds(30));
  EXPECT_EQ(host_.counters().calls["ReadPod"], 1u);
  EXPECT_EQ(gone_.size(), 1u);
  EXPECT_TRUE(shard_->idle());
}

}  // namespace
}  // namespace denselet::sync
