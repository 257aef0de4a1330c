// Who comes first on a shard, and how much is done in a turn.
#include <algorithm>
#include <set>
#include <span>

#include "tests/sync/shard/shard_fixture.h"

namespace denselet::sync {
namespace {

class PodTurnsTest : public PodShardTest {
 protected:
  static std::string Number(const char* what, int i) {
    const std::string digits = std::to_string(i);
    return what + std::string(4 - digits.size(), '0') + digits;
  }
  // Pods that ended, and whose last status nobody has acknowledged.
  void Settle(int count) {
    Do([count](PodShard& shard) {
      for (int i = 0; i < count; ++i) {
        PodWish wish = WishOf(Number("rest-", i));
        wish.rejected = Rejection{.reason = "OutOfcpu", .message = "no"};
        shard.Update(wish);
      }
    });
    Run(Seconds(20));
    for (int i = 0; i < count; ++i) {
      const PodWorker* const worker = shard_->Find(PodUid(Number("rest-", i)));
      ASSERT_TRUE(worker != nullptr && worker->state().phase == Phase::kFinished);
    }
    stepped_.clear();
  }
  size_t PlaceOf(const std::string& uid) const {
    return static_cast<size_t>(std::ranges::find(stepped_, uid) - stepped_.begin());
  }
};

TEST_F(PodTurnsTest, AStaticPodThatComesBehindAThousandStartsIsFirst) {
  Make();
  Do([](PodShard& shard) {
    for (int i = 0; i < 1000; ++i) shard.Update(WishOf(Number("start-", i)));
    shard.Update(StaticWish("static"));
  });
  Run(Milliseconds(1));
  EXPECT_EQ(PlaceOf("static"), 0u);
  EXPECT_GE(std::set(stepped_.begin(), stepped_.end()).size(), 1001u);
}

TEST_F(PodTurnsTest, ACriticalPodIsAsUrgent) {
  Make();
  Do([](PodShard& shard) {
    for (int i = 0; i < 1000; ++i) shard.Update(WishOf(Number("start-", i)));
    kube::core::Pod critical = ObjectOf("critical");
    critical.mutable_spec()->set_priority(2'000'000'000);
    shard.Update({.kind = WishKind::kAdd, .pod = RefOf(critical)});
  });
  Run(Milliseconds(1));
  EXPECT_EQ(PlaceOf("critical"), 0u);
}

TEST_F(PodTurnsTest, APodThatIsKilledDoesNotWaitBehindThoseThatStart) {
  Make();
  Do([](PodShard& shard) {
    for (int i = 0; i < 1000; ++i) shard.Update(WishOf(Number("start-", i)));
    // Already in the line of those that start, as its last.
    shard.Kill(PodUid(Number("start-", 999)), Ending{.reason = EndReason::kKilled}, 1);
    EXPECT_EQ(shard.line(), 1000u) << "one place a pod";
  });
  Run(Milliseconds(1));
  EXPECT_EQ(PlaceOf(Number("start-", 999)), 0u);
  EXPECT_EQ(std::ranges::count(stepped_, Number("start-", 0)), 1);
}

TEST_F(PodTurnsTest, APodThatRunsAndIsDeletedDoesNotWaitBehindThemEither) {
  Make();
  Settle(1);
  Do([](PodShard& shard) {
    for (int i = 0; i < 1000; ++i) shard.Update(WishOf(Number("start-", i)));
    kube::core::Pod deleted = ObjectOf("deleted");
    deleted.mutable_metadata()->mutable_deletiontimestamp()->set_seconds(1);
    shard.Update({.kind = WishKind::kAdd, .pod = RefOf(deleted)});
  });
  Run(Milliseconds(1));
  EXPECT_EQ(PlaceOf("deleted"), 0u);
}

TEST_F(PodTurnsTest, WhatRestsComesLastAndKeepsItsShare) {
  Make();
  Settle(40);
  size_t in_first_turn = 0;
  Do([this, &in_first_turn](PodShard& shard) {
    for (int i = 0; i < 40; ++i) shard.KeepLess(PodUid(Number("rest-", i)), 1);
    for (int i = 0; i < 200; ++i) shard.Update(WishOf(Number("start-", i)));
    shard.Update(StaticWish("static"));
    // Behind the first turn, before the second.
    world_.loop(0).Post([this, &in_first_turn] { in_first_turn = stepped_.size(); });
  });
  Run(Milliseconds(1));
  ASSERT_EQ(in_first_turn, PodShardOptions().steps_per_turn_max);
  EXPECT_EQ(PlaceOf("static"), 0u);
  EXPECT_LT(PlaceOf(Number("start-", 0)), PlaceOf(Number("rest-", 0)));
  const auto of_first = std::span(stepped_).first(in_first_turn);
  const auto rest = std::ranges::count_if(
      of_first, [](const std::string& uid) { return uid.starts_with("rest-"); });
  EXPECT_EQ(rest, 8) << "its share, and no more while others wait";
  EXPECT_LT(PlaceOf(Number("rest-", 39)), stepped_.size());
}

TEST_F(PodTurnsTest, ManyEndsLeaveThoseThatStartTheirShare) {
  Make();
  size_t in_first_turn = 0;
  Do([this, &in_first_turn](PodShard& shard) {
    for (int i = 0; i < 500; ++i) shard.Update(WishOf(Number("start-", i)));
    for (int i = 0; i < 500; ++i) {
      PodWish wish = WishOf(Number("end-", i));
      wish.rejected = Rejection{.reason = "OutOfcpu", .message = "no"};
      shard.Update(wish);
    }
    world_.loop(0).Post([this, &in_first_turn] { in_first_turn = stepped_.size(); });
  });
  Run(Milliseconds(1));
  const auto of_first = std::span(stepped_).first(in_first_turn);
  const auto starts = std::ranges::count_if(
      of_first, [](const std::string& uid) { return uid.starts_with("start-"); });
  EXPECT_GE(starts, 16);
  EXPECT_TRUE(stepped_.front().starts_with("end-"));
}

}  // namespace
}  // namespace denselet::sync
