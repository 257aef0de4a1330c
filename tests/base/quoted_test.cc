#include "base/quoted.h"

#include <gtest/gtest.h>

namespace denselet {
namespace {

TEST(Quoted, WhatIsNotPrintableOrWouldEndTheQuoteIsEscaped) {
  EXPECT_EQ(Quoted("", 8), R"("")");
  EXPECT_EQ(Quoted("plain ~", 8), R"("plain ~")");
  EXPECT_EQ(Quoted("a\"b\\c", 8), R"("a\"b\\c")");
  EXPECT_EQ(Quoted(std::string_view("\0\n\x1b\x7f\xff", 5), 8), R"("\x00\x0a\x1b\x7f\xff")");
}

TEST(Quoted, LongTextIsCutAndSaysSo) {
  EXPECT_EQ(Quoted("12345678", 8), R"("12345678")");
  EXPECT_EQ(Quoted("123456789", 8), R"("12345678...")");
}

TEST(GoQuoted, IsAsGoWritesIt) {
  EXPECT_EQ(GoQuoted(""), "\"\"");
  EXPECT_EQ(GoQuoted("a \"b\" \\ \n\t\x01\x7f é"), "\"a \\\"b\\\" \\\\ \\n\\t\\x01\\x7f é\"");
}

}  // namespace
}  // namespace denselet
