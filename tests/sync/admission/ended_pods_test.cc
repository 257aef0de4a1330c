// That pods end for good, over restarts of the agent and troubles of the disk.
#include "sync/admission/ended_pods.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/sync/admission/desk_fixture.h"

namespace denselet::sync {
namespace {

class EndedPodsTest : public testing::Test, protected DeskHouse {
 protected:
  EndedPodsTest() : DeskHouse(7) {}

  static EndRecord End(const std::string& uid, const std::string& reason = "Evicted") {
    return {
        .pod = {.ref = {"default", uid}, .uid = PodUid(uid)},
        .ending = {
            .reason = EndReason::kKilled, .outcome = PodOutcome::kFailed, .status_reason = reason}};
  }
  void Record(const EndRecord& end) {
    desk->ends().Record(end, [this, uid = end.pod.uid.value()] { durable_ += uid + " "; });
  }
  std::string ReasonOf(const std::string& uid) {
    const EndRecord* const end = desk->ends().Find(PodUid(uid));
    return end == nullptr ? "none" : end->ending.status_reason;
  }

  std::string durable_;
};

TEST_F(EndedPodsTest, AnEndOutlivesAPowerCutOnceItIsSaidToBeDurable) {
  Record(End("a"));
  EXPECT_EQ(durable_, "");
  EXPECT_EQ(ReasonOf("a"), "Evicted") << "known at once";
  Pass();
  EXPECT_EQ(durable_, "a ");
  PowerCut();
  EXPECT_EQ(ReasonOf("a"), "Evicted");
  EXPECT_TRUE(desk->ends().IsDurable(PodUid("a")));
}

TEST_F(EndedPodsTest, TheFirstEndCountsAndWhoeverAsksIsTold) {
  Record(End("a"));
  Record(End("a", "Preempting"));
  Pass();
  Record(End("a", "Terminated"));
  EXPECT_EQ(durable_, "a a a ");
  EXPECT_EQ(ReasonOf("a"), "Evicted");
}

TEST_F(EndedPodsTest, ItIsForgottenWithThePodAndNotWithItsRoom) {
  ASSERT_TRUE(Ask(SimplePod("a", "1")));
  Pass();
  Record(End("a"));
  desk->Release(PodUid("a"));
  Pass();
  Restart();
  EXPECT_EQ(ReasonOf("a"), "Evicted") << "what it had is free; that it ends stays true";
  EXPECT_FALSE(desk->IsDecided(PodUid("a")));
  desk->ends().Forget(PodUid("a"));
  Pass();
  Restart();
  EXPECT_EQ(ReasonOf("a"), "none");
}

TEST_F(EndedPodsTest, CompactionKeepsThem) {
  options.compact_bytes_min = 1;
  options.compact_ratio = 1;
  Restart();
  for (int i = 0; i < 20; ++i) {
    Record(End("p" + std::to_string(i)));
    if (i % 2 == 0) desk->ends().Forget(PodUid("p" + std::to_string(i)));
    Pass();
  }
  EXPECT_GT(journal->state().compactions, 0u);
  PowerCut();
  EXPECT_EQ(desk->ends().Pods().size(), 10u);
  EXPECT_EQ(ReasonOf("p1"), "Evicted");
}

// What a pod had is known to be another's only when it is known that it ends, however long the
// journal took nothing.
TEST_F(EndedPodsTest, NoDecisionOvertakesAnEnd) {
  ASSERT_TRUE(Ask(SimplePod("a", "1500m")));
  Pass();
  options.pending_records_max = 1;
  Restart();
  ASSERT_TRUE(Ask(SimplePod("a", "1500m")));
  Pass();
  disk.faults().full = true;
  Record(End("filler"));
  Record(End("a"));  // does not fit behind the other
  desk->Release(PodUid("a"));
  ASSERT_TRUE(Ask(SimplePod("b", "1500m")));
  Pass(Seconds(20));
  EXPECT_EQ(durable_, "");
  EXPECT_EQ(answers.count("b"), 0u);
  disk.faults().full = false;
  for (int i = 0; i < 2'000 && answers.count("b") == 0; ++i) {
    Pass(Milliseconds(50));
    if (answers.count("b") != 0) {
      EXPECT_EQ(durable_, "filler a ");
    }
  }
  EXPECT_EQ(answers["b"], "admitted");
}

}  // namespace
}  // namespace denselet::sync
