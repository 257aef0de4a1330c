// One call: its answer, its end by cancel and deadline, and what the codes claim about it.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "tests/integration/rpc/rpc_fixture.h"

namespace denselet::rpc {
namespace {

class RpcCallTest : public RpcTest {};
INSTANTIATE_LOOP_TEST(RpcCallTest);

TEST_P(RpcCallTest, AnAnswerComesOnTheShardInALaterTurn) {
  StartBoth();
  const std::thread::id here = std::this_thread::get_id();
  std::thread::id converted_on, done_on;
  v1::VersionRequest request;
  request.set_version("answer 1");
  Call<v1::VersionResponse, size_t>(
      *client_, {}, kRead, std::move(request),
      [&](v1::VersionResponse& answer) -> Result<size_t> {
        converted_on = std::this_thread::get_id();
        return answer.version().size();
      },
      [&](Result<size_t> size) {
        EXPECT_EQ(*size, 8u);
        done_on = std::this_thread::get_id();
      });
  EXPECT_EQ(done_on, std::thread::id());
  ASSERT_TRUE(RunUntil([&] { return done_on != std::thread::id(); }));
  EXPECT_EQ(done_on, here);
  EXPECT_NE(converted_on, here) << "messages are taken apart on gRPC's thread";
  EXPECT_EQ(client_->under_way(), 0u);
}

TEST_P(RpcCallTest, AnErrorOfTheConversionIsTheCalls) {
  StartBoth();
  std::optional<Result<int>> result;
  Call<v1::VersionResponse, int>(
      *client_, {}, kRead, v1::VersionRequest(),
      [](v1::VersionResponse&) -> Result<int> { return Error(ErrorCode::kCorrupt, "odd"); },
      [&](Result<int> r) { result = std::move(r); });
  ASSERT_TRUE(RunUntil([&] { return result.has_value(); }));
  EXPECT_EQ(result->error(), Error(ErrorCode::kCorrupt, "odd"));
  EXPECT_EQ(cells_["read"].errors.value(), 1u) << "upstream counts it";
}

TEST_P(RpcCallTest, TheMessageItselfCanBeTheAnswer) {
  StartBoth();
  std::optional<std::string> version;
  v1::VersionRequest request;
  request.set_version("answer me");
  Call<v1::VersionResponse>(
      *client_, {}, kRead, std::move(request),
      Done<v1::VersionResponse>([&](Result<v1::VersionResponse> r) { version = r->version(); }));
  ASSERT_TRUE(RunUntil([&] { return version.has_value(); }));
  EXPECT_EQ(version, "answer me");
}

TEST_P(RpcCallTest, TraceContextGoesWithEveryCall) {
  StartBoth();
  Context context;
  context.trace = Trace::Start(random_);
  EXPECT_TRUE(Ask(kRead, "answer 1", context).ok());
  EXPECT_TRUE(Ask(kRead, "answer 2").ok());
  const auto arrived = server_->arrived();
  ASSERT_EQ(arrived.size(), 2u);
  const std::string parent = context.trace.TraceParent();
  EXPECT_EQ(arrived[0].traceparent.substr(0, 36), parent.substr(0, 36)) << "the same story";
  EXPECT_NE(arrived[0].traceparent, parent) << "a step of its own";
  EXPECT_EQ(arrived[1].traceparent.size(), parent.size());
  EXPECT_NE(arrived[1].traceparent.substr(0, 36), parent.substr(0, 36));
  EXPECT_EQ(arrived[0].authority, "localhost");
}

TEST_P(RpcCallTest, AStatusIsTheOtherSidesWord) {
  StartBoth();
  const Ending missing = Ask(kWrite, "fail:5:no such thing 1");
  EXPECT_EQ(missing.code(), ErrorCode::kNotFound);
  EXPECT_EQ(missing.result->error().message(), "rpc error: code = NotFound desc = no such thing");
  EXPECT_EQ(Ask(kWrite, "fail:12:x 2").code(), ErrorCode::kUnsupported);
  EXPECT_EQ(Ask(kWrite, "fail:2:boom 3").code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(Ask(kRead, "fail:2:boom 4").code(), ErrorCode::kIo);
}

TEST_P(RpcCallTest, AMethodMayKnowBetter) {
  StartBoth();
  Method known = kWrite;
  known.translate = [](const Failure& failure, Error error) {
    return failure.message == "boom" ? Error(ErrorCode::kConflict, "known") : error;
  };
  EXPECT_EQ(Ask(known, "fail:2:boom 1").code(), ErrorCode::kConflict);
  EXPECT_EQ(Ask(known, "fail:5:x 2").code(), ErrorCode::kNotFound);
}

TEST_P(RpcCallTest, LongStatusTextsArrive) {
  StartBoth();
  const std::string story(12'000, 'x');
  EXPECT_EQ(Ask(kRead, "fail:5:" + story + " 1").result->error().message(),
            "rpc error: code = NotFound desc = " + story);
}

TEST_P(RpcCallTest, AnAnswerThatIsTooLongIsAnError) {
  StartServer();
  Connect({.address = {}, .name = {}, .receive_bytes_max = 1000});
  EXPECT_TRUE(Ask(kRead, "answer " + std::string(900, 'x')).ok());
  EXPECT_EQ(Ask(kRead, "answer " + std::string(1100, 'x')).code(), ErrorCode::kOverloaded);
}

TEST_P(RpcCallTest, CancelOfWhatWasSentIsUnknownIfItMutates) {
  StartBoth();
  for (const Method* method : {&kRead, &kWrite}) {
    CancelSource source;
    Context context;
    context.cancel = source.token();
    Ending ending;
    const size_t before = Arrived();
    Ask(*method, "hang 1", ending, context);
    ASSERT_TRUE(RunUntil([&] { return Arrived() > before; }));
    source.Cancel();
    EXPECT_EQ(ending.times, 0) << "ended inside Cancel";
    ASSERT_TRUE(RunUntil([&] { return ending.times > 0; }));
    EXPECT_EQ(ending.code(), method == &kRead ? ErrorCode::kCancelled : ErrorCode::kUnknownOutcome);
    ASSERT_TRUE(RunUntil([&] { return server_->held() == 0; })) << "the server hears of it";
  }
}

TEST_P(RpcCallTest, CancelOfWhatWaitsOrHasNotBegunIsCancelled) {
  StartBoth();
  Ending first, second;
  Ask(kSerialWrite, "hang 1", first);
  CancelSource source;
  Context context;
  context.cancel = source.token();
  Ask(kSerialWrite, "hang 2", second, context);
  ASSERT_TRUE(RunUntil([&] { return Arrived() == 1; }));
  source.Cancel();
  EXPECT_EQ(second.times, 0);
  ASSERT_TRUE(RunUntil([&] { return second.times > 0; }));
  EXPECT_EQ(second.code(), ErrorCode::kCancelled);
  EXPECT_EQ(Ask(kWrite, "answer 3", context).code(), ErrorCode::kCancelled);
  server_->Release();
  ASSERT_TRUE(RunUntil([&] { return first.times > 0; }));
  EXPECT_TRUE(first.ok());
  EXPECT_EQ(Arrived(), 1u);
}

TEST_P(RpcCallTest, DeadlineOfWhatWasSentIsUnknownIfItMutates) {
  StartBoth();
  EXPECT_EQ(Ask(kRead, "hang 1", Within(Milliseconds(20))).code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(Ask(kWrite, "hang 2", Within(Milliseconds(20))).code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(Ask(kShortRead, "hang 3").code(), ErrorCode::kDeadlineExceeded) << "of the class";
}

TEST_P(RpcCallTest, DeadlineBeforeSendingHadNoEffect) {
  StartBoth();
  EXPECT_EQ(Ask(kWrite, "answer 1", Within(Duration::zero())).code(), ErrorCode::kDeadlineExceeded);
  Ending first, second, third;
  Ask(kSerialWrite, "hang 2", first);
  Ask(kSerialWrite, "answer 3", second, Within(Milliseconds(10)));
  ASSERT_TRUE(RunUntil([&] { return second.times > 0; }));
  EXPECT_EQ(second.code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(Arrived(), 1u);
  server_->Release();
  ASSERT_TRUE(RunUntil([&] { return first.times > 0; }));
}

TEST_P(RpcCallTest, TimeThatACallTakesOfItselfIsAdded) {
  StartBoth();
  Ending ending;
  Ask(kShortRead, "hang 1", ending, {}, {.expected = Hours(1)});
  ASSERT_TRUE(RunUntil([&] { return Arrived() == 1; }));
  const TimePoint late = After(clock_.Now(), Milliseconds(60));
  ASSERT_TRUE(RunUntil([&] { return clock_.Now() > late; }));
  EXPECT_EQ(ending.times, 0);
  server_->Release();
  ASSERT_TRUE(RunUntil([&] { return ending.times > 0; }));
  EXPECT_TRUE(ending.ok());
}

TEST_P(RpcCallTest, WithoutASocketNothingWasSent) {
  Connect();
  EXPECT_EQ(Ask(kWrite, "answer 1").code(), ErrorCode::kUnavailable);
  EXPECT_EQ(Ask(kRead, "answer 2").code(), ErrorCode::kUnavailable);
}

// Listens and does nothing, or does as HTTP/2 begins and closes when a request comes.
class RawServer {
 public:
  explicit RawServer(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd_, 16), 0);
  }
  ~RawServer() {
    ::shutdown(fd_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    ::close(fd_);
  }

  void CloseWhenARequestComes() {
    thread_ = std::thread([this] {
      for (int client; (client = ::accept(fd_, nullptr, nullptr)) >= 0; ::close(client)) {
        const char settings[9] = {0, 0, 0, 4, 0, 0, 0, 0, 0};
        (void)!::write(client, settings, sizeof settings);
        // The request's HEADERS frame names the path, here as a literal of its table.
        std::string seen;
        char bytes[4096];
        for (ssize_t n; seen.find("RuntimeService") == seen.npos &&
                        (n = ::read(client, bytes, sizeof bytes)) > 0;) {
          seen.append(bytes, static_cast<size_t>(n));
        }
      }
    });
  }

 private:
  const int fd_;
  std::thread thread_;
};

TEST_P(RpcCallTest, AConnectionLostWithTheRequestIsUnknownIfItMutates) {
  RawServer server(socket_path_);
  server.CloseWhenARequestComes();
  Connect();
  EXPECT_EQ(Ask(kWrite, "answer 1").code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(Ask(kRead, "answer 2").code(), ErrorCode::kUnavailable);
  EXPECT_EQ(endpoint_->breaker().state, BreakerState::kClosed) << "somebody is there";
}

// gRPC does not say whether a connection had taken what we ended: better to look once too often.
TEST_P(RpcCallTest, WhatWeEndCountsAsSentWithoutAConnectionToo) {
  const RawServer silent(socket_path_);
  Connect();
  EXPECT_EQ(Ask(kWrite, "answer 1", Within(Milliseconds(20))).code(), ErrorCode::kUnknownOutcome);
  CancelSource source;
  Context context;
  context.cancel = source.token();
  Ending ending;
  Ask(kWrite, "answer 2", ending, context);
  for (int i = 0; i < 10; ++i) loop_->RunTurn(loop().Now());
  source.Cancel();
  ASSERT_TRUE(RunUntil([&] { return ending.times > 0; }));
  EXPECT_EQ(ending.code(), ErrorCode::kUnknownOutcome);
}

TEST_P(RpcCallTest, CallsErrorsAndLatenciesAreCountedByMethod) {
  StartBoth();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Ask(kRead, "answer 1").ok());
  EXPECT_FALSE(Ask(kRead, "fail:5:x 1").ok());
  EXPECT_FALSE(Ask(kRead, "answer 1", Within(Duration::zero())).ok());
  EXPECT_TRUE(Ask(kWrite, "answer 1").ok());
  const auto observed = [](const HistogramCell& cell) {
    uint64_t sum = 0;
    for (const uint64_t count : cell.counts()) sum += count;
    return sum;
  };
  EXPECT_EQ(cells_["read"].calls.value(), 5u);
  EXPECT_EQ(cells_["read"].errors.value(), 2u);
  EXPECT_EQ(observed(cells_["read"].latency), 4u) << "one was not sent";
  EXPECT_GT(cells_["read"].latency.sum(), 0);
  EXPECT_EQ(cells_["write"].calls.value(), 1u);
  EXPECT_EQ(cells_["write"].errors.value(), 0u);
  EXPECT_EQ(metrics_.Counter(RpcMetric::kRefused, "test", "plain", "deadline").value(), 1u);
}

}  // namespace
}  // namespace denselet::rpc
