#include "tests/tidy/text.h"

#include <gtest/gtest.h>

#include "tests/tidy/violation.h"

namespace denselet::tidy {
namespace {

using Views = std::vector<std::string_view>;

TEST(Text, CellsKeepEmptyOnesAndDropTheFrame) {
  EXPECT_EQ(SplitCells("| a | | c |"), (Views{"a", "", "c"}));
  EXPECT_EQ(SplitCells("a|b"), (Views{"a", "b"}));
}

TEST(Text, LastLineNeedsNoLineBreak) {
  EXPECT_EQ(SplitLines("a\n\nb"), (Views{"a", "", "b"}));
  EXPECT_EQ(SplitLines("a\n"), (Views{"a"}));
}

TEST(Violations, ReportIsFileLineMessage) {
  EXPECT_EQ(Report({{"src/a.cc", 3, "wrong"}, {"src/b.cc", 1, "bad"}}),
            "src/a.cc:3: wrong\nsrc/b.cc:1: bad\n");
}

TEST(Allowances, AreFoundInCommentsOfAnyLanguage) {
  for (const std::string_view line : {"x = 1  # tidy: allow it because the test says so",
                                      "f();  // tidy: allow it because the test says so",
                                      "<!-- tidy: allow it because the test says so -->"}) {
    const auto allowance = FindAllowance(line);
    ASSERT_TRUE(allowance) << line;
    EXPECT_EQ(allowance->what, "it");
    EXPECT_EQ(allowance->reason, "the test says so");
  }
}

TEST(Allowances, ProseAboutThemDoesNotCount) {
  EXPECT_FALSE(FindAllowance("// write `tidy: allow it because x`"));
}

TEST(Allowances, ReasonIsEmptyWhenNotGiven) {
  EXPECT_EQ(FindAllowance("// tidy: allow it because")->reason, "");
  EXPECT_EQ(FindAllowance("// tidy: allow it because  ")->reason, "");
  EXPECT_EQ(FindAllowance("// tidy: allow it")->reason, "");
  EXPECT_EQ(FindAllowance("<!-- tidy: allow it because -->")->reason, "");
}

}  // namespace
}  // namespace denselet::tidy
