// Pods that a source tells and nobody can read.
#include "tests/sync/shard/shard_fixture.h"

namespace denselet::sync {
namespace {

using UnreadableWishTest = PodShardTest;

TEST_F(UnreadableWishTest, APodWhoseFirstWishCannotBeReadSaysSo) {
  Make();
  Do([](PodShard& shard) {
    kube::core::Pod pod = ObjectOf("u1");
    for (int i = 0; i < 70'000; ++i) pod.mutable_spec()->add_containers();
    shard.Update({.kind = WishKind::kAdd, .pod = RefOf(pod)});
  });
  Run(Seconds(5));
  const PodWorker* const worker = shard_->Find(PodUid("u1"));
  ASSERT_NE(worker, nullptr);
  EXPECT_EQ(faults_.size(), 1u);
  EXPECT_EQ(worker->Report(world_.clock().Now()).waits_for,
            "a form of the pod that can be read: the pod has too many containers");
  Do([](PodShard& shard) { shard.Update(WishOf("u1")); });
  Run(Seconds(5));
  EXPECT_EQ(worker->unreadable(), std::nullopt);
}

}  // namespace
}  // namespace denselet::sync
