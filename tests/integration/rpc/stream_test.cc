// Streams: read to the end on gRPC's threads, whatever the shard does.
#include <atomic>

#include "tests/integration/resources.h"
#include "tests/integration/rpc/rpc_fixture.h"

namespace denselet::rpc {
namespace {

// What came; shared, because the sink belongs to the call.
struct Seen {
  std::atomic<int> established = 0;
  std::atomic<int> messages = 0;
  std::atomic<bool> early = false;  // a message before the stream was established
};

class CountingSink final : public StreamSink<v1::ContainerEventResponse> {
 public:
  explicit CountingSink(std::shared_ptr<Seen> seen) : seen_(std::move(seen)) {}
  void OnEstablished() override { ++seen_->established; }
  void OnMessage(v1::ContainerEventResponse& message) override {
    if (seen_->established == 0) seen_->early = true;
    if (message.container_id().starts_with("event")) ++seen_->messages;
  }

 private:
  const std::shared_ptr<Seen> seen_;
};

class RpcStreamTest : public RpcTest {
 protected:
  void Open(const Context& context = {}) {
    seen_ = std::make_shared<Seen>();
    end_.reset();
    OpenStream<v1::ContainerEventResponse>(*client_, context, kEvents, v1::GetEventsRequest(),
                                           std::make_unique<CountingSink>(seen_),
                                           [this](Status status) {
                                             EXPECT_FALSE(end_) << "ended twice";
                                             end_ = std::move(status);
                                           });
  }
  void WaitForTheEnd() {
    ASSERT_TRUE(RunUntil([&] { return end_.has_value(); }));
  }

  std::shared_ptr<Seen> seen_;
  std::optional<Status> end_;
};
INSTANTIATE_LOOP_TEST(RpcStreamTest);

TEST_P(RpcStreamTest, IsEstablishedByHeadersAndEndsInOrder) {
  StartBoth();
  Open();
  ASSERT_TRUE(RunUntil([&] { return seen_->established == 1; }));
  EXPECT_EQ(seen_->messages, 0);
  for (int i = 0; i < 1000; ++i) server_->SendEvent("event");
  server_->EndStreams(grpc::Status::OK);
  WaitForTheEnd();
  EXPECT_TRUE(*end_);
  EXPECT_EQ(seen_->messages, 1000);
  EXPECT_EQ(seen_->established, 1);
  EXPECT_FALSE(seen_->early);
}

TEST_P(RpcStreamTest, IsEstablishedByTheFirstMessageOtherwise) {
  StartBoth();
  server_->set_headers_at_once(false);
  Open();
  ASSERT_TRUE(RunUntil([&] { return server_->streams() == 1; }));
  server_->SendEvent("event");
  ASSERT_TRUE(RunUntil([&] { return seen_->messages == 1; }));
  EXPECT_EQ(seen_->established, 1);
  EXPECT_FALSE(seen_->early);
}

TEST_P(RpcStreamTest, IsDrainedWhileTheShardIsBusy) {
  StartBoth();
  Open();
  ASSERT_TRUE(RunUntil([&] { return seen_->established == 1; }));
  for (int i = 0; i < 20'000; ++i) server_->SendEvent("event with a text of some length");
  const TimePoint limit = After(clock_.Now(), reactor::kPatience);
  while (seen_->messages < 20'000 && clock_.Now() < limit) std::this_thread::yield();  // no turn
  EXPECT_EQ(seen_->messages, 20'000);
}

TEST_P(RpcStreamTest, ARefusedOneIsNeverEstablished) {
  StartBoth();
  server_->RefuseStreams();
  Open();
  WaitForTheEnd();
  EXPECT_EQ(end_->error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(seen_->established, 0);
}

TEST_P(RpcStreamTest, CancelEndsIt) {
  StartBoth();
  CancelSource source;
  Context context;
  context.cancel = source.token();
  Open(context);
  ASSERT_TRUE(RunUntil([&] { return seen_->established == 1; }));
  source.Cancel();
  EXPECT_FALSE(end_);
  WaitForTheEnd();
  EXPECT_EQ(end_->error().code(), ErrorCode::kCancelled);
  EXPECT_EQ(seen_.use_count(), 1) << "the sink has gone with the call";
  ASSERT_TRUE(RunUntil([&] { return server_->streams() == 0; }));
}

TEST_P(RpcStreamTest, ServersThatGoEndItAndItCanBeOpenedAgain) {
  StartBoth();
  size_t descriptors = 0;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(RunUntil([&] {
      Open();
      return RunUntil([&] { return end_.has_value() || seen_->established == 1; }) && !end_;
    }));
    server_->SendEvent("event");
    ASSERT_TRUE(RunUntil([&] { return seen_->messages == 1; }));
    server_->Kill();
    WaitForTheEnd();
    EXPECT_FALSE(*end_);
    EXPECT_EQ(end_->error().code(), ErrorCode::kUnavailable);
    server_.reset();
    if (i == 4) descriptors = reactor::OpenDescriptors();
    if (i == 9) {  // one with which a connection is tried comes and goes
      EXPECT_TRUE(RunUntil([&] { return reactor::OpenDescriptors() <= descriptors; }));
    }
    StartServer();
    endpoint_->TryConnectNow();
  }
}

TEST_P(RpcStreamTest, AListInPartsIsTakenTogether) {
  StartBoth();
  v1::StreamContainersRequest request;
  request.mutable_filter()->set_id("500");
  const auto fold = [](std::vector<std::string>& all,
                       v1::StreamContainersResponse& part) -> Status {
    for (const v1::Container& container : part.containers()) all.push_back(container.id());
    return Unit{};
  };
  std::optional<Result<std::vector<std::string>>> result;
  CallForAll<v1::StreamContainersResponse, std::vector<std::string>>(
      *client_, {}, kList, request, fold,
      [&](Result<std::vector<std::string>> r) { result = std::move(r); });
  ASSERT_TRUE(RunUntil([&] { return result.has_value(); }));
  ASSERT_EQ((*result)->size(), 500u);
  EXPECT_EQ((*result)->front(), "499");
  EXPECT_EQ((*result)->back(), "0");
}

TEST_P(RpcStreamTest, AFaultInAPartEndsTheList) {
  StartBoth();
  v1::StreamContainersRequest request;
  request.mutable_filter()->set_id("100000");
  std::optional<Result<int>> result;
  CallForAll<v1::StreamContainersResponse, int>(
      *client_, {}, kList, request,
      [](int& count, v1::StreamContainersResponse&) -> Status {
        if (++count == 3) return Error(ErrorCode::kCorrupt, "the third is odd");
        return Unit{};
      },
      [&](Result<int> r) { result = std::move(r); });
  ASSERT_TRUE(RunUntil([&] { return result.has_value(); }));
  EXPECT_EQ(result->error(), Error(ErrorCode::kCorrupt, "the third is odd"));
}

}  // namespace
}  // namespace denselet::rpc
