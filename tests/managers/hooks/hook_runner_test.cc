// Hooks on a simulated loop: a scripted runtime for commands, a server of ours for requests.
#include "managers/hooks/hook_runner.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "tests/fakes/scripted_runtime.h"
#include "tests/managers/source/manifest_server.h"
#include "tests/sim/world.h"

namespace denselet::managers {
namespace {

class HookRunnerTest : public testing::Test {
 protected:
  ~HookRunnerTest() override { runner_.reset(); }

  // Starts the hook of the container "c"; what came of it is in result_.
  void Start(const std::string& handler, Context context = {}) {
    kube::core::Pod pod;
    const std::string json = R"({"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":{
      "containers":[{"name":"c","lifecycle":{"preStop":)" +
                             handler + "}}]}}";
    ASSERT_TRUE(kube::DecodeJson(json, pod).ok()) << json;
    const Result<kube::PodRef> at_rest = kube::PodAtRest::FromPod(pod);
    ASSERT_TRUE(at_rest);
    result_.reset();
    runner_->Run(context, sync::HookKind::kPreStop, *at_rest, "c", ContainerId("id"), {"127.0.0.1"},
                 [this](Result<sync::HookOutcome> outcome) { result_ = std::move(outcome); });
    EXPECT_FALSE(result_) << "answered inside the call";
  }
  void RunFor(Duration time) { world_.RunUntil(After(world_.clock().Now(), time)); }
  std::string Said() const {
    if (!result_) return "(nothing)";
    return *result_ ? "ok" : result_->error().message();
  }
  Context Until(Duration time) {
    Context context;
    context.deadline = After(world_.clock().Now(), time);
    return context;
  }

  sim::World world_{{.seed = 1, .shards = 1}};
  tests::ScriptedRuntime runtime_{world_.loop(0)};
  std::vector<std::string> looked_up_;
  std::unique_ptr<HookRunner> runner_ =
      std::make_unique<HookRunner>(world_.loop(0), runtime_,
                                   [this](const Context&, const std::string& host, uint16_t,
                                          reactor::Done<std::vector<net::Address>> done) {
                                     looked_up_.push_back(host);
                                     world_.loop(0).Post([done = std::move(done)]() mutable {
                                       done(Error(ErrorCode::kNotFound, "no such host"));
                                     });
                                   });
  std::optional<Result<sync::HookOutcome>> result_;
};

TEST_F(HookRunnerTest, ACommandSucceedsWithExitCode0) {
  Start(R"({"exec":{"command":["stop","now"]}})");
  RunFor(Seconds(1));
  EXPECT_EQ(Said(), "ok");
  EXPECT_EQ(runtime_.commands, (std::vector<std::vector<std::string>>{{"stop", "now"}}));
}

TEST_F(HookRunnerTest, ACommandThatFailsSaysHow) {
  runtime_.exec = sync::ExecResult{.exit_code = 3, .output = "no such service"};
  Start(R"({"exec":{"command":["stop","now"]}})");
  RunFor(Seconds(1));
  EXPECT_EQ(
      Said(),
      "Exec lifecycle hook ([stop now]) for Container \"c\" in Pod \"p_n(u)\" failed - error: "
      "command 'stop now' exited with 3: no such service, message: \"no such service\"");
  runtime_.exec = sync::ExecResult{.exit_code = 1, .output = "a\tb\n\"no\"\x01", .errors_from = 4};
  Start(R"({"exec":{"command":["stop"]}})");
  RunFor(Seconds(1));
  EXPECT_EQ(Said(),
            "Exec lifecycle hook ([stop]) for Container \"c\" in Pod \"p_n(u)\" failed - error: "
            "command 'stop' exited with 1: \"no\"\x01, message: \"a\\tb\\n\\\"no\\\"\\x01\"");
  runtime_.exec = Error(ErrorCode::kNotFound, "no such container");
  Start(R"({"exec":{"command":["stop"]}})");
  RunFor(Seconds(1));
  EXPECT_EQ(
      Said(),
      "Exec lifecycle hook ([stop]) for Container \"c\" in Pod \"p_n(u)\" failed - error: no such "
      "container, message: \"\"");
}

TEST_F(HookRunnerTest, ASleepTakesItsTime) {
  Start(R"({"sleep":{"seconds":5}})");
  RunFor(Milliseconds(4900));
  EXPECT_EQ(Said(), "(nothing)");
  RunFor(Milliseconds(200));
  EXPECT_EQ(Said(), "ok");
}

TEST_F(HookRunnerTest, ASleepEndsAtTheDeadline) {
  Start(R"({"sleep":{"seconds":50}})", Until(Seconds(2)));
  RunFor(Seconds(3));
  ASSERT_TRUE(result_);
  EXPECT_EQ(result_->error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(Said(),
            "Sleep lifecycle hook (50) for Container \"c\" in Pod \"p_n(u)\" failed - error: "
            "container terminated before sleep hook finished");
}

TEST_F(HookRunnerTest, ACancelledSleepAnswersInALaterTurn) {
  CancelSource cancel;
  Context context;
  context.cancel = cancel.token();
  Start(R"({"sleep":{"seconds":50}})", context);
  RunFor(Seconds(1));
  cancel.Cancel();
  EXPECT_FALSE(result_);
  RunFor(Milliseconds(10));
  ASSERT_TRUE(result_);
  EXPECT_EQ(result_->error().code(), ErrorCode::kCancelled);
}

TEST_F(HookRunnerTest, ARunnerThatGoesTakesItsSleepsWithIt) {
  CancelSource cancel;
  Context context;
  context.cancel = cancel.token();
  Start(R"({"sleep":{"seconds":5}})", context);
  runner_.reset();
  cancel.Cancel();
  RunFor(Seconds(10));
  EXPECT_EQ(Said(), "(nothing)");
}

TEST_F(HookRunnerTest, AnAnswerOfAnyStatusIsASuccess) {
  ManifestServer server(world_.loop(0));
  server.status = 500;
  server.body = "down";
  Start(R"({"httpGet":{"path":"/bye","port":)" + std::to_string(server.address().port()) + "}}");
  RunFor(Seconds(5));
  EXPECT_EQ(Said(), "ok");
  ASSERT_EQ(server.requests.size(), 1u);
  EXPECT_EQ(server.requests[0].target, "/bye");
}

TEST_F(HookRunnerTest, ARequestThatNobodyAnswersFails) {
  Start(R"({"httpGet":{"port":1}})", Until(Seconds(30)));
  RunFor(Seconds(31));
  ASSERT_TRUE(result_);
  EXPECT_FALSE(*result_);
}

TEST_F(HookRunnerTest, AServerWithoutTlsIsAskedAgainWithoutAndWithoutCredentials) {
  ManifestServer server(world_.loop(0));
  const std::string port = std::to_string(server.address().port());
  Start(R"({"httpGet":{"path":"/bye","scheme":"HTTPS","httpHeaders":[)"
        R"({"name":"authorization","value":"secret"},{"name":"X-A","value":"a"}],"port":)" +
        port + "}}");
  RunFor(Seconds(5));
  ASSERT_EQ(Said(), "ok");
  EXPECT_EQ((*result_)->answered_without_tls, "127.0.0.1:" + port);
  ASSERT_EQ(server.requests.size(), 1u);
  EXPECT_EQ(server.requests[0].target, "/bye");
  EXPECT_EQ(server.requests[0].headers.Find("Authorization"), nullptr);
  EXPECT_NE(server.requests[0].headers.Find("X-A"), nullptr);
}

TEST_F(HookRunnerTest, AnAnswerOverHttpIsNoFallback) {
  ManifestServer server(world_.loop(0));
  Start(R"({"httpGet":{"httpHeaders":[{"name":"Authorization","value":"secret"}],"port":)" +
        std::to_string(server.address().port()) + "}}");
  RunFor(Seconds(5));
  ASSERT_EQ(Said(), "ok");
  EXPECT_EQ((*result_)->answered_without_tls, "");
  ASSERT_EQ(server.requests.size(), 1u);
  EXPECT_NE(server.requests[0].headers.Find("Authorization"), nullptr);
}

TEST_F(HookRunnerTest, ANameIsLookedUp) {
  Start(R"({"httpGet":{"path":"bye","port":80,"host":"elsewhere"}})");
  RunFor(Seconds(1));
  EXPECT_EQ(
      Said(),
      "HTTP lifecycle hook (bye) for Container \"c\" in Pod \"p_n(u)\" failed - error: no such "
      "host");
  EXPECT_EQ(looked_up_, std::vector<std::string>{"elsewhere"});
}

TEST_F(HookRunnerTest, AHookThatCannotBeReadFails) {
  Start(R"({"tcpSocket":{"port":80}})");
  RunFor(Seconds(1));
  EXPECT_EQ(Said(), "Cannot run handler: invalid handler: neither exec, httpGet nor sleep");
}

}  // namespace
}  // namespace denselet::managers
