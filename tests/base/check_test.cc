#include "base/check.h"

#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/result.h"

namespace denselet {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;
using ::testing::Not;

MATCHER_P2(ContainsTimes, text, times, "") {
  int found = 0;
  for (size_t at = 0; (at = arg.find(text, at)) != std::string::npos; ++at) ++found;
  return found == times;
}

constexpr int kFailedCheckLine = __LINE__ + 1;
void FailCheck() { CHECK(1 + 1 == 3); }

const std::string kFailedCheckText =
    "CHECK failed at check_test.cc:" + std::to_string(kFailedCheckLine) + ": 1 + 1 == 3";

// Recorders run in the child of a death test, so what they saw comes back through standard error.
void PrintRecord(const CheckFailure& failure) {
  std::fprintf(stderr, "record: %s:%d [%s] pod=%s uid=%s.\n", failure.file, failure.line,
               failure.condition, std::string(failure.pod).c_str(),
               std::string(failure.uid).c_str());
}

void FailACheckWhileRecording(const CheckFailure& failure) {
  PrintRecord(failure);
  CHECK(failure.line < 0);
}

TEST(Check, PassesWhenTheConditionHolds) {
  CHECK(true);
  CHECK(1 + 1 == 2);
}

TEST(Check, EvaluatesTheConditionOnce) {
  int evaluated = 0;
  CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(Check, IsOneStatement) {
  bool other_branch = false;
  if (!other_branch)
    CHECK(true);
  else
    other_branch = true;
  EXPECT_FALSE(other_branch);
}

TEST(CheckDeathTest, AbortsAndPrintsPlaceAndCondition) {
  EXPECT_EXIT(FailCheck(), KilledBySignal(SIGABRT), EndsWith(kFailedCheckText + "\n"));
}

TEST(CheckDeathTest, PercentSignsInTheConditionArePrintedAsTheyAre) {
  EXPECT_DEATH(CHECK(5 % 2 == 0), HasSubstr(": 5 % 2 == 0\n"));
}

TEST(CheckDeathTest, NamesThePodOfTheOpenScope) {
  const auto fail = [] {
    const WorkScope scope("default/web-0", "uid-1");
    FailCheck();
  };
  EXPECT_DEATH(fail(),
               HasSubstr(kFailedCheckText + " (while working on pod default/web-0, uid uid-1)\n"));
}

TEST(CheckDeathTest, InnermostScopeSpeaks) {
  const auto fail = [] {
    const WorkScope outer("default/outer", "uid-outer");
    const WorkScope inner("default/inner", "uid-inner");
    FailCheck();
  };
  EXPECT_DEATH(fail(), AllOf(HasSubstr("pod default/inner, uid uid-inner"),
                             Not(HasSubstr("default/outer")), Not(HasSubstr("uid-outer"))));
}

TEST(CheckDeathTest, OuterScopeSpeaksAgainWhenTheInnerOneIsClosed) {
  const auto fail = [] {
    const WorkScope outer("default/outer", "uid-outer");
    { const WorkScope inner("default/inner", "uid-inner"); }
    FailCheck();
  };
  EXPECT_DEATH(fail(), AllOf(HasSubstr("pod default/outer, uid uid-outer"),
                             Not(HasSubstr("default/inner"))));
}

TEST(CheckDeathTest, NamesNobodyAfterTheLastScopeIsClosed) {
  const auto fail = [] {
    { const WorkScope scope("default/web-0", "uid-1"); }
    FailCheck();
  };
  EXPECT_DEATH(fail(), Not(HasSubstr("while working on")));
}

TEST(CheckDeathTest, NamesThePodAlsoWhenItsUidIsNotKnown) {
  const auto fail = [] {
    const WorkScope scope("default/web-0", "");
    FailCheck();
  };
  EXPECT_DEATH(fail(), HasSubstr("default/web-0"));
}

TEST(CheckDeathTest, NamesAreNotReadPastTheirEnd) {
  const auto fail = [] {
    constexpr std::string_view kText = "default/web-0|uid-1|rest";
    const WorkScope scope(kText.substr(0, 13), kText.substr(14, 5));
    FailCheck();
  };
  EXPECT_DEATH(fail(), HasSubstr("(while working on pod default/web-0, uid uid-1)\n"));
}

TEST(CheckDeathTest, RecorderGetsTheFailureOnceAndTheProcessStillAborts) {
  const auto fail = [] {
    SetCheckRecorder(&PrintRecord);
    const WorkScope scope("default/web-0", "uid-1");
    FailCheck();
  };
  const std::string record = "record: check_test.cc:" + std::to_string(kFailedCheckLine) +
                             " [1 + 1 == 3] pod=default/web-0 uid=uid-1.\n";
  EXPECT_EXIT(fail(), KilledBySignal(SIGABRT),
              AllOf(HasSubstr(kFailedCheckText), HasSubstr(record), ContainsTimes("record:", 1),
                    ContainsTimes("CHECK failed", 1)));
}

TEST(CheckDeathTest, RecorderGetsEmptyNamesWithoutAScope) {
  const auto fail = [] {
    SetCheckRecorder(&PrintRecord);
    FailCheck();
  };
  EXPECT_DEATH(fail(), HasSubstr("pod= uid=.\n"));
}

TEST(CheckDeathTest, RecorderThatFailsACheckIsNotCalledAgain) {
  const auto fail = [] {
    SetCheckRecorder(&FailACheckWhileRecording);
    FailCheck();
  };
  EXPECT_EXIT(fail(), KilledBySignal(SIGABRT),
              AllOf(HasSubstr(kFailedCheckText), HasSubstr(": failure.line < 0\n"),
                    ContainsTimes("record:", 1), ContainsTimes("CHECK failed", 2)));
}

TEST(CheckDeathTest, RecorderCanBeTakenOut) {
  const auto fail = [] {
    SetCheckRecorder(&PrintRecord);
    SetCheckRecorder(nullptr);
    FailCheck();
  };
  EXPECT_EXIT(fail(), KilledBySignal(SIGABRT), Not(HasSubstr("record:")));
}

TEST(WorkScope, CurrentIsTheInnermostOpenScope) {
  EXPECT_EQ(WorkScope::Current(), nullptr);
  {
    const WorkScope outer("default/outer", "uid-outer");
    EXPECT_EQ(WorkScope::Current(), &outer);
    {
      const WorkScope inner("default/inner", "uid-inner");
      EXPECT_EQ(WorkScope::Current(), &inner);
      EXPECT_EQ(WorkScope::Current()->pod(), "default/inner");
      EXPECT_EQ(WorkScope::Current()->uid(), "uid-inner");
    }
    EXPECT_EQ(WorkScope::Current(), &outer);
  }
  EXPECT_EQ(WorkScope::Current(), nullptr);
}

constexpr int kEnsureLine = __LINE__ + 2;
Result<int> Reciprocal(int n) {
  ENSURE(n != 0, "the divisor is zero");
  return 100 / n;
}

Status EnsureAll(bool first, bool second, int& described) {
  const auto describe = [&described](std::string text) {
    ++described;
    return text;
  };
  ENSURE(first, describe("first"));
  ENSURE(second, describe("second"));
  return Ok();
}

TEST(Ensure, GoesOnWhenTheConditionHolds) {
  const Result<int> result = Reciprocal(4);
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, 25);
}

TEST(Ensure, ReturnsABugWithPlaceAndCondition) {
  const Result<int> result = Reciprocal(0);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(),
            Error(ErrorCode::kBug, "the divisor is zero (check_test.cc:" +
                                       std::to_string(kEnsureLine) + ": n != 0 does not hold)"));
}

TEST(Ensure, DescribesOnlyWhatFailed) {
  int described = 0;
  EXPECT_TRUE(EnsureAll(true, true, described));
  EXPECT_EQ(described, 0);

  const Status status = EnsureAll(true, false, described);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message(), ::testing::StartsWith("second (check_test.cc:"));
  EXPECT_EQ(described, 1);
}

}  // namespace
}  // namespace denselet
