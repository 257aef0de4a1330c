#include "reactor/blocking_pool.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "reactor/shards.h"
#include "reactor/unique_fd.h"
#include "tests/integration/hang.h"
#include "tests/integration/loop_fixture.h"
#include "tests/integration/resources.h"

namespace denselet::reactor {
namespace {

Context Wanted(const CancelSource& source) {
  Context context;
  context.cancel = source.token();
  return context;
}

Context WithPriority(Priority priority) {
  Context context;
  context.priority = priority;
  return context;
}

Context Until(TimePoint deadline) {
  Context context;
  context.deadline = deadline;
  return context;
}

// Real time that can be made to jump: so that a deadline passes when the test wants it to.
class JumpingClock final : public Clock {
 public:
  TimePoint Now() const override { return After(real_.Now(), Duration(ahead_.load())); }
  WallTime WallNow() const override { return real_.WallNow(); }
  void Jump(Duration d) { ahead_ += d.count(); }

 private:
  const RealClock real_;
  std::atomic<int64_t> ahead_ = 0;
};

class BlockingPoolTest : public LoopTest {
 protected:
  BlockingPoolTest() {
    loop_ = *MakeEventLoop(GetParam(), jumping_);
    MakeShard({});
    MakePool({});
  }
  ~BlockingPoolTest() override {
    pool_.reset();
    shard_.reset();
    loop_.reset();
  }

  void MakeShard(const MailLimits& limits) {
    shard_ = std::make_unique<Shard>(0, *loop_, 1, limits, all_);
    all_ = {shard_.get()};
  }
  void MakePool(const BlockingPoolOptions& options) {
    pool_ = std::make_unique<BlockingPool>(jumping_, options);
  }

  UniqueFunction<void(Result<int>)> Keep(std::optional<Result<int>>& kept) {
    return [this, &kept](Result<int> result) {
      EXPECT_FALSE(kept.has_value()) << "called back twice";
      EXPECT_EQ(std::this_thread::get_id(), home_thread_);
      kept.emplace(std::move(result));
    };
  }
  // Occupies one worker until Release.
  void RunHanging(const Context& context, std::optional<Result<int>>& kept) {
    const size_t before = pool_->Snapshot().running.size();
    pool_->Run<int>(
        *shard_, context, {"hang", "/nfs"}, [hang = hang_] { return hang->Wait(); }, Keep(kept));
    ASSERT_TRUE(RunUntil([&] { return pool_->Snapshot().running.size() == before + 1; }));
  }
  void RunNumber(const Context& context, int number, std::optional<Result<int>>& kept) {
    pool_->Run<int>(
        *shard_, context, {"count"},
        [this, number]() -> Result<int> {
          ++ran_;
          return number;
        },
        Keep(kept));
  }

  const std::shared_ptr<Hang> hang_ = std::make_shared<Hang>();
  std::atomic<int> ran_ = 0;
  const std::thread::id home_thread_ = std::this_thread::get_id();
  JumpingClock jumping_;
  std::vector<Shard*> all_;
  std::unique_ptr<Shard> shard_;
  std::unique_ptr<BlockingPool> pool_;
};
INSTANTIATE_LOOP_TEST(BlockingPoolTest);

TEST_P(BlockingPoolTest, WorkRunsOnAWorkerAndTheAnswerComesHome) {
  std::optional<Result<int>> result;
  std::thread::id worked;
  std::string name(16, '\0');
  pool_->Run<int>(
      *shard_, {}, {"name"},
      [&]() -> Result<int> {
        worked = std::this_thread::get_id();
        ::pthread_getname_np(::pthread_self(), name.data(), name.size());
        return 5;
      },
      Keep(result));
  EXPECT_FALSE(result) << "called back inside Run";
  ASSERT_TRUE(RunUntil([&] { return result.has_value(); }));
  EXPECT_EQ(**result, 5);
  EXPECT_NE(worked, home_thread_);
  EXPECT_STREQ(name.c_str(), "blocking-0");
}

TEST_P(BlockingPoolTest, AnErrorOfTheWorkArrivesAsItIs) {
  std::optional<Result<int>> result;
  const Error error(ErrorCode::kPermission, "no");
  pool_->Run<int>(
      *shard_, {}, {"ask"}, [&]() -> Result<int> { return error; }, Keep(result));
  ASSERT_TRUE(RunUntil([&] { return result.has_value(); }));
  EXPECT_EQ(result->error(), error);
}

TEST_P(BlockingPoolTest, WorkersStartWhenNeededAndNeverBeyondTheirBound) {
  MakePool({.workers_max = 3});
  EXPECT_EQ(pool_->Snapshot().workers, 0u);
  std::optional<Result<int>> alone;
  RunNumber({}, 1, alone);
  ASSERT_TRUE(RunUntil([&] { return alone.has_value(); }));
  EXPECT_EQ(pool_->Snapshot().workers, 1u);

  std::vector<std::optional<Result<int>>> results(6);
  for (auto& result : results) {
    pool_->Run<int>(
        *shard_, {}, {"hang"}, [hang = hang_] { return hang->Wait(); }, Keep(result));
  }
  ASSERT_TRUE(RunUntil([&] { return pool_->Snapshot().running.size() == 3; }));
  EXPECT_EQ(pool_->Snapshot().workers, 3u);
  EXPECT_EQ(pool_->Snapshot().waiting, 3u);
  for (size_t i = 0; i < results.size(); ++i) hang_->Release();
  for (auto& result : results) ASSERT_TRUE(RunUntil([&] { return result.has_value(); }));
  EXPECT_EQ(pool_->Snapshot().workers, 3u);
  EXPECT_EQ(pool_->Snapshot().finished_total, 7u);
}

TEST_P(BlockingPoolTest, WorkersThatNobodyNeedsEndAndComeAgain) {
  MakePool({.workers_max = 3, .worker_idle_max = Milliseconds(1)});
  std::optional<Result<int>> results[3];
  for (auto& result : results) RunHanging({}, result);
  EXPECT_EQ(pool_->Snapshot().workers, 3u);
  for (size_t i = 0; i < 3; ++i) hang_->Release();
  ASSERT_TRUE(RunUntil([&] { return pool_->Snapshot().workers == 0; }));
  std::optional<Result<int>> again;
  RunNumber({}, 1, again);
  ASSERT_TRUE(RunUntil([&] { return again.has_value(); }));
  EXPECT_EQ(**again, 1);
}

// Else what is done now and then would keep all of them alive, each in its turn.
TEST_P(BlockingPoolTest, TheWorkerThatWorkedLastIsTakenFirst) {
  MakePool({.workers_max = 3, .worker_idle_max = Minutes(10)});
  std::optional<Result<int>> results[3];
  for (auto& result : results) RunHanging({}, result);
  for (size_t i = 0; i < 3; ++i) hang_->Release();
  std::set<std::thread::id> workers;
  for (size_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(RunUntil([&] { return pool_->Snapshot().asleep == 3; }));
    std::optional<Result<int>> result;
    pool_->Run<int>(
        *shard_, {}, {"name"},
        [&]() -> Result<int> {
          workers.insert(std::this_thread::get_id());
          return 0;
        },
        Keep(result));
    ASSERT_TRUE(RunUntil([&] { return result.has_value(); }));
  }
  EXPECT_EQ(workers.size(), 1u);
}

TEST_P(BlockingPoolTest, AFullQueueIsAnsweredOverloadedAndLater) {
  MakePool({.workers_max = 1, .queue_max = 2});
  std::optional<Result<int>> hung, first, second, third;
  RunHanging({}, hung);
  RunNumber({}, 1, first);
  RunNumber({}, 2, second);
  RunNumber({}, 3, third);
  EXPECT_FALSE(third) << "called back inside Run";
  ASSERT_TRUE(RunUntil([&] { return third.has_value(); }));
  EXPECT_EQ(third->error().code(), ErrorCode::kOverloaded);
  EXPECT_EQ(pool_->Snapshot().refused_total, 1u);
  hang_->Release();
  ASSERT_TRUE(RunUntil([&] { return hung && first && second; }));
  EXPECT_EQ(**first + **second, 3);
  EXPECT_EQ(ran_, 2);
}

TEST_P(BlockingPoolTest, WithoutAPlaceForTheAnswerTheJobIsRefused) {
  loop_ = *MakeEventLoop(GetParam(), jumping_);
  MakeShard({.replies_max = 1});
  std::optional<Result<int>> hung, refused, later;
  pool_->Run<int>(
      *shard_, {}, {"hang"}, [hang = hang_] { return hang->Wait(); }, Keep(hung));
  pool_->Run<int>(
      *shard_, {}, {"count"}, []() -> Result<int> { return 1; }, Keep(refused));
  ASSERT_TRUE(RunUntil([&] { return refused.has_value(); }));
  EXPECT_EQ(refused->error().code(), ErrorCode::kOverloaded);
  hang_->Release();
  ASSERT_TRUE(RunUntil([&] { return hung.has_value(); }));
  pool_->Run<int>(
      *shard_, {}, {"count"}, []() -> Result<int> { return 1; }, Keep(later));
  ASSERT_TRUE(RunUntil([&] { return later.has_value(); }));
  EXPECT_EQ(**later, 1);
  pool_->Stop();
}

TEST_P(BlockingPoolTest, TheMostUrgentJobIsTakenFirst) {
  MakePool({.workers_max = 1});
  std::optional<Result<int>> hung;
  RunHanging({}, hung);
  std::string order;
  int answered = 0;
  const auto run = [&](Priority priority, char name) {
    pool_->Run<int>(
        *shard_, WithPriority(priority), {"order"},
        [&order, name]() -> Result<int> {
          order += name;
          return 0;
        },
        [&](Result<int>) { ++answered; });
  };
  run(Priority::kBackground, 'd');
  run(Priority::kNormal, 'b');
  run(Priority::kNormal, 'c');
  run(Priority::kCritical, 'a');
  hang_->Release();
  ASSERT_TRUE(RunUntil([&] { return answered == 4; }));
  EXPECT_EQ(order, "abcd");
}

TEST_P(BlockingPoolTest, AHungCallIsVisible) {
  const TimePoint before = jumping_.Now();
  std::optional<Result<int>> hung;
  RunHanging({}, hung);
  const BlockingPoolSnapshot snapshot = pool_->Snapshot();
  ASSERT_EQ(snapshot.running.size(), 1u);
  EXPECT_EQ(snapshot.running[0].doing, "hang");
  EXPECT_EQ(snapshot.running[0].subject, "/nfs");
  EXPECT_EQ(snapshot.running[0].shard, 0u);
  EXPECT_GE(snapshot.running[0].since, before);
  EXPECT_FALSE(snapshot.running[0].abandoned);
  EXPECT_EQ(snapshot.abandoned, 0u);
  hang_->Release();
  ASSERT_TRUE(RunUntil([&] { return hung.has_value(); }));
}

TEST_P(BlockingPoolTest, ACallUnderWayIsAbandonedAtItsDeadline) {
  MakePool({.workers_max = 1, .abandoned_max = 0});
  std::optional<Result<int>> hung, next;
  RunHanging(Until(After(jumping_.Now(), Minutes(1))), hung);
  EXPECT_FALSE(hung);
  jumping_.Jump(Minutes(1));
  ASSERT_TRUE(RunUntil([&] { return hung.has_value(); }));
  EXPECT_EQ(hung->error(), Error(ErrorCode::kUnknownOutcome,
                                 "hang \"/nfs\": still under way when the deadline passed"));
  EXPECT_EQ(pool_->Snapshot().abandoned, 1u);
  EXPECT_TRUE(pool_->Snapshot().running[0].abandoned);

  RunNumber({}, 1, next);  // its worker stays busy until the call returns
  EXPECT_EQ(pool_->Snapshot().waiting, 1u);
  hang_->Release();
  ASSERT_TRUE(RunUntil([&] { return next.has_value(); }));
  EXPECT_EQ(pool_->Snapshot().abandoned, 0u);
  EXPECT_EQ(pool_->Snapshot().abandoned_total, 1u);
}

TEST_P(BlockingPoolTest, ACallUnderWayIsAbandonedWhenCancelled) {
  CancelSource source;
  std::optional<Result<int>> hung;
  RunHanging(Wanted(source), hung);
  source.Cancel();
  EXPECT_FALSE(hung) << "called back inside Cancel";
  ASSERT_TRUE(RunUntil([&] { return hung.has_value(); }));
  EXPECT_EQ(hung->error().code(), ErrorCode::kUnknownOutcome);
  hang_->Release();
}

TEST_P(BlockingPoolTest, ALateResultFindsNobodyAndGivesBackWhatItOwns) {
  CancelSource source;
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = owned;
  std::optional<ErrorCode> code;
  pool_->Run<std::shared_ptr<int>>(
      *shard_, Wanted(source), {"open"},
      [hang = hang_, owned = std::move(owned)]() mutable -> Result<std::shared_ptr<int>> {
        EXPECT_TRUE(hang->Wait());
        return std::move(owned);
      },
      [&](Result<std::shared_ptr<int>> result) { code = result.error().code(); });
  ASSERT_TRUE(RunUntil([&] { return pool_->Snapshot().running.size() == 1; }));
  source.Cancel();
  ASSERT_TRUE(RunUntil([&] { return code.has_value(); }));
  EXPECT_FALSE(alive.expired());
  hang_->Release();
  ASSERT_TRUE(RunUntil([&] { return alive.expired(); }));
}

TEST_P(BlockingPoolTest, AJobThatStillWaitsNeverRunsOnceItsContextEnded) {
  MakePool({.workers_max = 1});
  CancelSource source;
  std::optional<Result<int>> hung, cancelled, expired, wanted;
  RunHanging({}, hung);
  RunNumber(Wanted(source), 1, cancelled);
  RunNumber(Until(After(jumping_.Now(), Minutes(1))), 2, expired);
  RunNumber({}, 3, wanted);
  source.Cancel();
  jumping_.Jump(Minutes(1));
  EXPECT_FALSE(cancelled) << "called back inside Cancel";
  ASSERT_TRUE(RunUntil([&] { return cancelled && expired; }));
  EXPECT_EQ(cancelled->error().code(), ErrorCode::kCancelled);
  EXPECT_EQ(expired->error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(pool_->Snapshot().waiting, 1u);
  hang_->Release();
  ASSERT_TRUE(RunUntil([&] { return hung && wanted; }));
  EXPECT_EQ(ran_, 1);
}

TEST_P(BlockingPoolTest, AWorkerNoticesTheEndOfAContextBeforeABusyShardDoes) {
  MakePool({.workers_max = 1});
  std::optional<Result<int>> hung, expired;
  RunHanging({}, hung);
  RunNumber(Until(After(jumping_.Now(), Minutes(1))), 1, expired);
  jumping_.Jump(Minutes(1));  // and no turn: its timer does not run
  hang_->Release();
  while (pool_->Snapshot().waiting != 0) std::this_thread::yield();
  ASSERT_TRUE(RunUntil([&] { return expired.has_value(); }));
  EXPECT_EQ(expired->error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(ran_, 0);
}

TEST_P(BlockingPoolTest, AContextThatHasEndedBeginsNothing) {
  CancelSource source;
  source.Cancel();
  std::optional<Result<int>> cancelled, expired;
  RunNumber(Wanted(source), 1, cancelled);
  RunNumber(Until(loop().Now()), 2, expired);
  EXPECT_FALSE(cancelled || expired) << "called back inside Run";
  ASSERT_TRUE(RunUntil([&] { return cancelled && expired; }));
  EXPECT_EQ(cancelled->error().code(), ErrorCode::kCancelled);
  EXPECT_EQ(expired->error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(ran_, 0);
}

TEST_P(BlockingPoolTest, ALaneRunsInOrderAlsoBehindAnAbandonedCall) {
  MakePool({.workers_max = 4});
  const Lane lane = pool_->MakeLane();
  CancelSource source, unwanted;
  std::string order;
  int answered = 0;
  const auto run = [&](const Context& context, char name) {
    pool_->Run<int>(
        *shard_, context, {"order", "", lane},
        [&order, name, hang = hang_]() -> Result<int> {
          if (name == 'a') (void)hang->Wait();
          order += name;  // tsan: the lane is what orders these
          return 0;
        },
        [&](Result<int>) { ++answered; });
  };
  run(Wanted(source), 'a');
  run(WithPriority(Priority::kBackground), 'b');
  run(Wanted(unwanted), 'x');
  run(WithPriority(Priority::kCritical), 'c');
  std::optional<Result<int>> beside;
  RunNumber({}, 1, beside);  // of no lane: waits for nobody
  ASSERT_TRUE(RunUntil([&] { return beside.has_value(); }));
  source.Cancel();
  unwanted.Cancel();
  ASSERT_TRUE(RunUntil([&] { return answered == 2; }));
  EXPECT_EQ(pool_->Snapshot().waiting, 2u);
  hang_->Release();
  ASSERT_TRUE(RunUntil([&] { return answered == 4; }));
  EXPECT_EQ(order, "abc");
}

TEST_P(BlockingPoolTest, DisposeIsNotRefusedByAFullQueue) {
  MakePool({.workers_max = 1, .queue_max = 1});
  std::optional<Result<int>> hung, waiting;
  RunHanging({}, hung);
  RunNumber({}, 1, waiting);
  std::atomic<bool> disposed = false;
  pool_->Dispose(*shard_, {"close"}, [&] { disposed = true; });
  EXPECT_FALSE(disposed);
  hang_->Release();
  ASSERT_TRUE(RunUntil([&] { return disposed && waiting; }));
}

TEST_P(BlockingPoolTest, AfterStopDisposeRunsAtOnce) {
  pool_->Stop();
  bool disposed = false;
  pool_->Dispose(*shard_, {"close"}, [&] { disposed = true; });
  EXPECT_TRUE(disposed);
}

TEST_P(BlockingPoolTest, StopDropsWhatWaitsAndTakesNothingMore) {
  MakePool({.workers_max = 1, .stop_wait_max = kPatience});
  std::optional<Result<int>> hung, dropped, late;
  std::atomic<bool> disposed = false;
  RunHanging({}, hung);
  RunNumber({}, 1, dropped);
  pool_->Dispose(*shard_, {"close"}, [&] { disposed = true; });
  std::thread stopper([&] { pool_->Stop(); });
  ASSERT_TRUE(RunUntil([&] { return dropped.has_value(); }));
  EXPECT_EQ(dropped->error().code(), ErrorCode::kCancelled);
  RunNumber({}, 2, late);
  ASSERT_TRUE(RunUntil([&] { return late.has_value(); }));
  EXPECT_EQ(late->error().code(), ErrorCode::kCancelled);
  hang_->Release();
  stopper.join();
  EXPECT_TRUE(disposed);
  EXPECT_EQ(pool_->Snapshot().workers, 0u);
  ASSERT_TRUE(RunUntil([&] { return hung.has_value(); }));
  EXPECT_EQ(**hung, 7) << "a call that ends in time is answered with its result";
  EXPECT_EQ(ran_, 0);
}

TEST_P(BlockingPoolTest, StopLeavesAHungWorkerBehindSafely) {
  MakePool({.workers_max = 2, .stop_wait_max = Milliseconds(5)});
  auto returned = std::make_shared<std::atomic<bool>>(false);
  std::optional<Result<int>> hung;
  pool_->Run<int>(
      *shard_, {}, {"mount"},
      [hang = hang_, returned] {
        Result<int> result = hang->Wait();
        returned->store(true);
        return result;
      },
      Keep(hung));
  ASSERT_TRUE(RunUntil([&] { return pool_->Snapshot().running.size() == 1; }));
  pool_.reset();
  ASSERT_TRUE(RunUntil([&] { return hung.has_value(); }));
  EXPECT_EQ(hung->error(), Error(ErrorCode::kUnknownOutcome,
                                 "mount: still under way when the blocking pool stopped"));
  hang_->Release();  // comes back to a pool that is gone
  while (!returned->load()) std::this_thread::yield();
}

TEST_P(BlockingPoolTest, WorkersTakeNoSignalsAndNoPinnedCpu) {
  cpu_set_t before, one, worker;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  sigset_t mask;
  std::optional<Result<int>> result;
  pool_->Run<int>(
      *shard_, {}, {"look"},
      [&]() -> Result<int> {
        ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        return ::sched_getaffinity(0, sizeof worker, &worker);
      },
      Keep(result));
  EXPECT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  ASSERT_TRUE(RunUntil([&] { return result.has_value(); }));
  EXPECT_TRUE(CPU_EQUAL(&worker, &before));
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE, SIGXFSZ}) {
    EXPECT_EQ(::sigismember(&mask, signal), 1) << signal;
  }
  sigset_t here;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &here);
  EXPECT_EQ(::sigismember(&here, SIGTERM), 0) << "the shard's own mask is as before";
}

TEST_P(BlockingPoolTest, RandomCancelsAnswerOnceAndLeaveNothingBehind) {
  MakePool({.workers_max = 4, .queue_max = 64});
  const size_t files_before = OpenDescriptors();
  constexpr size_t kJobs = 20'000, kUnderWayMax = 60;
  SeededRandom random(20240607);
  // Among the others, one that surely was under way: on a busy machine chance may hit none.
  const auto abandon_one = [&] {
    std::atomic<bool> begun = false, over = false;
    CancelSource source;
    std::optional<Result<int>> result;
    pool_->Run<int>(
        *shard_, Wanted(source), {"hang"},
        [&]() -> Result<int> {
          begun = true;
          while (!over) std::this_thread::yield();
          return 0;
        },
        Keep(result));
    while (!begun) std::this_thread::yield();
    source.Cancel();
    ASSERT_TRUE(RunUntil([&] { return result.has_value(); }));
    EXPECT_EQ(result->error().code(), ErrorCode::kUnknownOutcome);
    over = true;
    ASSERT_TRUE(RunUntil([&] { return pool_->Snapshot().running.empty(); }));
  };
  const auto round = [&] {
    std::vector<int> answers(kJobs, 0);
    std::vector<CancelSource> sources(kJobs);
    std::map<ErrorCode, size_t> errors;
    size_t answered = 0, fine = 0;
    for (size_t i = 0; i < kJobs; ++i) {
      Context context = Wanted(sources[i]);
      context.priority = static_cast<Priority>(random.Next() % 4);
      if (random.Below(8) == 0) context.deadline = After(loop().Now(), Microseconds(100));
      pool_->Run<UniqueFd>(
          *shard_, context, {"open"},
          []() -> Result<UniqueFd> {
            return UniqueFd(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
          },
          [&, i](Result<UniqueFd> result) {
            ++answers[i];
            ++answered;
            if (result) ++fine;
            if (!result) ++errors[result.error().code()];
          });
      if (random.Below(2) == 0) sources[i - random.Below(std::min(i, kUnderWayMax) + 1)].Cancel();
      if (random.Below(4) == 0) loop_->RunTurn(loop().Now());
      if (i == kJobs / 2) abandon_one();
      ASSERT_TRUE(RunUntil([&] { return i + 1 - answered < kUnderWayMax; }));
    }
    ASSERT_TRUE(RunUntil([&] { return answered == kJobs; }));
    ASSERT_TRUE(RunUntil([&] { return pool_->Snapshot().running.empty(); }));
    for (const int count : answers) ASSERT_EQ(count, 1);
    EXPECT_GT(fine, kJobs / 10);
    EXPECT_GT(errors[ErrorCode::kCancelled], 0u);
  };
  round();
  const size_t bytes_before = BytesInUse();
  round();
  EXPECT_LE(BytesInUse(), bytes_before + kKeptBytesMax);
  pool_->Stop();
  loop_->RunTurn(loop().Now());
  EXPECT_EQ(OpenDescriptors(), files_before);
}

TEST(BlockingPoolOfManyShards, EveryAnswerGoesToItsOwnHome) {
  const RealClock clock;
  ShardsOptions options;
  options.count = 3;
  options.backend = ProbeBackend(clock);
  auto started = Shards::Start(options, clock);
  ASSERT_TRUE(started);
  Shards& shards = **started;
  constexpr int kJobs = 500;
  // All of them may wait at once where the workers get no CPU.
  BlockingPool pool(clock, {.workers_max = 4, .queue_max = 3 * kJobs});
  std::atomic<int> answered = 0, wrong = 0;
  for (uint32_t s = 0; s < shards.size(); ++s) {
    shards.RunAndWait(s, [&](Shard& shard) {
      for (int i = 0; i < kJobs; ++i) {
        pool.Run<int>(
            shard, {}, {"count"}, [i]() -> Result<int> { return i; },
            [&, i, home = std::this_thread::get_id()](Result<int> result) {
              if (home != std::this_thread::get_id() || !result || *result != i) ++wrong;
              ++answered;
            });
      }
    });
  }
  const TimePoint limit = After(clock.Now(), Seconds(20));
  while (answered < 3 * kJobs && clock.Now() < limit) std::this_thread::yield();
  pool.Stop();
  shards.Stop();
  EXPECT_EQ(answered, 3 * kJobs);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace denselet::reactor
