// A shard of each backend on the test's own thread, an endpoint in a folder of its own, and a
// client.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "rpc/call.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/integration/loop_fixture.h"
#include "tests/integration/rpc/scripted_server.h"

namespace denselet::rpc {

enum TestClass : ClassId {
  kPlain,
  kSerial,
  kStreams,
  kShort,
  kHasty,
  kStuckSoon,
  kSlowSoon,
  kClasses
};

inline constexpr LimiterOptions kWide{.limit_min = 64,
                                      .limit_max = 64,
                                      .limit_start = 64,
                                      .queue_max = 4096,
                                      .slow_after = Hours(1),
                                      .stuck_after = Hours(1)};
inline constexpr LimiterOptions kOne{.limit_min = 1,
                                     .limit_max = 1,
                                     .limit_start = 1,
                                     .queue_max = 4,
                                     .slow_after = Hours(1),
                                     .stuck_after = Hours(1)};
inline constexpr LimiterOptions kAllIsSlow{.limit_min = 2,
                                           .limit_max = 16,
                                           .limit_start = 8,
                                           .queue_max = 64,
                                           .slow_after = Duration(1),
                                           .stuck_after = Hours(1)};
inline constexpr LimiterOptions kFewAndStuckSoon{.limit_min = 2,
                                                 .limit_max = 8,
                                                 .limit_start = 2,
                                                 .queue_max = 64,
                                                 .slow_after = Hours(1),
                                                 .stuck_after = Milliseconds(20)};

inline constexpr ClassOptions kTestClasses[kClasses] = {
    {.name = "plain", .limits = kWide},
    {.name = "serial", .limits = kOne},
    {.name = "streams", .deadline = Duration::max(), .limits = kWide},
    {.name = "short",
     .deadline = Milliseconds(30),
     .wait_max = Milliseconds(30),
     .limits = {.limit_min = 1, .limit_max = 1, .limit_start = 1, .stuck_after = Hours(1)}},
    {.name = "hasty", .limits = kAllIsSlow},
    {.name = "stuck_soon", .limits = kFewAndStuckSoon},
    {.name = "slow_soon", .patience = Milliseconds(5), .limits = kWide},
};

inline constexpr const char* kVersionPath = "/runtime.v1.RuntimeService/Version";
inline constexpr const char* kStopPath = "/runtime.v1.RuntimeService/StopContainer";

inline constexpr Method kRead{kVersionPath, "read", 0, kPlain, Effect::kRead};
inline constexpr Method kWrite{kStopPath, "write", 1, kPlain, Effect::kMutates};
inline constexpr Method kSerialRead{kVersionPath, "serial_read", 2, kSerial, Effect::kRead};
inline constexpr Method kSerialWrite{kStopPath, "serial_write", 3, kSerial, Effect::kMutates};
inline constexpr Method kShortRead{kVersionPath, "short_read", 4, kShort, Effect::kRead};
inline constexpr Method kHastyRead{kVersionPath, "hasty_read", 5, kHasty, Effect::kRead};
inline constexpr Method kStuckRead{kVersionPath, "stuck_read", 6, kStuckSoon, Effect::kRead};
inline constexpr Method kEvents{"/runtime.v1.RuntimeService/GetContainerEvents", "events", 7,
                                kStreams, Effect::kRead};
inline constexpr Method kList{"/runtime.v1.RuntimeService/StreamContainers", "list", 8, kPlain,
                              Effect::kRead};
inline constexpr Method kSlowRead{kVersionPath, "slow_read", 9, kSlowSoon, Effect::kRead};

// A call's end as a test sees it.
struct Ending {
  int times = 0;
  std::optional<Result<std::string>> result;

  bool ok() const { return times == 1 && static_cast<bool>(*result); }
  ErrorCode code() const { return result->error().code(); }
};

class RpcTest : public reactor::ShardTest, public CallMetrics {
 protected:
  RpcTest() {
    std::string folder = "/tmp/denselet-rpc-XXXXXX";
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    socket_path_ = folder + "/s";
  }
  ~RpcTest() override {
    client_.reset();
    // Answers of calls that were left behind come by here.
    if (endpoint_ != nullptr) {
      EXPECT_TRUE(RunUntil([&] { return endpoint_->calls_held() == 0; }));
    }
    endpoint_.reset();
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void StartServer() { server_ = std::make_unique<ScriptedServer>(socket_path_); }
  void Connect(EndpointOptions options = {}) {
    options.address = "unix://" + socket_path_;
    options.name = "test";
    auto made = Endpoint::Make(options, clock_);
    ASSERT_TRUE(made) << made.error().message();
    endpoint_ = std::move(*made);
    MakeClient();
  }
  void MakeClient() {
    client_ = std::make_unique<Client>(shard_, *endpoint_, kTestClasses, random_, metrics_, this,
                                       Logger(output_));
  }
  void StartBoth() {
    StartServer();
    Connect();
  }

  // The answer is the text itself.
  void Ask(const Method& method, const std::string& text, Ending& ending,
           const Context& context = {}, const CallOptions& options = {}) {
    auto done = [&ending](Result<std::string> result) {
      ++ending.times;
      ending.result = std::move(result);
    };
    if (method.effect == Effect::kRead) {
      v1::VersionRequest request;
      request.set_version(text);
      return Call<v1::VersionResponse, std::string>(
          *client_, context, method, std::move(request),
          [](v1::VersionResponse& answer) -> Result<std::string> { return answer.version(); },
          std::move(done), options);
    }
    v1::StopContainerRequest request;
    request.set_container_id(text);
    Call<v1::StopContainerResponse, std::string>(
        *client_, context, method, std::move(request),
        [text](v1::StopContainerResponse&) -> Result<std::string> { return text; }, std::move(done),
        options);
  }
  // Waits for it.
  Ending Ask(const Method& method, const std::string& text, const Context& context = {}) {
    Ending ending;
    Ask(method, text, ending, context);
    EXPECT_EQ(ending.times, 0) << "ended inside the call";
    EXPECT_TRUE(RunUntil([&] { return ending.times > 0; }));
    EXPECT_EQ(ending.times, 1);
    return ending;
  }
  Context Within(Duration limit) { return Context{}.WithTimeout(loop().Now(), Patiently(limit)); }

  size_t Arrived() const { return server_->arrived().size(); }

  MethodCells CellsOf(const Method& method) override {
    Cells& cells = cells_[method.name];
    return {&cells.calls, &cells.errors, &cells.latency};
  }
  struct Cells {
    CounterCell calls, errors;
    HistogramCell latency{kDefaultBuckets};
  };

  std::string folder_, socket_path_;
  SeededRandom random_{5};
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_{.format = {}, .clock = clock_, .verbosity = verbosity_, .sink = sink_};
  MetricSet<RpcMetric> metrics_;
  std::map<std::string_view, Cells> cells_;
  std::unique_ptr<ScriptedServer> server_;
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<Client> client_;
};

}  // namespace denselet::rpc
