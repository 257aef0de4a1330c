#include "sync/pleg/pod_reader.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/fakes/fake_runtime.h"
#include "tests/sim/world.h"

namespace denselet::sync {
namespace {

class PodReaderTest : public testing::Test, public PodReaderUser {
 protected:
  PodReaderTest()
      : world_({.shards = 1}),
        model_(world_.clock(),
               [this](Duration d, UniqueFunction<void()> t) { world_.Later(d, std::move(t)); }),
        host_(model_, world_.random(),
              [this](Duration d, UniqueFunction<void()> t) { world_.Later(d, std::move(t)); }),
        runtime_(world_.loop(0), host_) {
    Make({});
  }

  void Make(const PodReaderOptions& options) {
    reader_ = std::make_unique<PodReader>(world_.loop(0), world_.random(), runtime_, epochs_,
                                          store_, options, *this);
  }
  void Mark(const std::string& pod, PodReader::Urgency urgency = PodReader::Urgency::kNormal) {
    world_.loop(0).Post([this, pod, urgency] { reader_->Mark(PodUid(pod), urgency); });
  }
  void ListAnswered(RuntimeWas was) {
    world_.loop(0).Post([this, was] { reader_->ListAnswered(epochs_.Next(), was); });
  }
  void Run(Duration d) { world_.RunUntil(world_.clock().Now() + d); }

  void OnRead(const PodUid& pod, Applied, Duration) override { read_.push_back(pod.value()); }
  void OnReadFailed(const PodUid& pod, const Error&) override { ++failed_[pod.value()]; }

  sim::World world_;
  fakes::RuntimeModel model_;
  fakes::FakeRuntimeHost host_;
  fakes::FakeRuntime runtime_;
  EpochCounter epochs_;
  ObservedStore store_;
  std::vector<std::string> read_;
  std::map<std::string, int> failed_;
  std::unique_ptr<PodReader> reader_;
};

TEST_F(PodReaderTest, MarksCoalesceToOneRead) {
  for (int i = 0; i < 100; ++i) Mark("a");
  Run(Seconds(1));
  // The first mark began a read; the others asked for one that begins later.
  EXPECT_EQ(read_.size(), 2u);
  EXPECT_EQ(reader_->marked(), 0u);
}

TEST_F(PodReaderTest, AReadHoldsAsOfItsRequest) {
  Mark("a");
  Run(Milliseconds(1));
  const Epoch later = epochs_.Next();
  Run(Seconds(1));
  ASSERT_EQ(read_, std::vector<std::string>{"a"});
  EXPECT_LT(store_.Find(PodUid("a"))->as_of, later);
}

TEST_F(PodReaderTest, AFailingPodWaitsAndOthersDoNot) {
  host_.faults().not_sent = 1;
  Mark("bad");
  Run(Milliseconds(100));
  EXPECT_EQ(failed_["bad"], 1);
  EXPECT_EQ(reader_->Health(PodUid("bad"))->failures, 1u);
  host_.faults().not_sent = 0;
  Mark("good");
  Run(Milliseconds(100));
  EXPECT_EQ(read_, std::vector<std::string>{"good"});
  Run(Seconds(2));
  EXPECT_EQ(read_, (std::vector<std::string>{"good", "bad"}));
  EXPECT_EQ(reader_->Health(PodUid("bad")), nullptr);
}

TEST_F(PodReaderTest, AnyNumberOfHungPodsLeavesRoomForOthers) {
  Make({.reads_max = 4, .deadline = Seconds(30), .backoff_max = Seconds(1)});
  host_.faults().hang = 1;
  for (int i = 0; i < 20; ++i) Mark("hung" + std::to_string(i));
  Run(Minutes(10));  // each of them has failed once and is a suspect now
  EXPECT_EQ(reader_->unhealthy(), 20u);
  host_.faults().hang = 0;
  world_.loop(0).Post([this] {
    host_.faults().hang = 1;
    reader_->Mark(PodUid("hung0"), PodReader::Urgency::kUrgent);
    host_.faults().hang = 0;
    reader_->Mark(PodUid("good"));
  });
  Run(Milliseconds(50));
  EXPECT_EQ(std::ranges::count(read_, "good"), 1);
}

TEST_F(PodReaderTest, BackOffGrowsToItsMaximum) {
  Make({.backoff_max = Seconds(8)});
  host_.faults().not_sent = 1;
  Mark("bad");
  Run(Minutes(2));
  // 1, 2, 4, 8, 8, ... seconds and up to a fifth longer.
  EXPECT_GE(failed_["bad"], 14);
  EXPECT_LE(failed_["bad"], 19);
}

TEST_F(PodReaderTest, AListThatIsAnsweredEndsTheBackOff) {
  host_.faults().not_sent = 1;
  for (int i = 0; i < 50; ++i) Mark("pod" + std::to_string(i));
  Run(Minutes(5));
  host_.faults().not_sent = 0;
  ListAnswered(RuntimeWas::kThere);
  Run(Seconds(1));
  EXPECT_EQ(read_.size(), 50u);
  EXPECT_EQ(reader_->unhealthy(), 0u);
}

// A runtime that comes and goes: its second return must not find pods that wait for a minute
// because they were woken by the first.
TEST_F(PodReaderTest, EachReturnOfTheRuntimeEndsTheBackOff) {
  const auto away = [this](Duration d) {
    host_.faults().not_sent = 1;
    Run(d);
  };
  size_t reading_most = 0;
  for (int i = 0; i < 50; ++i) Mark("pod" + std::to_string(i));
  away(Minutes(5));
  for (int i = 0; i < 3; ++i) {
    ListAnswered(RuntimeWas::kAway);  // and is gone before anybody was read
    away(Seconds(5));
    EXPECT_TRUE(read_.empty());
  }
  host_.faults().not_sent = 0;
  ListAnswered(RuntimeWas::kAway);
  for (int i = 0; i < 1000; ++i) {
    Run(Milliseconds(1));
    reading_most = std::max(reading_most, reader_->reading());
  }
  EXPECT_EQ(read_.size(), 50u);
  EXPECT_LE(reading_most, PodReaderOptions{}.reads_max / 4) << "the places of suspects";
}

TEST_F(PodReaderTest, AListThatBeganBeforeTheReadSaysNothingOfIt) {
  const Epoch before = epochs_.Next();
  host_.faults().not_sent = 1;
  Mark("bad");
  Run(Milliseconds(100));
  host_.faults().not_sent = 0;
  world_.loop(0).Post([this, before] { reader_->ListAnswered(before, RuntimeWas::kAway); });
  Run(Milliseconds(100));
  EXPECT_TRUE(read_.empty());
}

TEST_F(PodReaderTest, ListsDoNotMakeAPodWithATroubleOfItsOwnABusyOne) {
  host_.faults().not_sent = 1;
  Mark("bad");
  Run(Minutes(5));
  const int before = failed_["bad"];
  for (int second = 0; second < 600; ++second) {
    ListAnswered(RuntimeWas::kThere);
    Run(Seconds(1));
  }
  EXPECT_GE(failed_["bad"] - before, 10);
  EXPECT_LE(failed_["bad"] - before, 21);
}

TEST_F(PodReaderTest, APlaceInAnotherLineDoesNotCutItsBackOffShort) {
  Make({.reads_max = 2});
  host_.faults().delay_min = host_.faults().delay_max = Milliseconds(50);
  world_.loop(0).Post([this] {
    reader_->Mark(PodUid("first"));
    reader_->Mark(PodUid("bad"));
    reader_->Mark(PodUid("bad"), PodReader::Urgency::kUrgent);  // stands in both lines now
  });
  Run(Milliseconds(60));
  host_.faults().not_sent = 1;
  Run(Milliseconds(400));
  host_.faults().not_sent = 0;
  EXPECT_EQ(failed_["bad"], 1);
}

TEST_F(PodReaderTest, WhatIsDroppedIsNotHeardOf) {
  Mark("a");
  world_.loop(0).Post([this] { reader_->Drop(PodUid("a")); });
  Run(Seconds(1));
  EXPECT_TRUE(read_.empty());
  EXPECT_EQ(reader_->marked(), 0u);
  EXPECT_EQ(reader_->reading(), 0u);
}

TEST_F(PodReaderTest, WhatIsDroppedWaitsNoLonger) {
  Make({.reads_max = 2});
  host_.faults().hang = 1;
  for (int i = 0; i < 100; ++i) Mark("pod" + std::to_string(i));
  Run(Milliseconds(10));
  EXPECT_EQ(reader_->waiting(), 99u);
  world_.loop(0).Post([this] {
    for (int i = 1; i < 100; ++i) {
      reader_->Mark(PodUid("pod" + std::to_string(i)), PodReader::Urgency::kUrgent);
    }
    EXPECT_EQ(reader_->waiting(), 99u) << "each in one line";
    for (int i = 1; i < 100; ++i) reader_->Drop(PodUid("pod" + std::to_string(i)));
    EXPECT_EQ(reader_->waiting(), 0u);
  });
  Run(Milliseconds(10));
}

TEST_F(PodReaderTest, WhatIsMarkedAgainAfterADropIsRead) {
  world_.loop(0).Post([this] {
    reader_->Mark(PodUid("a"));
    reader_->Drop(PodUid("a"));
    reader_->Mark(PodUid("a"));
  });
  Run(Seconds(3));
  EXPECT_EQ(read_, std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace denselet::sync
