#include "kube/api/hash/go_quantity.h"

#include <gtest/gtest.h>

#include "tests/golden.h"

namespace denselet::kube {
namespace {

// The table has no types.
std::string Held(const GoQuantity& quantity) {
  std::string out;
  int within = 0;
  for (const char c : quantity.Dump()) {
    if (c == '(') ++within;
    if (within == 0) out += c;
    if (c == ')') --within;
  }
  return out;
}

GoQuantity Parsed(std::string_view text) {
  const auto quantity = GoQuantity::Parse(text);
  EXPECT_TRUE(quantity) << text;
  return quantity ? *quantity : GoQuantity();
}

TEST(GoQuantity, IsHeldAsGoHoldsIt) {
  GoQuantity before = Parsed("1");
  for (const auto& row : tests::ReadGolden("tests/kube/api/hash/golden/quantities.txt")) {
    ASSERT_EQ(row.size(), 6u);
    const GoQuantity quantity = Parsed(row[0]);
    EXPECT_EQ(Held(quantity), row[1]) << row[0];

    GoQuantity rounded = quantity, sum = quantity, compared = quantity;
    rounded.RoundUpToMilli();
    EXPECT_EQ(Held(rounded), row[2]) << row[0];
    sum.Add(before);
    EXPECT_EQ(Held(sum), row[3]) << row[0];
    const auto order = compared.CompareAndConvert(before);
    EXPECT_EQ(order < 0 ? "-1" : order > 0 ? "1" : "0", row[4]) << row[0];
    EXPECT_EQ(Held(compared), row[5]) << row[0];
    before = quantity;
  }
}

TEST(GoQuantity, ZeroValueHasNoFormat) {
  EXPECT_EQ(GoQuantity().Dump(),
            "{i:(resource.int64Amount){value:(int64)0 scale:(resource.Scale)0} "
            "d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string) Format:(resource.Format)}");
}

TEST(GoQuantity, BigOneNamesItsTypes) {
  EXPECT_EQ(Parsed("-1.5Gi").Dump(),
            "{i:(resource.int64Amount){value:(int64)0 scale:(resource.Scale)0} "
            "d:(resource.infDecAmount){Dec:(*inf.Dec){unscaled:(big.Int){neg:(bool)true "
            "abs:(big.nat)[1610612736000000000]} scale:(inf.Scale)9}} s:(string) "
            "Format:(resource.Format)BinarySI}");
}

TEST(GoQuantity, WhatIsNoneIsAnError) {
  EXPECT_FALSE(GoQuantity::Parse(""));
  EXPECT_FALSE(GoQuantity::Parse("1.5.5"));
  EXPECT_FALSE(GoQuantity::Parse("5gb"));
}

TEST(GoQuantity, OneThatWouldFillTheMemoryIsAnError) {
  EXPECT_FALSE(GoQuantity::Parse("1234567890123456789e100000000"));
  EXPECT_FALSE(GoQuantity::Parse("1e-100000000"));
  EXPECT_FALSE(GoQuantity::Parse(std::string(20000, '1')));
}

}  // namespace
}  // namespace denselet::kube
