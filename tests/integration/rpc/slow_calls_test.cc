// What the log says of calls that take long.
#include <gmock/gmock.h>

#include <algorithm>

#include "rpc/slow_calls.h"
#include "tests/integration/rpc/rpc_fixture.h"

namespace denselet::rpc {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SlowCallsTest : public RpcTest {
 protected:
  size_t LinesWith(const std::string& text) const {
    return static_cast<size_t>(std::ranges::count_if(sink_.lines(), [&](const auto& line) {
      return line.text.find(text) != std::string::npos;
    }));
  }
  std::string LineWith(const std::string& text) const {
    for (const auto& line : sink_.lines()) {
      if (line.text.find(text) != std::string::npos) return line.text;
    }
    return "";
  }
  static Context OfPod() {
    Context context;
    context.pod = std::make_shared<const ContextPod>(
        ContextPod{{.ns = "default", .name = "web"}, PodUid("uid-of-web")});
    return context;
  }
};
INSTANTIATE_LOOP_TEST(SlowCallsTest);

TEST_P(SlowCallsTest, ACallThatHangsIsToldOnceAndSoIsItsEnd) {
  StartBoth();
  Ending hung, other;
  Ask(kSlowRead, "hang 1", hung, OfPod());
  ASSERT_TRUE(RunUntil([&] { return LinesWith("Call takes long") == 1; }));
  EXPECT_THAT(LineWith("Call takes long"),
              AllOf(HasSubstr("endpoint=\"test\""), HasSubstr("method=\"slow_read\""),
                    HasSubstr("pod=\"default/web\""), HasSubstr("podUID=\"uid-of-web\""),
                    HasSubstr("for=\"")));
  // Of another one the look finds this one again.
  Ask(kSlowRead, "hang 2", other);
  ASSERT_TRUE(RunUntil([&] { return LinesWith("Call takes long") == 2; }));
  EXPECT_EQ(LinesWith("default/web"), 1u);
  ASSERT_TRUE(RunUntil([&] { return server_->held() == 2; }));
  server_->Release();
  ASSERT_TRUE(RunUntil([&] { return hung.times > 0 && other.times > 0; }));
  EXPECT_EQ(LinesWith("Call that took long was answered"), 2u);
  EXPECT_EQ(LinesWith("default/web"), 2u);
  EXPECT_EQ(sink_.lines().size(), 4u);
}

TEST_P(SlowCallsTest, OneThatFailsAtLastIsToldWithItsError) {
  StartBoth();
  CancelSource cancel;
  Context context = OfPod();
  context.cancel = cancel.token();
  Ending hung;
  Ask(kSlowRead, "hang 1", hung, context);
  ASSERT_TRUE(RunUntil([&] { return LinesWith("Call takes long") == 1; }));
  cancel.Cancel();
  ASSERT_TRUE(RunUntil([&] { return hung.times > 0; }));
  EXPECT_THAT(LineWith("Call that took long failed"),
              AllOf(HasSubstr("default/web"), HasSubstr("took=\""), HasSubstr("context canceled")));
}

TEST_P(SlowCallsTest, WhatACallTakesOfItselfIsNotLong) {
  StartBoth();
  Ending expected, hung, quick;
  Ask(kSlowRead, "hang expected", expected, {}, {.expected = Hours(1)});
  Ask(kRead, "hang patient", quick);
  Ask(kSlowRead, "hang 1", hung);
  ASSERT_TRUE(RunUntil([&] { return LinesWith("Call takes long") > 0; }));
  ASSERT_TRUE(RunUntil([&] { return server_->held() == 3; }));
  server_->Release();
  ASSERT_TRUE(RunUntil([&] { return expected.times + hung.times + quick.times == 3; }));
  EXPECT_EQ(LinesWith("took long"), 1u);
}

TEST_P(SlowCallsTest, WhenAllHangAFewAreNamedAndTheOthersCounted) {
  StartBoth();
  std::vector<Ending> hung(60);
  for (Ending& ending : hung) Ask(kSlowRead, "hang 1", ending);
  ASSERT_TRUE(RunUntil([&] { return LinesWith("Further calls take long") == 1; }));
  EXPECT_EQ(LinesWith("Call takes long"), SlowCalls::kLinesMax);
  ASSERT_TRUE(RunUntil([&] { return server_->held() == hung.size(); }));
  server_->Release();
  ASSERT_TRUE(RunUntil(
      [&] { return std::ranges::all_of(hung, [](const Ending& e) { return e.times == 1; }); }));
  EXPECT_EQ(LinesWith("was answered"), SlowCalls::kLinesMax);
}

TEST_P(SlowCallsTest, AMinuteLaterOthersHaveTheirTurn) {
  SlowCalls calls(Logger(output_), "test");
  const TimePoint start = clock_.Now();
  for (uint32_t i = 0; i < SlowCalls::kLinesMax; ++i) {
    EXPECT_TRUE(calls.Tell(kRead, {}, Seconds(20), start));
  }
  EXPECT_FALSE(calls.Tell(kRead, {}, Seconds(20), start + Seconds(59)));
  calls.TellUnnamed(1);
  calls.TellUnnamed(2);
  EXPECT_EQ(LinesWith("Further calls"), 1u);
  EXPECT_TRUE(calls.Tell(kRead, {}, Seconds(80), start + Seconds(60)));
  calls.TellUnnamed(3);
  EXPECT_EQ(LinesWith("Further calls"), 2u);
}

}  // namespace
}  // namespace denselet::rpc
