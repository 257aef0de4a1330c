#include "kube/client/request_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/sim/world.h"

namespace denselet::kube {
namespace {

class RequestLineTest : public testing::Test {
 protected:
  void Make(double per_second, uint32_t burst) {
    line_.emplace(world_.loop(0), "kubeAPIQPS", per_second, burst);
  }
  RequestLine::Place Enter(const std::string& name, Priority priority = Priority::kNormal) {
    return line_->Enter(priority, [this, name] { gone_.push_back(name); });
  }
  void RunFor(Duration time) { world_.RunUntil(After(world_.clock().Now(), time)); }

  sim::World world_{{.seed = 1, .shards = 1}};
  std::vector<std::string> gone_;
  std::optional<RequestLine> line_;
};

TEST_F(RequestLineTest, NobodyGoesInsideTheCallThatEntered) {
  Make(0, 0);
  Enter("a");
  EXPECT_TRUE(gone_.empty());
  EXPECT_EQ(line_->size(), 0U);
  RunFor(Milliseconds(1));
  EXPECT_THAT(gone_, testing::ElementsAre("a"));
}

TEST_F(RequestLineTest, ABurstOfNoneStillLetsThemGo) {
  Make(10, 0);
  for (int i = 0; i < 20; ++i) Enter(std::to_string(i));
  RunFor(Seconds(1));
  EXPECT_GE(gone_.size(), 10U);
  EXPECT_LE(gone_.size(), 11U);
  RunFor(Seconds(1));
  EXPECT_EQ(gone_.size(), 20U);
}

TEST_F(RequestLineTest, UrgentOnesGoFirstAndTheOldestAfterAFew) {
  Make(10, 1);
  Enter("first");
  Enter("old", Priority::kBackground);
  Enter("older than urgent");
  for (int i = 0; i < 6; ++i) Enter("urgent", Priority::kCritical);
  RunFor(Seconds(2));
  EXPECT_THAT(gone_, testing::ElementsAre("first", "urgent", "urgent", "urgent", "urgent", "old",
                                          "urgent", "urgent", "older than urgent"));
}

TEST_F(RequestLineTest, WhoLeavesTakesNoTurn) {
  Make(10, 1);
  Enter("first");
  const RequestLine::Place gone = Enter("gone", Priority::kCritical);
  Enter("last");
  line_->Leave(gone);
  EXPECT_EQ(line_->size(), 1U);
  RunFor(Milliseconds(101));
  EXPECT_THAT(gone_, testing::ElementsAre("first", "last"));
}

// Its turn has come, and it has not gone yet: those behind it need not wait for another.
TEST_F(RequestLineTest, ATurnThatIsNotUsedIsTheNextOnes) {
  Make(1, 1);
  const RequestLine::Place first = Enter("nobody any more");
  Enter("next");
  EXPECT_EQ(line_->size(), 1U);
  line_->Leave(first);
  RunFor(Milliseconds(10));
  EXPECT_EQ(line_->size(), 0U);
  EXPECT_EQ(gone_.back(), "next");
}

TEST_F(RequestLineTest, WhatIsToldOfWaitingInVainBlamesOnlyOurOwnLimit) {
  Make(2.5, 1);
  for (int i = 0; i < 4; ++i) Enter(std::to_string(i));
  const Error error = line_->TooLate();
  EXPECT_EQ(error.code(), ErrorCode::kOverloaded);
  EXPECT_FALSE(error.answered());
  EXPECT_THAT(error.message(), testing::HasSubstr("kubeAPIQPS (2.5 a second)"));
  EXPECT_THAT(error.message(), testing::HasSubstr("3 other requests of ours"));
}

TEST_F(RequestLineTest, EndsWhileSomeWait) {
  Make(1, 1);
  for (int i = 0; i < 10; ++i) Enter(std::to_string(i));
  line_.reset();
  RunFor(Minutes(1));
  EXPECT_LE(gone_.size(), 1U);
}

}  // namespace
}  // namespace denselet::kube
