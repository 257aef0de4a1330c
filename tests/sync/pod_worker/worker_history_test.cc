#include "sync/pod_worker/worker_history.h"

#include <gtest/gtest.h>

#include <string>

namespace denselet::sync {
namespace {

TimePoint At(int second) { return TimePoint(Seconds(second)); }

TEST(WorkerHistory, SaysWhatWasDoneWaitedForAndTold) {
  WorkerHistory history;
  EXPECT_TRUE(history.All().empty());
  history.Did(At(1), Phase::kSyncing, "began");
  history.WaitsFor(At(2), Phase::kSyncing, "an image");
  history.Tell(At(3), Phase::kTerminating, std::string("failed: ") + "no");
  const std::vector<WorkerTransition> all = history.All();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].what, "began");
  EXPECT_EQ(all[0].at, At(1));
  EXPECT_EQ(all[1].what, "waits for an image");
  EXPECT_EQ(all[1].phase, Phase::kSyncing);
  EXPECT_EQ(all[2].what, "failed: no");
  EXPECT_EQ(all[2].phase, Phase::kTerminating);
  EXPECT_EQ(all[2].at, At(3));
}

TEST(WorkerHistory, KeepsTheNewest) {
  WorkerHistory history;
  for (int i = 0; i < 100; ++i) history.Tell(At(i), Phase::kSyncing, std::to_string(i));
  const std::vector<WorkerTransition> all = history.All();
  ASSERT_EQ(all.size(), kTransitionsMax);
  EXPECT_EQ(all.front().what, "68");
  EXPECT_EQ(all.back().what, "99");
}

}  // namespace
}  // namespace denselet::sync
