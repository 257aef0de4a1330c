#include "tests/tidy/cpp_text.h"

#include <gtest/gtest.h>

namespace denselet::tidy {
namespace {

std::string Code(std::string_view source) { return SplitCppText(source).code; }
std::string Comments(std::string_view source) { return SplitCppText(source).comments; }

TEST(CppText, LineCommentsEndWithTheLine) {
  EXPECT_EQ(Code("a; // b\nc;"), "a;     \nc;");
  EXPECT_EQ(Comments("a; // b\nc;"), "   // b\n  ");
}

TEST(CppText, BackslashContinuesALineComment) { EXPECT_EQ(Code("// a\\\nb\nc"), "     \n \nc"); }

TEST(CppText, BlockCommentsKeepTheirLineBreaks) {
  EXPECT_EQ(Code("a /* x\ny */ b"), "a     \n     b");
  EXPECT_EQ(Code("a /*/ x */ b"), "a          b");
}

TEST(CppText, UnclosedBlockCommentReachesTheEnd) { EXPECT_EQ(Code("a /* b\nc"), "a     \n "); }

TEST(CppText, StringsLoseTheirContentsAndKeepTheirQuotes) {
  EXPECT_EQ(Code(R"(f("abc", 1))"), R"(f("   ", 1))");
}

TEST(CppText, EscapedQuotesDoNotCloseAString) {
  EXPECT_EQ(Code(R"("a\"b" c)"), R"("    " c)");
  EXPECT_EQ(Code(R"("a\\" b)"), R"("   " b)");
  EXPECT_EQ(Code(R"('\'' b)"), R"('  ' b)");
}

TEST(CppText, CommentOpenersInsideStringsOpenNothing) {
  EXPECT_EQ(Code("\"http://x\" a"), "\"        \" a");
  EXPECT_EQ(Code("\"/*\" a \"*/\""), "\"  \" a \"  \"");
}

TEST(CppText, QuotesInsideCommentsOpenNothing) {
  EXPECT_EQ(Code("// don't\na"), "        \na");
  EXPECT_EQ(Code("/* \" */ a"), "        a");
}

TEST(CppText, QuoteCharacterLiteralOpensNoString) { EXPECT_EQ(Code("'\"' a"), "' ' a"); }

TEST(CppText, DigitSeparatorsOpenNoCharacterLiteral) {
  EXPECT_EQ(Code("1'000'000 + a"), "1'000'000 + a");
  EXPECT_EQ(Code("0xAB'CD'EF + 'x'"), "0xAB'CD'EF + ' '");
}

TEST(CppText, PrefixedCharacterLiteralsAreLiterals) {
  EXPECT_EQ(Code("L'a' u8'b' c"), "L' ' u8' ' c");
}

TEST(CppText, RawStringsEndAtTheirOwnDelimiter) {
  EXPECT_EQ(Code("R\"(a\"b\\)\" c"), "R\"      \" c");
  EXPECT_EQ(Code("R\"x(a)\" b)x\" c"), "R\"         \" c");
}

TEST(CppText, RawStringsKeepTheirLineBreaks) {
  EXPECT_EQ(Code("u8R\"(a\n// b\n)\"; c"), "u8R\"  \n    \n \"; c");
}

TEST(CppText, WordThatEndsInRIsNoRawStringPrefix) { EXPECT_EQ(Code("FOR\"(a\" b"), "FOR\"  \" b"); }

TEST(CppText, UnclosedStringEndsWithItsLine) {
  EXPECT_EQ(Code("#error don't\nsleep(1);"), "#error don' \nsleep(1);");
}

TEST(CppText, SourceMayEndAnywhere) {
  for (const std::string_view source :
       {"", "\"", "\"\\", "'", "/*", "/", "R\"", "R\"(", "//\\", "1'"}) {
    EXPECT_EQ(Code(source).size(), source.size()) << source;
  }
}

}  // namespace
}  // namespace denselet::tidy
