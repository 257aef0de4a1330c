#include "cri/event_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "tests/integration/cri/cri_fixture.h"

namespace denselet::cri {
namespace {

using State = sync::EventStreamState;

struct Listener final : sync::RuntimeEventsUser {
  std::multiset<std::string> hints;
  int lost = 0;
  std::vector<State> states;

  void OnPodHint(const sync::PodHint& hint) override { hints.insert(hint.pod.value()); }
  void OnHintsLost() override { ++lost; }
  void OnStreamState(State state) override { states.push_back(state); }
  State last() const { return states.empty() ? State::kConnecting : states.back(); }
};

class EventStreamTest : public CriTest {
 protected:
  ~EventStreamTest() override {
    stream_.reset();
    if (hints_ != nullptr) hints_->Close();
    hints_.reset();
  }

  void StartStream(EventStreamOptions options = {}) {
    Connect();
    hints_ = PodHints::Make(shard_, listener_, cri_->metrics());
    stream_ = std::make_unique<EventStream>(
        shard_, cri_->runtime_client(), runtime(), random_, log(), cri_->metrics(),
        std::vector<std::shared_ptr<PodHints>>{hints_}, options);
    stream_->Start();
  }
  [[nodiscard]] bool WaitForState(State state) {
    return RunUntil([&] { return listener_.last() == state && !listener_.states.empty(); });
  }

  int LinesWith(const std::string& text) const {
    int count = 0;
    for (const auto& line : sink_.lines()) count += line.text.find(text) != std::string::npos;
    return count;
  }

  Listener listener_;
  std::shared_ptr<PodHints> hints_;
  std::unique_ptr<EventStream> stream_;
};
INSTANTIATE_LOOP_TEST(EventStreamTest);

TEST_P(EventStreamTest, EventsBecomeHintsOfTheirPod) {
  StartStream();
  ASSERT_TRUE(WaitForState(State::kEstablished));
  EXPECT_EQ(server_->streams(), 1u);
  server_->SendEvent("p1");
  server_->SendEvent("p2");
  ASSERT_TRUE(RunUntil([&] { return listener_.hints.size() >= 2; }));
  EXPECT_TRUE(listener_.hints.contains("p1"));
  EXPECT_TRUE(listener_.hints.contains("p2"));
  EXPECT_EQ(listener_.lost, 0);
}

TEST_P(EventStreamTest, AQuietServerThatKeepsItsHeadersIsEstablishedToo) {
  server_->SetEvents(CriServer::Events::kHeadersWithTheFirst);
  StartStream();
  ASSERT_TRUE(WaitForState(State::kEstablished));
  EXPECT_EQ(server_->streams(), 1u);
  // The proof comes with the first event: one look at all, for what fell between.
  server_->SendEvent("p1");
  ASSERT_TRUE(RunUntil([&] { return listener_.lost > 0; }));
  server_->SendEvent("p2");
  ASSERT_TRUE(RunUntil([&] { return listener_.hints.contains("p2"); }));
  EXPECT_EQ(listener_.lost, 1);
}

TEST_P(EventStreamTest, ManyEventsOfAPodAreFewHints) {
  StartStream();
  ASSERT_TRUE(WaitForState(State::kEstablished));
  for (int i = 0; i < 5000; ++i) server_->SendEvent("p1");
  server_->SendEvent("last");
  ASSERT_TRUE(RunUntil([&] { return listener_.hints.contains("last"); }));
  EXPECT_GE(listener_.hints.count("p1"), 1u);
  EXPECT_LT(listener_.hints.count("p1"), 5000u);
  EXPECT_EQ(cri_->metrics().Counter(CriMetric::kEvents).value(), 5001u);
}

TEST_P(EventStreamTest, WhatNobodyCanBeFoundForConcernsAll) {
  StartStream();
  ASSERT_TRUE(WaitForState(State::kEstablished));
  server_->SendEventOfNobody();
  ASSERT_TRUE(RunUntil([&] { return listener_.lost == 1; }));
}

TEST_P(EventStreamTest, AStreamThatBreaksComesBack) {
  StartStream();
  ASSERT_TRUE(WaitForState(State::kEstablished));
  for (int i = 0; i < 3; ++i) {
    const size_t told = listener_.states.size();
    server_->EndStreams({grpc::StatusCode::UNKNOWN, "broken"});
    ASSERT_TRUE(RunUntil([&] { return listener_.states.size() >= told + 2; }));
    ASSERT_TRUE(WaitForState(State::kEstablished));
  }
  EXPECT_EQ(stream_->snapshot().established, 4u);
  server_->SendEvent("p1");
  ASSERT_TRUE(RunUntil([&] { return listener_.hints.contains("p1"); }));
}

// Each time could be the first: neither the pauses nor the log must take it for that.
TEST_P(EventStreamTest, AStreamThatComesAndGoesIsTriedSlowlyAndToldNowAndThen) {
  StartStream({.pause_min = Milliseconds(5), .pause_max = Milliseconds(80), .jitter = 0});
  ASSERT_TRUE(WaitForState(State::kEstablished));
  const TimePoint begun = clock_.Now();
  for (uint64_t i = 1; i <= 8; ++i) {
    server_->EndStreams({grpc::StatusCode::UNKNOWN, "broken"});
    ASSERT_TRUE(RunUntil([&] { return stream_->snapshot().established == i + 1; }));
  }
  EXPECT_EQ(stream_->snapshot().failures, 8u);
  EXPECT_GE(clock_.Now() - begun, Milliseconds(5 + 10 + 20 + 40 + 4 * 80));
  EXPECT_LE(LinesWith("Lost the events"), 2);
}

TEST_P(EventStreamTest, AStreamThatHoldsStartsOver) {
  StartStream({.pause_min = Milliseconds(1), .held_after = Milliseconds(20)});
  ASSERT_TRUE(WaitForState(State::kEstablished));
  server_->EndStreams({grpc::StatusCode::UNKNOWN, "broken"});
  ASSERT_TRUE(RunUntil([&] { return stream_->snapshot().failures == 1; }));
  ASSERT_TRUE(RunUntil([&] { return stream_->snapshot().established == 2; }));
  ASSERT_TRUE(RunUntil([&] { return stream_->snapshot().failures == 0; }));
  EXPECT_EQ(stream_->snapshot().stage, EventStream::Stage::kEstablished);
  EXPECT_EQ(LinesWith("Lost the events"), 1);
  EXPECT_EQ(LinesWith("Receiving events of the container runtime again"), 1);
}

// A thousand nodes whose runtimes restart together do not come back in step.
TEST_P(EventStreamTest, PausesGrowToTheirMaximumAndAreSpread) {
  server_.reset();
  StartStream({.pause_min = Milliseconds(2), .pause_max = Milliseconds(16), .jitter = 0.5});
  std::vector<Duration> pauses;
  uint64_t attempt = 0;
  ASSERT_TRUE(RunUntil([&] {
    const EventStream::Snapshot now = stream_->snapshot();
    if (now.stage == EventStream::Stage::kPausing && now.attempts != attempt) {
      attempt = now.attempts;
      pauses.push_back(now.retry_at - now.since);
    }
    return pauses.size() == 24;
  }));
  for (size_t i = 0; i < pauses.size(); ++i) {
    const Duration least =
        std::min<Duration>(Milliseconds(2) * (1 << std::min<size_t>(i, 3)), Milliseconds(16));
    EXPECT_GE(pauses[i], least) << i;
    EXPECT_LE(pauses[i], least + least / 2) << i;
  }
  const auto [shortest, longest] = std::minmax_element(pauses.begin() + 3, pauses.end());
  EXPECT_GT(*longest - *shortest, Milliseconds(4)) << "of eight";
  EXPECT_EQ(std::set<Duration>(pauses.begin() + 3, pauses.end()).size(), 21u);
  EXPECT_EQ(LinesWith("Lost the events"), 0) << "there never were any";
  EXPECT_GE(LinesWith("Could not follow the events"), 1);
}

TEST_P(EventStreamTest, ARuntimeThatIsRestartedIsFoundAgain) {
  StartStream();
  ASSERT_TRUE(WaitForState(State::kEstablished));
  for (int i = 0; i < 3; ++i) {
    server_.reset();
    ASSERT_TRUE(WaitForState(State::kConnecting));
    server_ = std::make_unique<CriServer>(folder_ + "/s");
    const TimePoint up = clock_.Now();
    ASSERT_TRUE(WaitForState(State::kEstablished));
    EXPECT_LT(clock_.Now() - up, Patiently(Seconds(5)));
    server_->SendEvent("p" + std::to_string(i));
    ASSERT_TRUE(RunUntil([&] { return listener_.hints.contains("p" + std::to_string(i)); }));
  }
  // One stream, and nothing left of the ones before, once the question whether it is there is over.
  EXPECT_TRUE(RunUntil([&] { return connection_->runtime().calls_held() == 1; }));
  EXPECT_EQ(server_->streams(), 1u);
}

TEST_P(EventStreamTest, ARuntimeWithoutEventsIsTestedSlowly) {
  server_->SetEvents(CriServer::Events::kNone);
  StartStream({.unsupported_pause = Milliseconds(150)});
  ASSERT_TRUE(WaitForState(State::kUnsupported));
  const size_t told = listener_.states.size();
  ASSERT_TRUE(RunUntil([&] { return server_->calls("GetContainerEvents") >= 3; }));
  EXPECT_EQ(listener_.states.size(), told) << "tests are nobody's concern";
  server_->SetEvents(CriServer::Events::kHeadersAtOnce);
  ASSERT_TRUE(WaitForState(State::kEstablished));
}

TEST_P(EventStreamTest, AStreamThatEndsAtOnceIsNone) {
  server_->SetEvents(CriServer::Events::kEndAtOnce);
  StartStream();
  ASSERT_TRUE(WaitForState(State::kUnsupported));
  EXPECT_EQ(server_->calls("GetContainerEvents"), 2);
  EXPECT_EQ(stream_->snapshot().stage, EventStream::Stage::kUnsupported);
}

TEST_P(EventStreamTest, TooManyMarksBecomeOne) {
  StartStream();
  ASSERT_TRUE(WaitForState(State::kEstablished));
  // On this thread, before the shard gets a turn.
  for (size_t i = 0; i <= PodHints::kMarksMax; ++i) {
    hints_->Mark(PodUid("p" + std::to_string(i)), 0);
  }
  ASSERT_TRUE(RunUntil([&] { return listener_.lost == 1; }));
  EXPECT_TRUE(listener_.hints.empty());
}

// The old stream's last events and the new one's first.
TEST_P(EventStreamTest, TwoThreadsMayMarkAtOnce) {
  constexpr int kEvents = 20'000;
  Connect();
  hints_ = PodHints::Make(shard_, listener_, cri_->metrics());
  const auto mark = [this](const std::string& pod) {
    for (int i = 0; i < kEvents; ++i) hints_->Mark(PodUid(pod + std::to_string(i % 10)), 0);
    hints_->Mark(PodUid("last of " + pod), 0);
  };
  std::thread old_stream(mark, "old"), new_stream(mark, "new");
  EXPECT_TRUE(RunUntil([&] {
    return listener_.hints.contains("last of old") && listener_.hints.contains("last of new");
  }));
  old_stream.join();
  new_stream.join();
  EXPECT_EQ(cri_->metrics().Counter(CriMetric::kEvents).value(), 2u * kEvents + 2);
  EXPECT_TRUE(listener_.hints.contains("old7") && listener_.hints.contains("new7"));
  EXPECT_EQ(listener_.lost, 0);
}

TEST_P(EventStreamTest, AGapBetweenTwoTurnsIsTold) {
  Connect();
  hints_ = PodHints::Make(shard_, listener_, cri_->metrics());
  hints_->SetState(State::kEstablished);
  ASSERT_TRUE(WaitForState(State::kEstablished));
  hints_->SetState(State::kConnecting);
  hints_->SetState(State::kEstablished);
  ASSERT_TRUE(RunUntil([&] { return listener_.states.size() == 3; }));
  EXPECT_THAT(listener_.states,
              testing::ElementsAre(State::kEstablished, State::kConnecting, State::kEstablished));
}

TEST_P(EventStreamTest, EndingItLeavesNothingBehind) {
  StartStream();
  ASSERT_TRUE(WaitForState(State::kEstablished));
  stream_.reset();
  ASSERT_TRUE(RunUntil([&] { return server_->streams() == 0; }));
  ASSERT_TRUE(RunUntil([&] { return connection_->runtime().calls_held() == 0; }));
}

}  // namespace
}  // namespace denselet::cri
