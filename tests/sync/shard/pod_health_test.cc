// What a shard tells of pods that something is wrong with.
#include "tests/sync/shard/shard_fixture.h"

namespace denselet::sync {
namespace {

using PodHealthTest = PodShardTest;

TEST_F(PodHealthTest, ARuntimeThatIsAwayIsAFewLinesWhateverTheNumberOfPods) {
  Make();
  host_.faults().not_sent = 1;
  Do([](PodShard& shard) {
    for (int i = 0; i < 200; ++i) shard.Update(WishOf("u" + std::to_string(i)));
  });
  Run(Minutes(10));
  EXPECT_EQ(Lines("Could not read a pod from the runtime").size(), 3u);
  EXPECT_EQ(Lines("Many pods").size(), 2u);
  host_.faults().not_sent = 0;
  Run(Minutes(2));
  EXPECT_EQ(Lines("Pod can be read from the runtime again").size(), 3u);
}

TEST_F(PodHealthTest, PodsThatCannotBeReadAreCountedAsTheyCome) {
  Make();
  const auto& unhealthy = shard_->metrics().Gauge(PlegMetric::kUnhealthyPods);
  host_.faults().not_sent = 1;
  Do([](PodShard& shard) {
    shard.Update(WishOf("u1"));
    shard.Update(WishOf("u2"));
  });
  Run(Seconds(1));
  EXPECT_EQ(unhealthy.value(), 2);
  host_.faults().not_sent = 0;
  Run(Minutes(2));
  EXPECT_EQ(unhealthy.value(), 0);
}

TEST_F(PodHealthTest, WhoWaitsToBeReadAgainSaysWhatFailed) {
  Make();
  host_.faults().not_sent = 1;
  Do([](PodShard& shard) { shard.Update(WishOf("u1")); });
  Run(Seconds(5));
  const PodWorker* const worker = shard_->Find(PodUid("u1"));
  ASSERT_NE(worker, nullptr);
  EXPECT_EQ(worker->waits().what, WaitFor::kReadRetry);
  const std::string waits = worker->Report(world_.clock().Now()).waits_for;
  EXPECT_NE(waits.find("the runtime cannot be reached"), waits.npos) << waits;
}

}  // namespace
}  // namespace denselet::sync
