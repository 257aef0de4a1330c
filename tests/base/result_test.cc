#include "base/result.h"

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace denselet {
namespace {

using ::testing::HasSubstr;

Result<int> Half(int n) {
  if (n % 2 != 0) return Error(ErrorCode::kInvalid, "odd");
  return n / 2;
}

Status Refuse() { return Error(ErrorCode::kOverloaded, "full"); }

Result<std::vector<int>> Numbers() { return std::vector<int>{1, 2, 3}; }

TEST(Result, HoldsTheReturnedValue) {
  const Result<int> result = Half(8);
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, 4);
}

TEST(Result, HoldsTheReturnedError) {
  const Result<int> result = Half(7);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), Error(ErrorCode::kInvalid, "odd"));
}

TEST(Result, AFalseValueIsStillAValue) {
  const Result<bool> result = false;
  ASSERT_TRUE(result);
  EXPECT_FALSE(*result);
}

TEST(Result, BecomesABoolOnlyWhenAsked) {
  static_assert(!std::is_convertible_v<Result<int>, bool>);
  static_assert(std::is_constructible_v<bool, Result<int>>);
}

TEST(Result, ValueCanBeChangedInPlace) {
  Result<std::string> result = std::string("pod");
  *result += "-1";
  EXPECT_EQ(*result, "pod-1");
  result->clear();
  EXPECT_TRUE(result->empty());
}

TEST(Result, ArrowReachesMembersOfAConstResult) {
  const Result<std::string> result = std::string("pod");
  EXPECT_EQ(result->size(), 3u);
}

TEST(Result, AssignmentTurnsAValueIntoAnErrorAndBack) {
  Result<std::string> result = std::string("pod");
  result = Error(ErrorCode::kNotFound, "gone");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), "gone");
  result = std::string("back");
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, "back");
}

TEST(Result, CopiesAreIndependent) {
  Result<std::string> original = std::string("pod");
  const Result<std::string> copy = original;
  *original = "changed";
  EXPECT_EQ(*copy, "pod");
}

TEST(Result, MoveOnlyValuesMoveOut) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> value = *std::move(result);
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value, 7);
}

TEST(Result, ValueOfATemporaryIsReturnedByValue) {
  static_assert(std::is_same_v<decltype(*std::declval<Result<std::string>>()), std::string>);
  static_assert(std::is_same_v<decltype(*std::declval<Result<std::string>&>()), std::string&>);
  static_assert(
      std::is_same_v<decltype(*std::declval<const Result<std::string>&>()), const std::string&>);
}

// Only AddressSanitizer can fail this one: a reference into the dead temporary would often still
// read well.
TEST(Result, LoopOverTheValueOfATemporaryDoesNotDangle) {
  int sum = 0;
  for (const int n : *Numbers()) sum += n;
  EXPECT_EQ(sum, 6);
}

TEST(Result, ErrorGainsContextOnItsWayUp) {
  const auto outer = []() -> Result<std::string> {
    const Result<int> half = Half(3);
    if (!half) return half.error().With("halve", "3");
    return std::to_string(*half);
  };
  const Result<std::string> result = outer();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), Error(ErrorCode::kInvalid, "halve \"3\": odd"));
}

TEST(Status, OkIsAValue) {
  const Status status = Ok();
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, Unit{});
}

TEST(Status, CarriesAnError) {
  const Status status = Refuse();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kOverloaded);
}

TEST(ResultDeathTest, AskingAnErrorForItsValueFailsACheck) {
  Result<int> result = Half(7);
  const Result<int>& const_result = result;
  EXPECT_DEATH((void)*result, HasSubstr("CHECK failed at result.h"));
  EXPECT_DEATH((void)*const_result, HasSubstr("CHECK failed at result.h"));
  EXPECT_DEATH((void)*std::move(result), HasSubstr("CHECK failed at result.h"));
}

TEST(ResultDeathTest, ArrowIntoAnErrorFailsACheck) {
  Result<std::string> result = Error(ErrorCode::kNotFound, "gone");
  const Result<std::string>& const_result = result;
  EXPECT_DEATH((void)result->size(), HasSubstr("CHECK failed at result.h"));
  EXPECT_DEATH((void)const_result->size(), HasSubstr("CHECK failed at result.h"));
}

TEST(ResultDeathTest, AskingAValueForItsErrorFailsACheck) {
  const Result<int> result = Half(8);
  EXPECT_DEATH((void)result.error(), HasSubstr("CHECK failed at result.h"));
}

}  // namespace
}  // namespace denselet
