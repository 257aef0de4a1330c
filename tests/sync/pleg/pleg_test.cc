#include "sync/pleg/pleg.h"

#include <gtest/gtest.h>

#include "tests/fakes/capturing_log_sink.h"
#include "tests/fakes/fake_runtime.h"
#include "tests/sim/world.h"

namespace denselet::sync {
namespace {

class PlegTest : public testing::Test, public PlegShards, public PlegUser {
 protected:
  PlegTest()
      : world_({.shards = 1}),
        model_(world_.clock(),
               [this](Duration d, UniqueFunction<void()> t) { world_.Later(d, std::move(t)); }),
        host_(model_, world_.random(),
              [this](Duration d, UniqueFunction<void()> t) { world_.Later(d, std::move(t)); }),
        runtime_(world_.loop(0), host_) {}

  void Make(const PlegOptions& options = {}) {
    pleg_ = std::make_unique<Pleg>(world_.loop(0), world_.random(), Logger(output_), runtime_,
                                   epochs_, *this, 2, options, *this);
  }
  void Stream(EventStreamState state) {
    world_.loop(0).Post([this, state] { pleg_->OnStreamState(state); });
  }
  void Run(Duration d) { world_.RunUntil(world_.clock().Now() + d); }
  uint64_t ListsIn(Duration d) {
    const uint64_t before = host_.counters().calls["ListAll"];
    Run(d);
    return host_.counters().calls["ListAll"] - before;
  }

  Status Hint(uint32_t shard, std::vector<PodHint> hints) override {
    if (refuse_) return Error(ErrorCode::kOverloaded, "full");
    for (const PodHint& hint : hints) {
      hints_.push_back(std::to_string(shard) + " " + hint.pod.value());
    }
    ++hint_messages_;
    return Ok();
  }
  Status Listed(uint32_t shard, Epoch epoch, RuntimeWas was, std::vector<ListedPod>,
                UniqueFunction<void(uint64_t)> checked) override {
    if (refuse_) return Error(ErrorCode::kOverloaded, "full");
    if (shard == 0) was_.push_back(was);
    epochs_seen_.push_back(epoch);
    checked(std::exchange(missed_, 0));
    return Ok();
  }
  void OnPlegMode(const PlegModeChange& change) override { modes_.push_back(change.mode); }

  sim::World world_;
  fakes::RuntimeModel model_;
  fakes::FakeRuntimeHost host_;
  fakes::FakeRuntime runtime_;
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput output_{LogFormat{}, world_.clock(), verbosity_, sink_};
  EpochCounter epochs_;
  std::unique_ptr<Pleg> pleg_;
  std::vector<std::string> hints_;
  int hint_messages_ = 0;
  uint64_t missed_ = 0;
  bool refuse_ = false;
  std::vector<Epoch> epochs_seen_;
  std::vector<RuntimeWas> was_;  // of the lists, as told to the first shard
  std::vector<PlegMode> modes_;
};

TEST_F(PlegTest, WithoutAStreamItListsEachSecond) {
  Make();
  const uint64_t lists = ListsIn(Seconds(60));
  EXPECT_GE(lists, 55u);
  EXPECT_LE(lists, 61u);
  EXPECT_EQ(pleg_->mode(), PlegMode::kListsLead);
}

TEST_F(PlegTest, AStreamIsTrustedAfterAListThatWasAskedForLater) {
  Make();
  host_.faults().delay_min = host_.faults().delay_max = Milliseconds(300);
  Run(Milliseconds(100));  // a list is under way
  Stream(EventStreamState::kEstablished);
  Run(Milliseconds(900));
  EXPECT_EQ(pleg_->mode(), PlegMode::kListsLead) << "the list under way proves nothing";
  Run(Seconds(4));
  EXPECT_EQ(pleg_->mode(), PlegMode::kEventsLead);
  EXPECT_LE(ListsIn(Minutes(5)), 1u);
  EXPECT_TRUE(pleg_->Healthy(world_.clock().Now()));
}

TEST_F(PlegTest, WithEventsSwitchedOffListsLeadAndTheHistorySaysWhy) {
  Make({.use_events = false});
  Stream(EventStreamState::kEstablished);
  Run(Seconds(10));
  EXPECT_EQ(pleg_->mode(), PlegMode::kListsLead);
  EXPECT_FALSE(pleg_->uses_events());
  EXPECT_EQ(pleg_->history().front().why,
            "the agent started, with events switched off by configuration");
}

TEST_F(PlegTest, AStreamThatIsLostIsReplacedByListsAtOnceAndComesBack) {
  Make();
  Stream(EventStreamState::kEstablished);
  Run(Seconds(5));
  ASSERT_EQ(pleg_->mode(), PlegMode::kEventsLead);
  Run(Minutes(10));
  Stream(EventStreamState::kConnecting);
  EXPECT_GE(ListsIn(Seconds(5)), 4u);
  EXPECT_EQ(pleg_->mode(), PlegMode::kListsLead);
  Stream(EventStreamState::kEstablished);
  Run(Seconds(5));
  EXPECT_EQ(pleg_->mode(), PlegMode::kEventsLead);
  EXPECT_EQ(pleg_->history().size(), 4u);
}

TEST_F(PlegTest, AFlappingStreamDoesNotMakeTheModeFlap) {
  Make();
  for (int i = 0; i < 60; ++i) {
    Stream(EventStreamState::kEstablished);
    Run(Seconds(8));
    Stream(EventStreamState::kConnecting);
    Run(Seconds(2));
  }
  // Trusted after 1, 2, 4 and 8 clean lists; the eighth second never comes to a ninth list.
  EXPECT_LE(modes_.size(), 8u);
  Stream(EventStreamState::kEstablished);
  Run(Minutes(2));
  EXPECT_EQ(pleg_->mode(), PlegMode::kEventsLead) << "a stream that stays is trusted in the end";
}

TEST_F(PlegTest, ARuntimeThatWasAwayIsListedAtOnceAndTrustedAsBefore) {
  Make();
  Stream(EventStreamState::kEstablished);
  Run(Seconds(5));
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(pleg_->mode(), PlegMode::kEventsLead) << i;
    host_.faults().not_sent = 1;
    Stream(EventStreamState::kConnecting);
    Run(Milliseconds(3'000 + 130 * i));
    ASSERT_EQ(pleg_->mode(), PlegMode::kListsLead) << i;
    host_.faults().not_sent = 0;
    Stream(EventStreamState::kEstablished);
    Run(Milliseconds(100));
  }
  EXPECT_EQ(pleg_->mode(), PlegMode::kEventsLead);
}

TEST_F(PlegTest, TheFirstListAfterAnAbsenceSaysSo) {
  Make();
  Stream(EventStreamState::kEstablished);
  Run(Seconds(5));
  EXPECT_EQ(std::ranges::count(was_, RuntimeWas::kAway), 0);
  was_.clear();
  Stream(EventStreamState::kConnecting);
  host_.faults().not_sent = 1;
  Run(Seconds(10));
  EXPECT_TRUE(was_.empty());
  host_.faults().not_sent = 0;
  refuse_ = true;  // its shards have not heard of it
  Run(Seconds(5));
  refuse_ = false;
  Run(Seconds(10));
  ASSERT_GT(was_.size(), 5u);
  EXPECT_EQ(was_[0], RuntimeWas::kAway);
  EXPECT_EQ(std::ranges::count(was_, RuntimeWas::kAway), 1);
}

// Its connection held all the time: no stream was lost, and where events lead no list is due.
TEST_F(PlegTest, ARuntimeThatAnswersAgainIsListedAtOnce) {
  Make();
  Stream(EventStreamState::kEstablished);
  Run(Minutes(1));
  ASSERT_EQ(pleg_->mode(), PlegMode::kEventsLead);
  was_.clear();
  world_.loop(0).Post([this] { pleg_->OnRuntimeBack(); });
  EXPECT_EQ(ListsIn(Seconds(1)), 1u);
  EXPECT_EQ(was_, std::vector<RuntimeWas>{RuntimeWas::kAway});
}

TEST_F(PlegTest, MissedEventsShortenThePeriodAndCleanChecksLengthenIt) {
  Make();
  Stream(EventStreamState::kEstablished);
  Run(Seconds(5));
  ASSERT_EQ(pleg_->cross_check_period(), Minutes(5));
  missed_ = 3;
  Run(Minutes(5));
  EXPECT_EQ(pleg_->missed_events(), 3u);
  EXPECT_EQ(pleg_->cross_check_period(), Seconds(75));
  Run(Minutes(60));
  EXPECT_EQ(pleg_->cross_check_period(), Minutes(5));
}

TEST_F(PlegTest, LostHintsMakeAListDue) {
  Make();
  Stream(EventStreamState::kEstablished);
  Run(Seconds(5));
  world_.loop(0).Post([this] { pleg_->OnHintsLost(); });
  EXPECT_EQ(ListsIn(Seconds(2)), 1u);
}

TEST_F(PlegTest, HoweverOftenHintsAreLostListsComeOnceASecond) {
  Make();
  Stream(EventStreamState::kEstablished);
  Run(Seconds(5));
  const uint64_t before = host_.counters().calls["ListAll"];
  for (int i = 0; i < 1000; ++i) {
    world_.loop(0).Post([this] { pleg_->OnHintsLost(); });
    Run(Milliseconds(10));
  }
  const uint64_t lists = host_.counters().calls["ListAll"] - before;
  EXPECT_GE(lists, 8u);
  EXPECT_LE(lists, 11u);
}

TEST_F(PlegTest, AHintThatDoesNotFitMakesAListDue) {
  Make();
  Stream(EventStreamState::kEstablished);
  Run(Seconds(5));
  world_.loop(0).Post([this] {
    refuse_ = true;
    pleg_->OnPodHint(PodUid("a"));
    world_.loop(0).Post([this] { refuse_ = false; });
  });
  EXPECT_EQ(ListsIn(Seconds(3)), 1u);
}

TEST_F(PlegTest, ABurstOfEventsIsOneMessageAShardAndTurn) {
  Make();
  Stream(EventStreamState::kEstablished);
  Run(Seconds(5));
  world_.loop(0).Post([this] {
    for (int i = 0; i < 5000; ++i) pleg_->OnPodHint(PodUid("p" + std::to_string(i % 100)));
  });
  Run(Milliseconds(10));
  EXPECT_EQ(hints_.size(), 100u);
  EXPECT_LE(hint_messages_, 2);
  EXPECT_EQ(pleg_->mode(), PlegMode::kEventsLead);
}

TEST_F(PlegTest, AnUnsupportedStreamLeavesListsInTheLead) {
  Make();
  Stream(EventStreamState::kUnsupported);
  EXPECT_GE(ListsIn(Seconds(10)), 9u);
  EXPECT_EQ(pleg_->mode(), PlegMode::kListsLead);
}

TEST_F(PlegTest, WithoutAListForLongItIsNotHealthy) {
  Make();
  Run(Seconds(5));
  host_.Crash();
  Run(Minutes(2));
  EXPECT_TRUE(pleg_->Healthy(world_.clock().Now()));
  Run(Minutes(2));
  EXPECT_FALSE(pleg_->Healthy(world_.clock().Now()));
  host_.Start();
  Run(Seconds(3));
  EXPECT_TRUE(pleg_->Healthy(world_.clock().Now()));
}

TEST_F(PlegTest, ListsThatFailAreUnhealthyAsSoonWhereEventsLead) {
  Make();
  Stream(EventStreamState::kEstablished);
  Run(Seconds(5));
  ASSERT_EQ(pleg_->mode(), PlegMode::kEventsLead);
  host_.faults().refused = 1;
  pleg_->RelistNow();
  Run(Minutes(2));
  EXPECT_EQ(pleg_->WhyUnhealthy(world_.clock().Now()), "");
  Run(Seconds(70));
  EXPECT_THAT(pleg_->WhyUnhealthy(world_.clock().Now()),
              testing::MatchesRegex("pleg was last seen active 3m[0-9]*s ago; threshold is 3m0s"));
  host_.faults().refused = 0;
  Run(Seconds(3));
  EXPECT_EQ(pleg_->WhyUnhealthy(world_.clock().Now()), "");
}

TEST_F(PlegTest, AListHoldsAsOfItsRequest) {
  Make();
  host_.faults().delay_min = host_.faults().delay_max = Milliseconds(300);
  Run(Milliseconds(100));
  const Epoch meanwhile = epochs_.Next();
  Run(Seconds(2));
  ASSERT_FALSE(epochs_seen_.empty());
  EXPECT_LT(epochs_seen_.front(), meanwhile);
}

}  // namespace
}  // namespace denselet::sync
