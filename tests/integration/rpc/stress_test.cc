// Thousands of calls with cancels at random points, stops and ends in the middle: every call ends
// once, what its code claims is true, and nothing is left behind.
#include <algorithm>
#include <latch>
#include <set>

#include "reactor/shards.h"
#include "tests/integration/resources.h"
#include "tests/integration/rpc/rpc_fixture.h"

namespace denselet::rpc {
namespace {

class RpcStressTest : public RpcTest {
 protected:
  struct Tried {
    const Method* method;
    std::string text;
    Ending ending;
    CancelSource source;
  };

  void RunMany(size_t calls) {
    std::vector<std::unique_ptr<Tried>> tried;
    size_t open = 0;
    for (size_t i = 0; i < calls; ++i) {
      static constexpr const char* kVerbs[] = {"answer ", "answer ", "hang ", "fail:5:x "};
      const Method* methods[] = {&kRead, &kWrite, &kSerialRead, &kSerialWrite, &kStuckRead};
      tried.push_back(std::make_unique<Tried>());
      Tried& call = *tried.back();
      call.method = methods[random_.Below(std::size(methods))];
      call.text = kVerbs[random_.Below(std::size(kVerbs))] + std::to_string(next_name_++);
      Context context;
      context.cancel = call.source.token();
      context.priority = static_cast<Priority>(random_.Below(4));
      if (random_.Below(8) == 0) {
        context.deadline = After(clock_.Now(), Microseconds(random_.Below(5000)));
      }
      Ask(*call.method, call.text, call.ending, context);
      if (random_.Below(2) == 0) tried[random_.Below(tried.size())]->source.Cancel();
      if (random_.Below(4) == 0) loop_->RunTurn(loop().Now());
      if (random_.Below(64) == 0) server_->Release();
      if (tried.size() < 500 && i + 1 < calls) continue;
      for (const auto& each : tried) {
        if (random_.Below(2) == 0) each->source.Cancel();
      }
      ASSERT_TRUE(RunUntil([&] {
        server_->Release();
        open = 0;
        for (const auto& each : tried) open += each->ending.times == 0;
        return open == 0;
      }));
      Check(tried);
      tried.clear();
    }
    EXPECT_EQ(client_->under_way(), 0u);
    ASSERT_TRUE(RunUntil([&] { return endpoint_->calls_held() == 0; }));
  }

  void Check(const std::vector<std::unique_ptr<Tried>>& tried) {
    std::set<std::string> arrived;
    for (const ArrivedCall& call : server_->arrived()) arrived.insert(call.text);
    for (const auto& call : tried) {
      ASSERT_EQ(call->ending.times, 1) << call->text;
      ++ends_[call->ending.ok() ? "ok" : std::string(ErrorCodeName(call->ending.code()))];
      if (call->ending.ok()) {
        ASSERT_TRUE(arrived.contains(call->text)) << call->text;
        continue;
      }
      if (call->method->effect == Effect::kRead) {
        ASSERT_NE(call->ending.code(), ErrorCode::kUnknownOutcome);
      } else if (call->ending.code() != ErrorCode::kUnknownOutcome &&
                 call->ending.code() != ErrorCode::kNotFound) {
        ASSERT_FALSE(arrived.contains(call->text))
            << call->text << " had an effect: " << call->ending.result->error().message();
      }
    }
  }

  uint64_t next_name_ = 0;
  std::map<std::string, uint64_t> ends_;
};
INSTANTIATE_LOOP_TEST(RpcStressTest);

TEST_P(RpcStressTest, CancelAtAnyPointIsExactAndLeavesNothing) {
  StartBoth();
  RunMany(4000);
  const size_t descriptors = reactor::OpenDescriptors();
  StartServer();  // forgets the calls that it noted
  RunMany(4000);
  const size_t bytes = reactor::BytesInUse();
  StartServer();
  RunMany(4000);
  // The server's notes of one round are in it too, each time.
  EXPECT_LE(reactor::BytesInUse(), bytes + reactor::kKeptBytesMax * 8);
  EXPECT_LE(reactor::OpenDescriptors(), descriptors);
  for (const char* end : {"ok", "cancelled", "not found", "unknown outcome", "overloaded"}) {
    EXPECT_GT(ends_[end], 0u) << end;
  }
}

TEST_P(RpcStressTest, StopEndsEverythingAndThenNothingComes) {
  StartBoth();
  std::vector<Ending> sent(10), waiting(4), after(2);
  for (Ending& ending : sent) Ask(kWrite, "hang 1", ending);
  for (Ending& ending : waiting) Ask(kSerialWrite, "hang 2", ending);
  ASSERT_TRUE(RunUntil([&] { return server_->held() == 11; }));
  bool stopped = false;
  const auto all_ended = [](const std::vector<Ending>& endings) {
    return std::ranges::all_of(endings, [](const Ending& e) { return e.times == 1; });
  };
  client_->Stop([&] {
    EXPECT_TRUE(all_ended(sent) && all_ended(waiting));
    stopped = true;
  });
  for (Ending& ending : after) Ask(kRead, "answer 3", ending);
  EXPECT_FALSE(stopped);
  ASSERT_TRUE(RunUntil([&] { return stopped && all_ended(after); }));
  for (const Ending& ending : sent) EXPECT_EQ(ending.code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(waiting[0].code(), ErrorCode::kUnknownOutcome);
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(waiting[i].code(), ErrorCode::kCancelled);
  for (const Ending& ending : after) EXPECT_EQ(ending.code(), ErrorCode::kCancelled);
  EXPECT_EQ(endpoint_->calls_held(), 0u);
  client_.reset();
}

TEST_P(RpcStressTest, StopWithoutCallsEndsToo) {
  StartBoth();
  bool stopped = false;
  client_->Stop([&] { stopped = true; });
  EXPECT_FALSE(stopped);
  ASSERT_TRUE(RunUntil([&] { return stopped; }));
}

TEST_P(RpcStressTest, AClientThatGoesTakesItsCallsBack) {
  StartBoth();
  std::vector<Ending> endings(20);
  for (size_t i = 0; i < 20; ++i) {
    Ask(i % 2 == 0 ? kWrite : kSerialRead, i % 3 == 0 ? "hang 1" : "answer 1", endings[i]);
  }
  ASSERT_TRUE(RunUntil([&] { return server_->held() > 0; }));
  std::vector<int> before;
  for (const Ending& ending : endings) before.push_back(ending.times);
  client_.reset();
  ASSERT_TRUE(RunUntil([&] { return endpoint_->calls_held() == 0; }));
  for (int i = 0; i < 10; ++i) loop_->RunTurn(loop().Now());
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(endings[i].times, before[i]) << "late answer " << i;
  MakeClient();
  EXPECT_TRUE(Ask(kRead, "answer 2").ok());
}

TEST_P(RpcStressTest, ADoneMayDestroyTheClient) {
  StartBoth();
  for (const char* text : {"answer 1", "fail:5:x 1"}) {
    bool done = false;
    v1::VersionRequest request;
    request.set_version(text);
    Call<v1::VersionResponse>(*client_, {}, kRead, std::move(request),
                              Done<v1::VersionResponse>([&](Result<v1::VersionResponse>) {
                                client_.reset();
                                done = true;
                              }));
    ASSERT_TRUE(RunUntil([&] { return done; }));
    MakeClient();
  }
}

// Two shards with threads of their own call one endpoint at once; a server goes and comes
// meanwhile.
TEST_P(RpcStressTest, AllShardsShareOneEndpoint) {
  StartServer();
  EndpointOptions options{.address = socket_path_, .name = "shared"};
  options.breaker.failures_to_open = 1'000'000;
  auto endpoint = *Endpoint::Make(options, clock_);
  constexpr uint32_t kShards = 2;
  constexpr int kCallsOfEach = 2000;

  struct OfShard {
    SeededRandom random{7};
    MetricSet<RpcMetric> metrics;
    std::unique_ptr<Client> client;
    int asked = 0, ended = 0, answered = 0;
    std::latch* over = nullptr;

    void AskNext() {
      while (asked < kCallsOfEach && asked - ended < 50) {
        ++asked;
        v1::VersionRequest request;
        request.set_version("answer " + std::to_string(asked));
        Call<v1::VersionResponse, size_t>(
            *client, {}, kRead, std::move(request),
            [](v1::VersionResponse& answer) -> Result<size_t> { return answer.version().size(); },
            [this](Result<size_t> result) {
              answered += static_cast<bool>(result);
              if (++ended == kCallsOfEach) return client->Stop([this] { over->count_down(); });
              AskNext();
            });
      }
    }
  };
  std::latch over(kShards);
  std::vector<OfShard> of(kShards);
  auto shards = *reactor::Shards::Start({.count = kShards, .backend = GetParam()}, clock_);
  for (uint32_t i = 0; i < kShards; ++i) {
    shards->RunAndWait(i, [&](reactor::Shard& shard) {
      of[i].over = &over;
      of[i].client = std::make_unique<Client>(shard, *endpoint, kTestClasses, of[i].random,
                                              of[i].metrics, nullptr);
      of[i].AskNext();
    });
  }
  over.wait();
  for (uint32_t i = 0; i < kShards; ++i) {
    shards->RunAndWait(i, [&](reactor::Shard&) { of[i].client.reset(); });
    EXPECT_EQ(of[i].answered, kCallsOfEach);
  }
  EXPECT_EQ(endpoint->calls_held(), 0u);
  shards->Stop();
}

// Shards that end with calls under way, whose answers then find neither client nor shard.
TEST_P(RpcStressTest, AnswersOfShardsThatHaveGoneFindNobody) {
  StartServer();
  auto endpoint = *Endpoint::Make({.address = socket_path_, .name = "left"}, clock_);
  MetricSet<RpcMetric> metrics;
  std::unique_ptr<Client> client;
  int ended = 0;
  auto shards = *reactor::Shards::Start({.count = 1, .backend = GetParam()}, clock_);
  shards->RunAndWait(0, [&](reactor::Shard& shard) {
    client = std::make_unique<Client>(shard, *endpoint, kTestClasses, random_, metrics, nullptr);
    for (int i = 0; i < 50; ++i) {
      v1::StopContainerRequest request;
      request.set_container_id(i % 2 == 0 ? "hang 1" : "answer 1");
      Call<v1::StopContainerResponse>(
          *client, {}, kWrite, std::move(request),
          Done<v1::StopContainerResponse>([&](Result<v1::StopContainerResponse>) { ++ended; }));
    }
    client.reset();
  });
  shards->Stop();
  shards.reset();
  endpoint.reset();  // waits for the last callback
  EXPECT_EQ(ended, 0);
}

}  // namespace
}  // namespace denselet::rpc
