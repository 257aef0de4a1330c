// Pods under whose work the agent died.
#include "tests/sync/shard/shard_fixture.h"

namespace denselet::sync {
namespace {

using HeldBackTest = PodShardTest;

TEST_F(HeldBackTest, APodThatIsHeldBackCanBeAskedForUntilItChanges) {
  Make({.held_back = {PodUid("u1")}});
  Do([](PodShard& shard) { shard.Update(WishOf("u1")); });
  Run(Seconds(1));
  EXPECT_EQ(held_back_, std::vector<std::string>{"u1"});
  ASSERT_EQ(shard_->HeldBack().size(), 1u);
  EXPECT_EQ(shard_->HeldBack()[0].ref.name, "pod-u1");
  Do([](PodShard& shard) {
    PodWish changed = WishOf("u1");
    changed.kind = WishKind::kChange;
    shard.Update(changed);
  });
  Run(Seconds(1));
  EXPECT_TRUE(shard_->HeldBack().empty());
}

}  // namespace
}  // namespace denselet::sync
