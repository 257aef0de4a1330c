// Classes and the breaker on real calls: who waits, who goes first, what adapts, what opens.
#include "tests/integration/rpc/rpc_fixture.h"

namespace denselet::rpc {
namespace {

class RpcLimitsTest : public RpcTest {
 protected:
  void AskAs(Priority priority, const std::string& text, Ending& ending) {
    Context context;
    context.priority = priority;
    Ask(kSerialRead, text, ending, context);
  }
  std::vector<std::string> Order() const {
    std::vector<std::string> texts;
    for (const ArrivedCall& call : server_->arrived()) texts.push_back(call.text);
    return texts;
  }
};
INSTANTIATE_LOOP_TEST(RpcLimitsTest);

TEST_P(RpcLimitsTest, UrgentCallsGoFirst) {
  StartBoth();
  Ending first, background, normal, critical;
  Ask(kSerialRead, "hang first", first);
  ASSERT_TRUE(RunUntil([&] { return Arrived() == 1; }));
  AskAs(Priority::kBackground, "answer background", background);
  AskAs(Priority::kNormal, "answer normal", normal);
  AskAs(Priority::kCritical, "answer critical", critical);
  EXPECT_EQ(client_->StateOf(kSerial).waiting, 3u);
  EXPECT_EQ(client_->StateOf(kSerial).running, 1u);
  server_->Release();
  ASSERT_TRUE(RunUntil([&] { return background.times > 0; }));
  EXPECT_EQ(Order(), (std::vector<std::string>{"hang first", "answer critical", "answer normal",
                                               "answer background"}));
  EXPECT_EQ(client_->StateOf(kSerial).running, 0u);
}

TEST_P(RpcLimitsTest, AFullQueueRefusesOrMakesRoom) {
  StartBoth();
  Ending running, refused, urgent;
  Ending waiting[4];
  Ask(kSerialRead, "hang 0", running);
  for (Ending& ending : waiting) Ask(kSerialRead, "answer 1", ending);
  Ask(kSerialRead, "answer 2", refused);
  EXPECT_EQ(refused.times, 0) << "ended inside the call";
  ASSERT_TRUE(RunUntil([&] { return refused.times > 0; }));
  EXPECT_EQ(refused.code(), ErrorCode::kOverloaded);
  AskAs(Priority::kCritical, "answer 3", urgent);
  ASSERT_TRUE(RunUntil([&] { return waiting[3].times > 0; }));
  EXPECT_EQ(waiting[3].code(), ErrorCode::kOverloaded);
  ASSERT_TRUE(RunUntil([&] { return Arrived() == 1; }));
  server_->Release();
  ASSERT_TRUE(RunUntil([&] { return waiting[2].times > 0; }));
  EXPECT_TRUE(urgent.ok() && waiting[0].ok() && waiting[1].ok() && waiting[2].ok());
  EXPECT_EQ(metrics_.Counter(RpcMetric::kRefused, "test", "serial", "full").value(), 2u);
}

TEST_P(RpcLimitsTest, AFloodOfOneClassLeavesTheOthersTheirPlaces) {
  StartBoth();
  std::vector<Ending> flood(kWide.limit_max + kWide.queue_max + Client::kRefusedMax - 1);
  for (Ending& ending : flood) Ask(kRead, "hang 1", ending);
  Ending other;
  Ask(kSerialRead, "answer 1", other);
  ASSERT_TRUE(RunUntil([&] { return other.times > 0; }));
  EXPECT_TRUE(other.ok()) << other.result->error().message();
  EXPECT_EQ(client_->StateOf(kPlain).waiting, kWide.queue_max);
}

TEST_P(RpcLimitsTest, TheLimitFallsWhenAnswersAreSlowAndRisesWhenTheyAreNot) {
  StartBoth();
  EXPECT_EQ(client_->StateOf(kHasty).limit, 8);
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(Ask(kHastyRead, "answer 1").ok());
  EXPECT_EQ(client_->StateOf(kHasty).limit, 2) << "every answer takes longer than a nanosecond";
  EXPECT_EQ(metrics_.Gauge(RpcMetric::kLimit, "test", "hasty").value(), 2);

  // 20 ms is time enough, unless the machine is very busy: only that it rises counts.
  std::vector<Ending> endings(64);
  const double before = client_->StateOf(kStuckSoon).limit;
  for (Ending& ending : endings) Ask(kStuckRead, "answer 1", ending);
  EXPECT_EQ(client_->StateOf(kStuckSoon).waiting, 62u);
  ASSERT_TRUE(RunUntil(
      [&] { return std::ranges::all_of(endings, [](const Ending& e) { return e.times == 1; }); }));
  EXPECT_GT(client_->StateOf(kStuckSoon).limit, before);
  EXPECT_TRUE(std::ranges::all_of(endings, &Ending::ok));
}

// A probe's command that takes too long is one pod's trouble.
TEST_P(RpcLimitsTest, TheOtherSidesOwnTimeoutsAreNoSignOfLoad) {
  StartBoth();
  const double before = client_->StateOf(kStuckSoon).limit;
  for (int i = 0; i < 10; ++i) {
    std::vector<Ending> endings(8);
    for (Ending& ending : endings) Ask(kStuckRead, "fail:4:the command timed out 1", ending);
    ASSERT_TRUE(RunUntil([&] {
      return std::ranges::all_of(endings, [](const Ending& e) { return e.times == 1; });
    }));
    for (const Ending& ending : endings) EXPECT_EQ(ending.code(), ErrorCode::kDeadlineExceeded);
  }
  EXPECT_GT(client_->StateOf(kStuckSoon).limit, before);
  // Our own are.
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Ask(kHastyRead, "hang 1", Within(Milliseconds(5))).code(),
              ErrorCode::kDeadlineExceeded);
  }
  EXPECT_LT(client_->StateOf(kHasty).limit, 8);
}

TEST_P(RpcLimitsTest, HungCallsHoldUpNobodyElse) {
  StartBoth();
  Ending hung[2], other;
  for (Ending& ending : hung) Ask(kStuckRead, "hang 1", ending);
  Ask(kStuckRead, "answer 2", other);
  EXPECT_EQ(client_->StateOf(kStuckSoon).waiting, 1u);
  ASSERT_TRUE(RunUntil([&] { return other.times > 0; }));
  EXPECT_TRUE(other.ok());
  EXPECT_EQ(client_->StateOf(kStuckSoon).stuck, 2u);
  server_->Release();
  ASSERT_TRUE(RunUntil([&] { return hung[0].times > 0 && hung[1].times > 0; }));
  EXPECT_EQ(client_->StateOf(kStuckSoon).stuck, 0u);
}

TEST_P(RpcLimitsTest, TheBreakerOpensWhenNobodyIsThereAndClosesWhenSomebodyIs) {
  Connect();
  std::string words;
  for (uint32_t i = 0; i < BreakerOptions{}.failures_to_open; ++i) {
    EXPECT_EQ(endpoint_->breaker().state, BreakerState::kClosed);
    const Ending failed = Ask(kRead, "answer 1");
    EXPECT_EQ(failed.code(), ErrorCode::kUnavailable);
    words = failed.result->error().message();
  }
  EXPECT_EQ(endpoint_->breaker().state, BreakerState::kOpen);
  EXPECT_EQ(metrics_.Gauge(RpcMetric::kBreaker, "test").value(), 1);
  const Ending refused = Ask(kWrite, "answer 2");
  EXPECT_EQ(refused.code(), ErrorCode::kUnavailable);
  EXPECT_NE(words.find(socket_path_), std::string::npos) << words;
  EXPECT_EQ(refused.result->error().message(), words) << "one absence in two wordings";
  StartServer();
  endpoint_->TryConnectNow();
  ASSERT_TRUE(RunUntil([&] { return Ask(kRead, "answer 3").ok(); }));
  EXPECT_EQ(endpoint_->breaker().state, BreakerState::kClosed);
  EXPECT_EQ(endpoint_->breaker().openings, 1u);
  EXPECT_EQ(metrics_.Gauge(RpcMetric::kBreaker, "test").value(), 0);
}

// Its own words reach whoever asks, not ours that nobody is there.
TEST_P(RpcLimitsTest, AServerThatSaysItIsUnavailableIsThere) {
  Connect();
  for (uint32_t i = 0; i < BreakerOptions{}.failures_to_open; ++i) (void)Ask(kRead, "answer 1");
  ASSERT_EQ(endpoint_->breaker().state, BreakerState::kOpen);
  StartServer();
  endpoint_->TryConnectNow();
  ASSERT_TRUE(RunUntil([&] {
    const Ending ending = Ask(kRead, "fail:14:not now 1");
    return ending.result->error().message().find("not now") != std::string::npos;
  }));
  EXPECT_EQ(endpoint_->breaker().state, BreakerState::kClosed);
  for (int i = 0; i < 5; ++i) {
    const Ending ending = Ask(kRead, "fail:14:not now 1");
    EXPECT_NE(ending.result->error().message().find("not now"), std::string::npos) << i;
  }
  EXPECT_TRUE(Ask(kRead, "answer 2").ok());
}

TEST_P(RpcLimitsTest, AHungMethodDoesNotOpenTheBreaker) {
  StartBoth();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Ask(kWrite, "hang 1", Within(Milliseconds(5))).code(), ErrorCode::kUnknownOutcome);
  }
  // The other side's own word is none that it is not there.
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Ask(kRead, "fail:14:not now 1").code(), ErrorCode::kUnavailable);
  }
  EXPECT_EQ(endpoint_->breaker().state, BreakerState::kClosed);
  EXPECT_TRUE(Ask(kRead, "answer 1").ok());
}

TEST_P(RpcLimitsTest, AServerThatComesBackIsFoundAgain) {
  StartBoth();
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(RunUntil([&] { return Ask(kRead, "answer 1").ok(); })) << "restart " << i;
    Ending hung;
    Ask(kWrite, "hang 1", hung);
    ASSERT_TRUE(RunUntil([&] { return server_->held() == 1; }));
    server_->Kill();
    ASSERT_TRUE(RunUntil([&] { return hung.times > 0; }));
    EXPECT_EQ(hung.code(), ErrorCode::kUnknownOutcome);
    StartServer();
  }
  EXPECT_TRUE(RunUntil([&] { return Ask(kRead, "answer 1").ok(); }));
}

}  // namespace
}  // namespace denselet::rpc
