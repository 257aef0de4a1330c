// Where the time of a start went.
#include "tests/sync/shard/shard_fixture.h"

namespace denselet::sync {
namespace {

using StartTimelineTest = PodShardTest;

TEST_F(StartTimelineTest, AStartIsCountedFromTheWordOfItsSource) {
  Make();
  Run(Seconds(10));
  const TimePoint wished = world_.clock().Now();
  Run(Seconds(3));  // it waited for its admission
  Do([wished](PodShard& shard) {
    PodWish wish = WishOf("u1");
    wish.wished_at = wished;
    shard.Update(wish);
  });
  Run(Seconds(1));
  const PodWorker* const worker = shard_->Find(PodUid("u1"));
  ASSERT_NE(worker, nullptr);
  EXPECT_EQ(worker->timeline().wished, wished);
  EXPECT_EQ(worker->timeline().begun - wished, Seconds(3));
  Do([wished](PodShard& shard) {
    PodWish change = WishOf("u1");
    change.kind = WishKind::kChange;
    change.wished_at = After(wished, Seconds(4));
    shard.Update(change);
  });
  Run(Seconds(1));
  EXPECT_EQ(worker->timeline().wished, wished) << "a change is no start";
}

}  // namespace
}  // namespace denselet::sync
