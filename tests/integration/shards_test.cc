#include "reactor/shards.h"

#include <sched.h>

#include <array>
#include <atomic>
#include <latch>
#include <set>
#include <thread>

#include "tests/integration/loop_fixture.h"

namespace denselet::reactor {
namespace {

class ShardsTest : public testing::TestWithParam<Backend> {
 protected:
  void Start(uint32_t count, MailLimits mail = {}) {
    auto started = Shards::Start({.count = count, .backend = GetParam(), .mail = mail}, clock_);
    ASSERT_TRUE(started) << started.error().message();
    shards_ = std::move(*started);
  }
  RealClock clock_;
  std::unique_ptr<Shards> shards_;
};
INSTANTIATE_LOOP_TEST(ShardsTest);

TEST_P(ShardsTest, StartAsManyAsCpusButFourAtMost) {
  Start(0);
  EXPECT_EQ(shards_->size(), std::min<size_t>(AllowedCpus().size(), Shards::kCountDefaultMax));
}

TEST_P(ShardsTest, EachIsPinnedToOneOfTheAllowedCpus) {
  Start(2);
  const std::vector<int> allowed = AllowedCpus();
  for (uint32_t i = 0; i < 2; ++i) {
    cpu_set_t set;
    shards_->RunAndWait(i, [&](Shard&) { ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0); });
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(static_cast<size_t>(allowed[i % allowed.size()]), &set));
  }
}

TEST_P(ShardsTest, AQuestionIsAnsweredOnTheShardThatAsked) {
  Start(2);
  std::latch done(1);
  std::thread::id asked_on, worked_on, answered_on;
  shards_->RunAndWait(0, [&](Shard& shard) {
    asked_on = std::this_thread::get_id();
    EXPECT_TRUE(shard.Ask<int>(
        1, Context{},
        [&](const QueuedContext& queued, Reply<int> reply) {
          worked_on = std::this_thread::get_id();
          EXPECT_GE(queued.Waited(clock_.Now()), Duration::zero());
          reply(42);
        },
        [&](Result<int> answer) {
          answered_on = std::this_thread::get_id();
          EXPECT_EQ(*answer, 42);
          done.count_down();
        }));
  });
  done.wait();
  EXPECT_EQ(asked_on, answered_on);
  EXPECT_NE(asked_on, worked_on);
}

// Fills every mailbox in both directions at once, far beyond its bounds, while both sides keep
// answering.
struct Flood {
  std::atomic<uint64_t> asked = 0, answered = 0, refused = 0, hinted = 0;
  std::atomic<uint64_t> hints_seen = 0, hint_marks = 0;
  std::atomic<int> bursts_left;
  std::latch& over;

  void Burst(Shard& shard) {
    for (int i = 0; i < 50; ++i) {
      for (uint32_t to = 0; to < shard.shards(); ++to) {
        AskOne(shard, to);
        shard.Hint(to, 7);
        ++hinted;
      }
    }
    if (--bursts_left <= 0) return over.count_down();
    shard.loop().Post([this, &shard] { Burst(shard); });
  }

  void AskOne(Shard& shard, uint32_t to) {
    const Status sent = shard.Ask<int>(
        to, Context{}, [](const QueuedContext&, Reply<int> reply) { reply(1); },
        [this](Result<int> answer) {
          EXPECT_TRUE(answer);
          ++answered;
        });
    if (sent) {
      ++asked;
    } else {
      EXPECT_EQ(sent.error().code(), ErrorCode::kOverloaded);
      ++refused;
    }
  }
};

TEST_P(ShardsTest, FullMailboxesLoseNothingAndStickNowhere) {
  constexpr uint32_t kShards = 3;
  Start(kShards, {.requests_max = 16, .replies_max = 32, .hints_max = 16});
  std::latch over(kShards);
  Flood flood{.bursts_left = 300, .over = over};
  for (uint32_t i = 0; i < kShards; ++i) {
    shards_->RunAndWait(i, [&](Shard& shard) {
      shard.mailbox().OnHint([&](uint64_t) { ++flood.hints_seen; }, [&] { ++flood.hint_marks; });
    });
  }
  for (uint32_t i = 0; i < kShards; ++i) {
    shards_->RunAndWait(i, [&](Shard& shard) { flood.Burst(shard); });
  }
  over.wait();
  // Everything accepted is answered: RunAndWait gives each shard further turns until it is.
  const TimePoint limit = After(clock_.Now(), Seconds(20));
  while (flood.answered != flood.asked && clock_.Now() < limit) {
    for (uint32_t i = 0; i < kShards; ++i) shards_->RunAndWait(i, [](Shard&) {});
  }
  EXPECT_EQ(flood.answered, flood.asked);
  EXPECT_GT(flood.refused, 0u);
  EXPECT_GT(flood.asked, 0u);
  EXPECT_TRUE(flood.hints_seen == flood.hinted || flood.hint_marks > 0);
}

TEST_P(ShardsTest, ThreadsOfOthersReachAShardWithoutLoss) {
  Start(1);
  constexpr int kThreads = 4, kEach = 2000;
  std::atomic<int> ran = 0;
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        if (!shards_->TryPost(0, [&](Shard&) { ++ran; })) ++refused;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  shards_->RunAndWait(0, [](Shard&) {});
  EXPECT_EQ(ran + refused, kThreads * kEach);
}

TEST_P(ShardsTest, ReservedPlacesAreNeverRefusedAndComeBack) {
  Start(1, {.replies_max = 8});
  for (int round = 0; round < 100; ++round) {
    std::vector<ForeignSlot> slots;
    shards_->RunAndWait(0, [&](Shard& shard) {
      while (auto slot = shard.ReserveForeign()) slots.push_back(std::move(*slot));
    });
    ASSERT_EQ(slots.size(), 8u);
    std::latch answered(4);
    for (size_t i = 0; i < 4; ++i) slots[i].Post([&] { answered.count_down(); });
    slots.clear();  // the other four give their places back unused
    answered.wait();
    shards_->RunAndWait(0, [](Shard&) {});
  }
}

TEST_P(ShardsTest, AStuckShardIsNamedWhileItIsStuck) {
  Start(2);
  std::latch inside(1), release(1);
  ASSERT_TRUE(shards_->TryPost(1, [&](Shard& shard) {
    ActivityScope scope(shard.loop().activity(), "waiting for the test");
    inside.count_down();
    release.wait();
  }));
  inside.wait();
  std::vector<StuckShard> stuck;
  const TimePoint limit = After(clock_.Now(), Seconds(20));
  while (stuck.empty() && clock_.Now() < limit)
    stuck = shards_->FindStuck(clock_.Now(), Milliseconds(5));
  release.count_down();
  shards_->RunAndWait(1, [](Shard&) {});  // until it has left the latch
  ASSERT_EQ(stuck.size(), 1u);
  EXPECT_EQ(stuck[0].shard, 1u);
  EXPECT_STREQ(stuck[0].doing, "waiting for the test");
}

TEST_P(ShardsTest, AMailboxForOneRequestTakesOneOrTwoAndRunsThem) {
  Start(1, {.requests_max = 1});
  std::latch entered(1), go_on(1);
  ASSERT_TRUE(shards_->TryPost(0, [&](Shard&) {
    entered.count_down();
    go_on.wait();
  }));
  entered.wait();
  std::atomic<int> ran = 0;
  int taken = 0;
  while (shards_->TryPost(0, [&](Shard&) { ++ran; })) ++taken;
  go_on.count_down();
  EXPECT_GE(taken, 1);
  EXPECT_LE(taken, 2);
  shards_->RunAndWait(0, [](Shard&) {});
  EXPECT_EQ(ran, taken);
}

TEST_P(ShardsTest, AReplyKeptInATimerMayDieWithItsShard) {
  Start(2);
  std::array<Shard*, 2> shard{};
  for (uint32_t i = 0; i < 2; ++i) shards_->RunAndWait(i, [&](Shard& self) { shard[i] = &self; });
  std::atomic<int> kept = 0, destroyed = 0;
  for (uint32_t from = 0; from < 2; ++from) {
    Shard* const there = shard[1 - from];
    shards_->RunAndWait(from, [&, there](Shard& self) {
      const std::shared_ptr<void> witness(nullptr, [&](void*) { ++destroyed; });
      EXPECT_TRUE(self.Ask<int>(
          there->index(), {},
          [&, there](const QueuedContext&, Reply<int> reply) {
            there->loop().Arm(kNever, [answer = std::move(reply)]() mutable { answer(1); });
            ++kept;
          },
          [witness](Result<int>) {}));
    });
  }
  while (kept < 2) std::this_thread::yield();
  EXPECT_EQ(destroyed, 0);
  shards_->Stop();
  EXPECT_EQ(destroyed, 2);
}

TEST_P(ShardsTest, ThreadsOfOthersMayOutliveTheShards) {
  Start(1);
  std::optional<ForeignSlot> posted, unused;
  shards_->RunAndWait(0, [&](Shard& shard) {
    posted.emplace(*shard.ReserveForeign());
    unused.emplace(*shard.ReserveForeign());
  });
  std::atomic<bool> over = false;
  std::atomic<int> refused = 0;
  std::thread other([&] {
    while (!over) {
      if (!shards_->TryPost(0, [](Shard&) {})) ++refused;
      (void)shards_->FindStuck(clock_.Now(), Seconds(1));
    }
  });
  shards_->RunAndWait(0, [](Shard&) {});
  shards_->Stop();
  const int seen = refused;
  while (refused == seen) std::this_thread::yield();
  over = true;
  other.join();
  bool ran = false;
  posted->Post([&] { ran = true; });
  unused.reset();
  EXPECT_FALSE(ran);
  EXPECT_TRUE(shards_->FindStuck(After(clock_.Now(), Seconds(9)), Seconds(1)).empty());
}

TEST_P(ShardsTest, StoppingDropsWhatWaitsAndJoins) {
  Start(2);
  for (int i = 0; i < 100; ++i) (void)shards_->TryPost(0, [](Shard& shard) { shard.Hint(1, 1); });
  shards_->Stop();
  EXPECT_FALSE(shards_->TryPost(0, [](Shard&) { ADD_FAILURE(); }));
}

}  // namespace
}  // namespace denselet::reactor
