#include "managers/poddirs/last_words.h"

#include <gtest/gtest.h>

#include <string>

namespace denselet::managers {
namespace {

std::string Line(const std::string& text, const std::string& tag = "F",
                 const std::string& stream = "stdout") {
  return "2026-01-02T15:04:05.123456789Z " + stream + " " + tag + " " + text + "\n";
}

TEST(LastOfLog, IsWhatWasWrittenToBothStreams) {
  EXPECT_EQ(LastOfLog({.bytes = Line("one") + Line("two", "F", "stderr")}), "one\ntwo\n");
  EXPECT_EQ(LastOfLog({.bytes = Line("a ", "P") + Line("line", "F:x")}), "a line\n");
  EXPECT_EQ(LastOfLog({.bytes = Line("")}), "\n");
  EXPECT_EQ(LastOfLog({}), "");
}

TEST(LastOfLog, LeavesOutWhatIsNoLine) {
  EXPECT_EQ(LastOfLog({.bytes = "noise\n" + Line("x") + "2026 stdin F y\n\n"}), "x\n");
  // The runtime died while it wrote.
  const std::string cut = Line("unfinished");
  EXPECT_EQ(LastOfLog({.bytes = Line("x") + cut.substr(0, cut.size() - 1)}), "x\nunfinished");
}

TEST(LastOfLog, HasTheLastLinesAndTheLastBytes) {
  std::string log;
  for (int i = 0; i < 100; ++i) log += Line(std::to_string(i));
  const std::string last = LastOfLog({.bytes = log});
  EXPECT_TRUE(last.starts_with("20\n21\n")) << last;
  EXPECT_TRUE(last.ends_with("\n99\n")) << last;
  const std::string wide = LastOfLog({.bytes = Line("start") + Line(std::string(5000, 'x'))});
  EXPECT_EQ(wide, std::string(kLogBytesMax - 1, 'x') + "\n");
}

TEST(LastOfLog, OfATailTheFirstLineIsHalf) {
  EXPECT_EQ(LastOfLog({.bytes = "05Z stdout F half\n" + Line("x"), .whole = false}), "x\n");
  EXPECT_EQ(LastOfLog({.bytes = "no end of a line", .whole = false}), "");
}

TEST(ToText, KeepsCharactersAndMarksWhatIsNone) {
  EXPECT_EQ(ToText("plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(ToText("\x80x"), bad + "x");
  EXPECT_EQ(ToText("x\xC3"), "x" + bad);
  EXPECT_EQ(ToText("\xC0\x80"), bad + bad);
  EXPECT_EQ(ToText("\xED\xA0\x80"), bad + bad + bad) << "half of a pair";
  EXPECT_EQ(ToText("\xF4\x90\x80\x80"), bad + bad + bad + bad) << "beyond the last";
}

}  // namespace
}  // namespace denselet::managers
