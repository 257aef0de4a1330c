#include "rpc/breaker.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace denselet::rpc {
namespace {

constexpr TimePoint At(int64_t ms) { return TimePoint(Milliseconds(ms)); }

// Rows of what happens when, and what is seen after it.
struct Step {
  enum class What : uint8_t { kEnter, kReachable, kUnreachable, kLook };
  int64_t at_ms;
  What what;
  bool allowed;  // of kEnter; of kLook: not refused
  BreakerState state;
};

void Walk(const std::vector<Step>& steps) {
  Breaker breaker({.failures_to_open = 3, .probe_every = Milliseconds(100)});
  for (size_t i = 0; i < steps.size(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    const Step& step = steps[i];
    switch (step.what) {
      case Step::What::kEnter:
        EXPECT_EQ(breaker.Enter(At(step.at_ms)), step.allowed);
        break;
      case Step::What::kReachable:
        breaker.OnReachable(At(step.at_ms));
        break;
      case Step::What::kUnreachable:
        breaker.OnUnreachable(At(step.at_ms));
        break;
      case Step::What::kLook:
        EXPECT_EQ(!breaker.Refuses(At(step.at_ms)), step.allowed);
        break;
    }
    EXPECT_EQ(breaker.view().state, step.state) << BreakerStateName(breaker.view().state);
  }
}

using enum Step::What;
using enum BreakerState;

TEST(Breaker, OpensAfterFailuresInARowOnly) {
  Walk({{1, kUnreachable, true, kClosed},
        {2, kUnreachable, true, kClosed},
        {3, kReachable, true, kClosed},
        {4, kUnreachable, true, kClosed},
        {5, kUnreachable, true, kClosed},
        {6, kEnter, true, kClosed},
        {7, kUnreachable, true, kOpen},
        {8, kEnter, false, kOpen}});
}

TEST(Breaker, ProbesWithOneCallAndClosesWhenItSucceeds) {
  Walk({{1, kUnreachable, true, kClosed},
        {1, kUnreachable, true, kClosed},
        {1, kUnreachable, true, kOpen},
        {100, kLook, false, kOpen},
        {100, kEnter, false, kOpen},
        {101, kLook, true, kOpen},
        {101, kEnter, true, kHalfOpen},
        {101, kEnter, false, kHalfOpen},
        {150, kReachable, true, kClosed},
        {150, kEnter, true, kClosed},
        {150, kEnter, true, kClosed}});
}

TEST(Breaker, OpensAgainWhenTheProbeFails) {
  Walk({{1, kUnreachable, true, kClosed},
        {1, kUnreachable, true, kClosed},
        {1, kUnreachable, true, kOpen},
        {101, kEnter, true, kHalfOpen},
        {120, kUnreachable, true, kOpen},
        {219, kEnter, false, kOpen},
        {220, kEnter, true, kHalfOpen}});
}

TEST(Breaker, AHungProbeIsFollowedByAnother) {
  Walk({{1, kUnreachable, true, kClosed},
        {1, kUnreachable, true, kClosed},
        {1, kUnreachable, true, kOpen},
        {101, kEnter, true, kHalfOpen},
        {200, kEnter, false, kHalfOpen},
        {201, kEnter, true, kHalfOpen},
        {202, kReachable, true, kClosed}});
}

TEST(Breaker, LateFailuresDoNotPutOffTheProbe) {
  Walk({{1, kUnreachable, true, kClosed},
        {1, kUnreachable, true, kClosed},
        {1, kUnreachable, true, kOpen},
        {90, kUnreachable, true, kOpen},
        {101, kEnter, true, kHalfOpen}});
}

TEST(Breaker, ASignOfLifeOfAnEarlierCallCloses) {
  Walk({{1, kUnreachable, true, kClosed},
        {1, kUnreachable, true, kClosed},
        {1, kUnreachable, true, kOpen},
        {2, kReachable, true, kClosed}});
}

TEST(Breaker, ShowsSinceWhenAndHowOften) {
  Breaker breaker({.failures_to_open = 2, .probe_every = Milliseconds(100)});
  breaker.OnUnreachable(At(5));
  EXPECT_EQ(breaker.view().failures, 1u);
  breaker.OnUnreachable(At(7));
  EXPECT_EQ(breaker.view().since, At(7));
  EXPECT_EQ(breaker.view().openings, 1u);
  ASSERT_TRUE(breaker.Enter(At(107)));
  breaker.OnUnreachable(At(110));
  EXPECT_EQ(breaker.view().since, At(7)) << "still the same outage";
  EXPECT_EQ(breaker.view().openings, 1u);
  breaker.OnReachable(At(200));
  EXPECT_EQ(breaker.view().since, At(200));
  EXPECT_EQ(breaker.view().failures, 0u);
}

}  // namespace
}  // namespace denselet::rpc
