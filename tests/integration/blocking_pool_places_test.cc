// Who has the pool's workers when calls hang: blocking_pool.h.
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "reactor/blocking_pool.h"
#include "tests/integration/hang.h"
#include "tests/integration/loop_fixture.h"

namespace denselet::reactor {
namespace {

Context Wanted(const CancelSource& source) {
  Context context;
  context.cancel = source.token();
  return context;
}

class BlockingPoolPlacesTest : public LoopTest {
 protected:
  using Kept = std::optional<Result<int>>;

  BlockingPoolPlacesTest() {
    shard_ = std::make_unique<Shard>(0, *loop_, 1, MailLimits{}, all_);
    all_ = {shard_.get()};
  }
  ~BlockingPoolPlacesTest() override {
    pool_.reset();
    shard_.reset();
  }
  void MakePool(const BlockingPoolOptions& options) {
    pool_ = std::make_unique<BlockingPool>(clock_, options);
  }
  static UniqueFunction<void(Result<int>)> Keep(Kept& kept) {
    return [&kept](Result<int> result) { kept.emplace(std::move(result)); };
  }
  void RunHanging(const Context& context, Kept& kept) {
    const size_t before = pool_->Snapshot().running.size();
    pool_->Run<int>(
        *shard_, context, {"hang", "/nfs"}, [hang = hang_] { return hang->Wait(); }, Keep(kept));
    ASSERT_TRUE(RunUntil([&] { return pool_->Snapshot().running.size() == before + 1; }));
  }
  void RunNumber(const Context& context, int number, Kept& kept) {
    pool_->Run<int>(
        *shard_, context, {"count"}, [number]() -> Result<int> { return number; }, Keep(kept));
  }

  const std::shared_ptr<Hang> hang_ = std::make_shared<Hang>();
  std::vector<Shard*> all_;
  std::unique_ptr<Shard> shard_;
  std::unique_ptr<BlockingPool> pool_;
};
INSTANTIATE_LOOP_TEST(BlockingPoolPlacesTest);

TEST_P(BlockingPoolPlacesTest, AnAbandonedCallTakesNoWorkerFromOthersUpToABound) {
  MakePool({.workers_max = 1, .queue_max = 4, .abandoned_max = 2});
  std::vector<Kept> hung(3);
  for (size_t i = 0; i < hung.size(); ++i) {
    CancelSource source;
    Kept next;
    RunHanging(Wanted(source), hung[i]);
    RunNumber({}, 1, next);
    EXPECT_EQ(pool_->Snapshot().waiting, 1u);
    source.Cancel();
    ASSERT_TRUE(RunUntil([&] { return hung[i].has_value(); }));
    if (i == 2) {
      EXPECT_EQ(pool_->Snapshot().waiting, 1u) << "beyond the bound";
      EXPECT_EQ(pool_->Snapshot().workers, 3u);
      for (size_t j = 0; j < hung.size(); ++j) hang_->Release();
    }
    ASSERT_TRUE(RunUntil([&] { return next.has_value(); })) << i;
  }
  ASSERT_TRUE(RunUntil([&] { return pool_->Snapshot().abandoned == 0; }));
  // As many as before may hang again.
  CancelSource source;
  Kept again, last;
  RunHanging(Wanted(source), again);
  source.Cancel();
  RunNumber({}, 1, last);
  ASSERT_TRUE(RunUntil([&] { return last.has_value(); }));
  hang_->Release();
}

TEST_P(BlockingPoolPlacesTest, WhatMayTakeLongHasAPartOfTheWorkers) {
  MakePool({.workers_max = 4, .share_max = 2});
  std::vector<Kept> hung(4);
  CancelSource running, waiting;
  const auto remove = [&](size_t i, CancelSource& source) {
    Context context = Wanted(source);
    context.priority = Priority::kCritical;
    pool_->Run<int>(
        *shard_, context, {"remove", "/large", pool_->MakeLane(), Share::kRemovals},
        [hang = hang_] { return hang->Wait(); }, Keep(hung[i]));
  };
  for (size_t i = 0; i < 3; ++i) remove(i, running);
  remove(3, waiting);
  ASSERT_TRUE(RunUntil([&] { return pool_->Snapshot().running.size() == 2; }));
  EXPECT_EQ(pool_->Snapshot().waiting, 2u);
  Kept other, foreign;
  RunNumber({}, 1, other);
  pool_->Run<int>(
      *shard_, {}, {"look", "/nfs", pool_->MakeLane(), Share::kForeignPaths},
      []() -> Result<int> { return 2; }, Keep(foreign));
  ASSERT_TRUE(RunUntil([&] { return other && foreign; }));
  EXPECT_EQ(pool_->Snapshot().running.size(), 2u);
  // One that waits may be given up, and one that ends makes place for the next.
  waiting.Cancel();
  ASSERT_TRUE(RunUntil([&] { return hung[3].has_value(); }));
  EXPECT_EQ(hung[3]->error().code(), ErrorCode::kCancelled);
  hang_->Release();
  ASSERT_TRUE(RunUntil([&] {
    return pool_->Snapshot().finished_total == 3 && pool_->Snapshot().running.size() == 2;
  }));
  EXPECT_EQ(pool_->Snapshot().waiting, 0u);
  // So do those that nobody waits for any more.
  running.Cancel();
  ASSERT_TRUE(RunUntil([&] { return pool_->Snapshot().abandoned == 2; }));
  Kept late;
  pool_->Run<int>(
      *shard_, {}, {"remove", "/small", pool_->MakeLane(), Share::kRemovals},
      []() -> Result<int> { return 3; }, Keep(late));
  ASSERT_TRUE(RunUntil([&] { return late.has_value(); }));
  hang_->Release();
  hang_->Release();
}

// Servers that are gone are more than the share has places, and each call waits for minutes.
TEST_P(BlockingPoolPlacesTest, ACallWithPathsOfOthersThatHangsMakesWayForTheNext) {
  MakePool(
      {.workers_max = 2, .abandoned_max = 3, .share_max = 1, .foreign_time_max = Milliseconds(10)});
  const auto look = [&](UniqueFunction<Result<int>()> work, const Context& context, Kept& kept) {
    pool_->Run<int>(*shard_, context, {"look", "/nfs", pool_->MakeLane(), Share::kForeignPaths},
                    std::move(work), Keep(kept));
  };
  CancelSource source;
  std::vector<Kept> hung(3);
  for (Kept& kept : hung) look([hang = hang_] { return hang->Wait(); }, Wanted(source), kept);
  Kept last, ordinary;
  look([]() -> Result<int> { return 1; }, {}, last);
  ASSERT_TRUE(RunUntil([&] { return last.has_value(); }));
  EXPECT_EQ(pool_->Snapshot().running.size(), 3u);
  EXPECT_EQ(pool_->Snapshot().abandoned, 0u) << "they are still waited for";
  // Given up, they make way only once; and the next hang is one too many.
  source.Cancel();
  ASSERT_TRUE(RunUntil([&] { return hung[0] && hung[1] && hung[2]; }));
  Kept one_more;
  last.reset();
  look([hang = hang_] { return hang->Wait(); }, {}, one_more);
  ASSERT_TRUE(RunUntil([&] { return pool_->Snapshot().running.size() == 4; }));
  look([]() -> Result<int> { return 1; }, {}, last);
  RunNumber({}, 1, ordinary);
  ASSERT_TRUE(RunUntil([&] { return ordinary.has_value(); }));
  EXPECT_EQ(pool_->Snapshot().waiting, 1u);
  EXPECT_LE(pool_->Snapshot().workers, 5u);
  for (int i = 0; i < 4; ++i) hang_->Release();
  ASSERT_TRUE(RunUntil([&] { return one_more && last; }));
  EXPECT_EQ(**one_more, 7);
}

}  // namespace
}  // namespace denselet::reactor
