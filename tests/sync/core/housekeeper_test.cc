#include "sync/core/housekeeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/fakes/capturing_log_sink.h"
#include "tests/sim/world.h"

namespace denselet::sync {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class FakeLeftovers final : public PodLeftovers {
 public:
  explicit FakeLeftovers(reactor::Loop& loop) : loop_(loop) {}
  void Find(const Context&, reactor::Done<std::vector<PodIdentity>> done) override {
    ++looks;
    if (hangs) return held_.push_back(std::move(done));
    loop_.Post([done = std::move(done), answer = answer]() mutable { done(answer); });
  }

  void RemoveDeadLinks(const Context&, reactor::Done<size_t> done) override {
    ++sweeps;
    loop_.Post([done = std::move(done), dead = std::exchange(dead_links, size_t{0})]() mutable {
      done(std::move(dead));
    });
  }

  Result<size_t> dead_links = size_t{0};
  int sweeps = 0;
  Result<std::vector<PodIdentity>> answer = std::vector<PodIdentity>();
  bool hangs = false;
  int looks = 0;

 private:
  reactor::Loop& loop_;
  std::vector<reactor::Done<std::vector<PodIdentity>>> held_;
};

class HousekeeperTest : public testing::Test, public HousekeeperUser {
 protected:
  HousekeeperTest() { Make(); }

  void Make() {
    keeper_.emplace(world_.loop(0), world_.random(), Logger(output_), leftovers_,
                    static_cast<HousekeeperUser&>(*this), HousekeeperOptions{});
  }
  static std::vector<PodIdentity> Pods(int count) {
    std::vector<PodIdentity> pods;
    for (int i = 0; i < count; ++i) {
      pods.push_back({{"n", "p"}, PodUid("u" + std::to_string(100 + i))});
    }
    return pods;
  }
  void Run(Duration length) { world_.RunUntil(After(world_.clock().Now(), length)); }

  bool IsKnown(const PodUid& pod) const override { return known_.contains(pod); }
  Status TakeLeftover(const PodIdentity& pod) override {
    if (full_) return Error(ErrorCode::kOverloaded, "full");
    taken_.push_back(pod.uid.value());
    return Ok();
  }

  sim::World world_{{.seed = 1, .shards = 1}};
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput output_{LogFormat{}, world_.clock(), verbosity_, sink_};
  FakeLeftovers leftovers_{world_.loop(0)};
  std::set<PodUid> known_;
  std::vector<std::string> taken_;
  bool full_ = false;
  std::optional<Housekeeper> keeper_;
};

TEST_F(HousekeeperTest, NobodyIsLookedForBeforeTheSourcesHaveSpoken) {
  leftovers_.answer = Pods(1);
  Run(Hours(1));
  EXPECT_EQ(leftovers_.looks, 0);
  keeper_->Start();
  Run(Seconds(1));
  EXPECT_EQ(leftovers_.looks, 1);
  EXPECT_THAT(taken_, ElementsAre("u100"));
}

TEST_F(HousekeeperTest, WhoIsKnownIsLeftAlone) {
  leftovers_.answer = Pods(3);
  known_ = {PodUid("u101")};
  keeper_->Start();
  Run(Seconds(1));
  EXPECT_THAT(taken_, ElementsAre("u100", "u102"));
}

TEST_F(HousekeeperTest, LooksAgainEveryFewMinutesAndNotMoreOften) {
  keeper_->Start();
  Run(Hours(1));
  EXPECT_GE(leftovers_.looks, 10);
  EXPECT_LE(leftovers_.looks, 15);
}

TEST_F(HousekeeperTest, ManyAreHandedOverAHandfulAtATime) {
  leftovers_.answer = Pods(100);
  keeper_->Start();
  Run(Milliseconds(50));
  EXPECT_THAT(taken_, SizeIs(16));
  EXPECT_EQ(keeper_->stage(), Housekeeper::Stage::kHanding);
  Run(Seconds(1));
  EXPECT_THAT(taken_, SizeIs(100));
  EXPECT_EQ(keeper_->stage(), Housekeeper::Stage::kResting);
}

TEST_F(HousekeeperTest, AFullMailboxLosesNobody) {
  leftovers_.answer = Pods(3);
  full_ = true;
  keeper_->Start();
  Run(Seconds(5));
  EXPECT_THAT(taken_, IsEmpty());
  full_ = false;
  Run(Seconds(1));
  EXPECT_THAT(taken_, ElementsAre("u100", "u101", "u102"));
}

TEST_F(HousekeeperTest, WhoBecomesKnownMeanwhileIsLeftAlone) {
  leftovers_.answer = Pods(1);
  full_ = true;
  keeper_->Start();
  Run(Seconds(5));
  known_ = {PodUid("u100")};
  full_ = false;
  Run(Seconds(1));
  EXPECT_THAT(taken_, IsEmpty());
}

TEST_F(HousekeeperTest, ADiskThatCannotBeReadIsLookedAtAgain) {
  leftovers_.answer = Error(ErrorCode::kIo, "broken");
  keeper_->Start();
  Run(Seconds(1));
  leftovers_.answer = Pods(1);
  Run(Minutes(7));
  EXPECT_THAT(taken_, ElementsAre("u100"));
}

TEST_F(HousekeeperTest, LinksToLogsThatAreGoneAreLookedForAfterEachLook) {
  leftovers_.dead_links = size_t{3};
  keeper_->Start();
  Run(Seconds(1));
  EXPECT_EQ(leftovers_.sweeps, 1);
  EXPECT_THAT(sink_.Take(), testing::HasSubstr("Removed links to logs that are gone\" links=3"));
  leftovers_.dead_links = Error(ErrorCode::kIo, "broken");
  Run(Minutes(7));
  EXPECT_EQ(leftovers_.sweeps, 2);
  EXPECT_THAT(sink_.Take(), testing::HasSubstr("Could not look for links"));
}

TEST_F(HousekeeperTest, ALookUnderWayAtTheEndFindsNobody) {
  leftovers_.hangs = true;
  keeper_->Start();
  Run(Seconds(1));
  keeper_.reset();
  Run(Hours(1));
  EXPECT_EQ(leftovers_.looks, 1);
}

}  // namespace
}  // namespace denselet::sync
