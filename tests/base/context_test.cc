#include "base/context.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/check.h"

namespace denselet {
namespace {

constexpr TimePoint kNow{Seconds(100)};

// Says what it was told to, in order.
class ScriptedRandom final : public Random {
 public:
  explicit ScriptedRandom(std::vector<uint64_t> script) : script_(std::move(script)) {}

  uint64_t Next() override {
    CHECK(used_ < script_.size());
    return script_[used_++];
  }
  size_t used() const { return used_; }

 private:
  std::vector<uint64_t> script_;
  size_t used_ = 0;
};

// The example of the W3C recommendation.
Trace ExampleTrace() {
  Trace trace;
  trace.id = {0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd,
              0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c};
  trace.span = 0xb7ad6b7169203331;
  return trace;
}

Context WithDeadline(TimePoint deadline) {
  Context context;
  context.deadline = deadline;
  return context;
}

TEST(Context, DefaultHasNoDeadlineAndIsWanted) {
  const Context context;
  EXPECT_EQ(context.deadline, kNever);
  EXPECT_FALSE(context.Expired(kNow));
  EXPECT_EQ(context.Left(kNow), Duration::max());
  EXPECT_EQ(context.priority, Priority::kNormal);
  EXPECT_FALSE(context.cancel.cancelled());
  EXPECT_FALSE(context.trace.valid());
}

TEST(Context, ExpiresAtItsDeadline) {
  const Context context = WithDeadline(kNow);
  EXPECT_FALSE(context.Expired(kNow - Duration(1)));
  EXPECT_TRUE(context.Expired(kNow));
  EXPECT_TRUE(context.Expired(kNow + Duration(1)));
}

TEST(Context, LeftShrinksToZeroAndStaysThere) {
  const Context context = WithDeadline(kNow + Seconds(3));
  EXPECT_EQ(context.Left(kNow), Seconds(3));
  EXPECT_EQ(context.Left(kNow + Seconds(2)), Seconds(1));
  EXPECT_EQ(context.Left(kNow + Seconds(3)), Duration::zero());
  EXPECT_EQ(context.Left(kNow + Seconds(4)), Duration::zero());
}

TEST(Context, NothingIsLeftOfADeadlineAtTheBeginningOfTime) {
  EXPECT_EQ(WithDeadline(TimePoint::min()).Left(kNow), Duration::zero());
  const Context context = Context().WithTimeout(kNow, Duration::min());
  EXPECT_EQ(context.Left(kNow), Duration::zero());
  EXPECT_EQ(context.Left(kNow + Seconds(1)), Duration::zero());
}

TEST(Context, WithTimeoutShortens) {
  EXPECT_EQ(Context().WithTimeout(kNow, Seconds(5)).deadline, kNow + Seconds(5));
  EXPECT_EQ(WithDeadline(kNow + Seconds(9)).WithTimeout(kNow, Seconds(5)).deadline,
            kNow + Seconds(5));
}

TEST(Context, WithTimeoutNeverLengthens) {
  EXPECT_EQ(WithDeadline(kNow + Seconds(5)).WithTimeout(kNow, Seconds(9)).deadline,
            kNow + Seconds(5));
  EXPECT_EQ(WithDeadline(kNow + Seconds(5)).WithTimeout(kNow, Duration::max()).deadline,
            kNow + Seconds(5));
  EXPECT_EQ(WithDeadline(kNow - Seconds(5)).WithTimeout(kNow, Seconds(9)).deadline,
            kNow - Seconds(5));
}

TEST(Context, WithTimeoutIsTheEarlierOfBothForAnyNumbers) {
  SeededRandom random(5);
  // Anything from nanoseconds to the whole range, both signs.
  const auto any = [&random] {
    return Duration(static_cast<int64_t>(random.Next()) >> random.Below(63));
  };
  for (int i = 0; i < 10'000; ++i) {
    const TimePoint now{any()}, deadline{any()};
    const Duration limit = any();
    const TimePoint shorter = WithDeadline(deadline).WithTimeout(now, limit).deadline;
    ASSERT_LE(shorter, deadline);
    ASSERT_EQ(shorter, std::min(deadline, After(now, limit)));
  }
}

TEST(Context, TimeoutThatDoesNotFitIsNever) {
  const Context context = Context().WithTimeout(kNow, Duration::max());
  EXPECT_EQ(context.deadline, kNever);
  EXPECT_EQ(context.Left(kNow), Duration::max());
}

TEST(Context, TimeoutOfZeroOrLessIsExpiredAtOnce) {
  EXPECT_TRUE(Context().WithTimeout(kNow, Duration::zero()).Expired(kNow));
  EXPECT_TRUE(Context().WithTimeout(kNow, Seconds(-1)).Expired(kNow));
}

TEST(Context, WithTimeoutKeepsEverythingElse) {
  CancelSource source;
  Context context;
  context.priority = Priority::kCritical;
  context.cancel = source.token();
  context.trace = ExampleTrace();

  const Context shorter = context.WithTimeout(kNow, Seconds(5));
  EXPECT_EQ(shorter.priority, Priority::kCritical);
  EXPECT_EQ(shorter.trace, ExampleTrace());
  source.Cancel();
  EXPECT_TRUE(shorter.cancel.cancelled());
  EXPECT_EQ(context.deadline, kNever);
}

TEST(Context, WithSpanChangesTheSpanAndNothingElse) {
  CancelSource source;
  Context context = WithDeadline(kNow);
  context.priority = Priority::kReadiness;
  context.cancel = source.token();
  context.trace = ExampleTrace();

  ScriptedRandom random({7});
  const Context step = context.WithSpan(random);
  EXPECT_EQ(step.trace.id, ExampleTrace().id);
  EXPECT_EQ(step.trace.span, 7u);
  EXPECT_EQ(step.deadline, kNow);
  EXPECT_EQ(step.priority, Priority::kReadiness);
  source.Cancel();
  EXPECT_TRUE(step.cancel.cancelled());
  EXPECT_EQ(context.trace, ExampleTrace());
}

TEST(Priority, LowerIsMoreUrgent) {
  EXPECT_LT(Priority::kCritical, Priority::kReadiness);
  EXPECT_LT(Priority::kReadiness, Priority::kNormal);
  EXPECT_LT(Priority::kNormal, Priority::kBackground);
}

TEST(Trace, TraceParentIsAsTheRecommendationWritesIt) {
  EXPECT_EQ(ExampleTrace().TraceParent(),
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
}

TEST(Trace, TraceParentKeepsLeadingZeros) {
  Trace trace;
  trace.id[15] = 0x0f;
  trace.span = 1;
  EXPECT_EQ(trace.TraceParent(), "00-0000000000000000000000000000000f-0000000000000001-01");
}

TEST(Trace, WithoutAnIdOrASpanItIsNotValidAndHasNoTraceParent) {
  Trace no_id = ExampleTrace();
  no_id.id = {};
  EXPECT_FALSE(no_id.valid());
  EXPECT_EQ(no_id.TraceParent(), "");

  Trace no_span = ExampleTrace();
  no_span.span = 0;
  EXPECT_FALSE(no_span.valid());
  EXPECT_EQ(no_span.TraceParent(), "");

  EXPECT_FALSE(Trace().valid());
  EXPECT_EQ(Trace().TraceParent(), "");
}

TEST(Trace, StartTakesIdAndSpanFromTheRandomNumbers) {
  ScriptedRandom random({0x0706050403020100, 0x0f0e0d0c0b0a0908, 0xabcdef});
  const Trace trace = Trace::Start(random);
  EXPECT_EQ(trace.TraceParent(), "00-000102030405060708090a0b0c0d0e0f-0000000000abcdef-01");
}

TEST(Trace, StartIsTheSameFromTheSameSeedAndDifferentFromTheNextOne) {
  SeededRandom random(1), same(1);
  const Trace first = Trace::Start(random);
  EXPECT_TRUE(first.valid());
  EXPECT_EQ(first, Trace::Start(same));
  const Trace second = Trace::Start(random);
  EXPECT_NE(first.id, second.id);
  EXPECT_NE(first.span, second.span);
}

TEST(Trace, StartDrawsAgainWhenAllIsZero) {
  ScriptedRandom zero_id({0, 0, 5, 0, 1, 6});
  const Trace trace = Trace::Start(zero_id);
  EXPECT_TRUE(trace.valid());
  EXPECT_EQ(trace.span, 6u);
  EXPECT_EQ(zero_id.used(), 6u);

  ScriptedRandom zero_span({1, 2, 0, 0, 9});
  EXPECT_EQ(Trace::Start(zero_span).span, 9u);
  EXPECT_EQ(zero_span.used(), 5u);
}

TEST(Trace, ChildTellsTheSameStoryInAnotherSpan) {
  ScriptedRandom random({0, 0, 7});
  const Trace child = ExampleTrace().Child(random);
  EXPECT_EQ(child.id, ExampleTrace().id);
  EXPECT_EQ(child.span, 7u);
}

TEST(Trace, ChildOfNoStoryIsNotValid) {
  SeededRandom random(1);
  const Trace child = Trace().Child(random);
  EXPECT_FALSE(child.valid());
  EXPECT_EQ(child.TraceParent(), "");
}

TEST(QueuedContext, WaitedSinceItWasQueued) {
  const QueuedContext queued{Context(), kNow};
  EXPECT_EQ(queued.Waited(kNow), Duration::zero());
  EXPECT_EQ(queued.Waited(kNow + Milliseconds(250)), Milliseconds(250));
}

// Each shard reads its clock once per turn: a message of a shard whose turn began later seems to
// come from the future.
TEST(QueuedContext, DidNotWaitWhenTheSenderReadItsClockLater) {
  const QueuedContext queued{Context(), kNow + Milliseconds(1)};
  EXPECT_EQ(queued.Waited(kNow), Duration::zero());
}

}  // namespace
}  // namespace denselet
