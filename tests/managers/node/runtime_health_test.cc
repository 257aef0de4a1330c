#include "managers/node/runtime_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "managers/node/node_conditions.h"
#include "tests/fakes/scripted_runtime.h"
#include "tests/managers/manager_fixture.h"

namespace denselet::node {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

sync::RuntimeStatus Well() {
  return {.runtime_ready = sync::RuntimeCondition{.met = true},
          .network_ready = sync::RuntimeCondition{.met = true},
          .handlers = {{.name = "runc", .user_namespaces = true}},
          .supplemental_groups_policy = true};
}

class RuntimeHealthTest : public tests::ManagerTest {
 protected:
  auto LinesWith(const std::string& text) const {
    return std::ranges::count_if(sink_.lines(), [&text](const CapturingLogSink::Line& line) {
      return line.text.find(text) != std::string::npos;
    });
  }

  tests::ScriptedRuntime runtime_{loop()};
  int first_ready_ = 0;
  RuntimeHealth health_{loop(), runtime_, log(), [this] { ++first_ready_; }};
};

TEST_F(RuntimeHealthTest, NothingIsKnownBeforeTheFirstAnswer) {
  EXPECT_EQ(health_.input().synced_at, std::nullopt);
  EXPECT_EQ(health_.input().network_error, "network state unknown");
  EXPECT_EQ(health_.input().name, "");
}

TEST_F(RuntimeHealthTest, AReadyRuntimeIsTakenWhole) {
  runtime_.status = Well();
  runtime_.version = sync::RuntimeVersion{.name = "containerd", .version = "1.7.24"};
  health_.Start();
  RunFor(Seconds(1));
  EXPECT_EQ(first_ready_, 1);
  EXPECT_TRUE(health_.input().synced_at);
  EXPECT_THAT(health_.input().errors, IsEmpty());
  EXPECT_EQ(health_.input().network_error, std::nullopt);
  EXPECT_EQ(health_.input().name, "containerd");
  EXPECT_EQ(health_.input().version, "1.7.24");
  ASSERT_EQ(health_.input().handlers.size(), 1u);
  EXPECT_TRUE(health_.input().handlers[0].user_namespaces);
  EXPECT_EQ(health_.input().supplemental_groups_policy, true);
}

TEST_F(RuntimeHealthTest, IsAskedOftenUntilReadyAndThenEveryFiveSeconds) {
  runtime_.status = Error(ErrorCode::kUnavailable, "nobody is there");
  health_.Start();
  RunFor(Seconds(1));
  EXPECT_GE(runtime_.status_asked, 9);
  EXPECT_LE(runtime_.status_asked, 12);
  EXPECT_EQ(runtime_.version_asked, 0);
  runtime_.status = Well();
  RunFor(Seconds(1));
  EXPECT_EQ(first_ready_, 1);
  const int asked = runtime_.status_asked;
  RunFor(Seconds(50));
  EXPECT_EQ(runtime_.status_asked, asked + 10);
  EXPECT_EQ(first_ready_, 1);
  EXPECT_GE(runtime_.version_asked, 5);
  EXPECT_LE(runtime_.version_asked, 6);
}

TEST_F(RuntimeHealthTest, IsNotAskedOftenForEver) {
  runtime_.status = Error(ErrorCode::kUnavailable, "nobody is there");
  health_.Start();
  RunFor(RuntimeHealth::kFastTimeMax);
  const int asked = runtime_.status_asked;
  RunFor(Seconds(50));
  EXPECT_LE(runtime_.status_asked, asked + 51);
  runtime_.status = Well();
  RunFor(RuntimeHealth::kPeriod);
  EXPECT_TRUE(health_.input().synced_at);
}

TEST_F(RuntimeHealthTest, ARuntimeOfAnotherVersionIsNoneThatCanBeUsed) {
  runtime_.status = Well();
  health_.Start();
  RunFor(Seconds(20));
  EXPECT_THAT(health_.input().errors, IsEmpty());
  runtime_.version = Error(ErrorCode::kCorrupt, "the runtime speaks version \"0.2.0\"");
  RunFor(Seconds(20));
  EXPECT_THAT(
      health_.input().errors,
      ElementsAre("container runtime cannot be used: the runtime speaks version \"0.2.0\""));
  RunFor(RuntimeHealth::kPeriod);
  EXPECT_EQ(health_.input().errors.size(), 1u) << "a good status does not mend it";
  runtime_.version = sync::RuntimeVersion{.name = "containerd", .version = "2"};
  RunFor(Seconds(20));
  EXPECT_THAT(health_.input().errors, IsEmpty());
  EXPECT_EQ(health_.input().version, "2");
}

TEST_F(RuntimeHealthTest, AVersionThatIsNotToldIsMissedInTheLogOnceAndSoIsItsReturn) {
  runtime_.status = Well();
  health_.Start();
  RunFor(Seconds(1));
  runtime_.version.reset();  // hangs, and the status does not
  RunFor(Minutes(5));
  EXPECT_EQ(LinesWith("Container runtime did not tell its version"), 1);
  EXPECT_EQ(LinesWith("tells its version again"), 0);
  runtime_.version = sync::RuntimeVersion{.name = "containerd", .version = "2"};
  RunFor(RuntimeHealth::kAnswerTimeMax + RuntimeHealth::kPeriod);
  EXPECT_EQ(LinesWith("tells its version again"), 1);
}

TEST_F(RuntimeHealthTest, WhatIsNotReadyIsSaidInTheKubeletsWords) {
  sync::RuntimeStatus status = Well();
  status.runtime_ready = sync::RuntimeCondition{.reason = "Starting", .message = "wait"};
  status.network_ready.reset();
  runtime_.status = status;
  health_.Start();
  RunFor(Seconds(1));
  EXPECT_THAT(health_.input().errors,
              ElementsAre("container runtime not ready: RuntimeReady=false reason:Starting "
                          "message:wait"));
  EXPECT_EQ(health_.input().network_error, "container runtime network not ready: <nil>");
  EXPECT_EQ(health_.input().synced_at, std::nullopt);
  EXPECT_THAT(health_.input().handlers, IsEmpty());
  EXPECT_EQ(first_ready_, 0);

  status = Well();
  status.network_ready =
      sync::RuntimeCondition{.reason = "NetworkPluginNotReady", .message = "no CNI"};
  runtime_.status = status;
  RunFor(Seconds(1));
  EXPECT_TRUE(health_.input().synced_at);  // the runtime is fine
  EXPECT_EQ(health_.input().network_error,
            "container runtime network not ready: NetworkReady=false "
            "reason:NetworkPluginNotReady message:no CNI");
}

TEST_F(RuntimeHealthTest, ThatTheNodeIsNotReadyForItsSakeIsToldWhenItIs) {
  for (const bool hangs : {false, true}) {
    RuntimeHealth health(loop(), runtime_, log(), [] {});
    std::vector<TimePoint> told;
    health.WhenTroubled([&](const sync::RuntimeTrouble&) { told.push_back(loop().Now()); });
    runtime_.status = Well();
    health.Start();
    RunFor(Seconds(6));
    const TimePoint synced = *health.input().synced_at;
    runtime_.status.reset();
    if (!hangs) runtime_.status = Error(ErrorCode::kUnavailable, "it is gone");
    RunFor(Minutes(2));
    ASSERT_EQ(told.size(), hangs ? 2u : 3u) << "well, gone where it is known, and too long";
    EXPECT_GE(told.back() - synced, kRuntimeSyncAgeMax);
    EXPECT_LE(told.back() - synced,
              kRuntimeSyncAgeMax + RuntimeHealth::kAnswerTimeMax + RuntimeHealth::kPeriod);
    runtime_.status = Well();
    RunFor(RuntimeHealth::kAnswerTimeMax + RuntimeHealth::kPeriod);
    EXPECT_EQ(told.size(), hangs ? 3u : 4u);
  }
}

TEST_F(RuntimeHealthTest, ARuntimeThatFallsSilentGrowsOldAndComesBack) {
  int answered_again = 0;
  health_.WhenAnswersAgain([&] { ++answered_again; });
  runtime_.status = Well();
  health_.Start();
  RunFor(Seconds(1));
  const TimePoint synced = *health_.input().synced_at;
  runtime_.status.reset();  // hangs
  RunFor(Seconds(60));
  // node_conditions.h makes "container runtime is down" of a time this old.
  EXPECT_LE(*health_.input().synced_at - synced, RuntimeHealth::kPeriod);
  ASSERT_TRUE(health_.unanswered());
  EXPECT_EQ(health_.unanswered()->code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(answered_again, 0);
  runtime_.status = Well();
  RunFor(RuntimeHealth::kAnswerTimeMax + RuntimeHealth::kPeriod);
  EXPECT_GT(*health_.input().synced_at - synced, Seconds(60));
  EXPECT_EQ(health_.unanswered(), std::nullopt);
  EXPECT_EQ(answered_again, 1);
}

}  // namespace
}  // namespace denselet::node
