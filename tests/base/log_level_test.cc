#include "base/log_level.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace denselet {
namespace {

LogLevels Parse(int32_t verbosity, std::string_view vmodule) {
  auto levels = ParseLogLevels(verbosity, vmodule);
  EXPECT_TRUE(levels) << vmodule;
  return levels ? *levels : LogLevels{};
}

std::string ParseError(std::string_view vmodule) {
  const auto levels = ParseLogLevels(0, vmodule);
  if (levels) return "";
  EXPECT_EQ(levels.error().code(), ErrorCode::kInvalid);
  return levels.error().message();
}

bool Matches(std::string pattern, std::string_view file) {
  return VmoduleRule{std::move(pattern), 1}.Matches(file);
}

// The highest level that is on in `file`, up to 20.
int Highest(const LogVerbosity& verbosity, std::string_view file) {
  int level = 0;
  while (level < 20 && verbosity.Enabled(level + 1, file)) ++level;
  return level;
}

TEST(LogLevels, ParsesAList) {
  const LogLevels levels = Parse(2, "pod_worker=4,probe*=9");
  EXPECT_EQ(levels.verbosity, 2);
  EXPECT_EQ(levels.rules, (std::vector<VmoduleRule>{{"pod_worker", 4}, {"probe*", 9}}));
  EXPECT_EQ(FormatVmodule(levels.rules), "pod_worker=4,probe*=9");
}

TEST(LogLevels, EmptyItemsAreForgiven) {
  EXPECT_EQ(Parse(0, "").rules.size(), 0u);
  EXPECT_EQ(Parse(0, ",a=1,,b=2,").rules.size(), 2u);
}

TEST(LogLevels, ErrorsNameTheItem) {
  EXPECT_EQ(ParseError("a=1,b"), R"("b" does not have the form pattern=N)");
  EXPECT_EQ(ParseError("=1"), R"("=1" does not have the form pattern=N)");
  EXPECT_EQ(ParseError("a="), R"("a=" does not have the form pattern=N)");
  EXPECT_EQ(ParseError("="), R"("=" does not have the form pattern=N)");
  EXPECT_EQ(ParseError("a=b=1"), R"("a=b=1" does not have the form pattern=N)");
  EXPECT_EQ(ParseError("a=x"), R"(verbosity in "a=x": "x" is not a number from 0 to 2147483647)");
  EXPECT_EQ(ParseError("[a=1"),
            R"("[a" is not a file pattern: a bracket or backslash is not completed)");
}

TEST(LogLevels, VerbosityIsAnUnsignedNumberOf31Bits) {
  EXPECT_EQ(*ParseVerbosity("0"), 0);
  EXPECT_EQ(*ParseVerbosity("007"), 7);
  EXPECT_EQ(*ParseVerbosity("2147483647"), 2147483647);
  for (const char* text : {"", "-1", "-0", "+1", "2147483648", "1 ", " 1", "0x1", "1.0"}) {
    EXPECT_FALSE(ParseVerbosity(text)) << text;
  }
}

TEST(LogLevels, TooManyPatternsAreRefused) {
  std::string vmodule;
  for (size_t i = 0; i < kVmoduleRulesMax; ++i) vmodule += "a=1,";
  EXPECT_EQ(ParseError(vmodule), "");
  EXPECT_EQ(ParseError(vmodule + "a=1"), "more than 128 file patterns in vmodule");
}

TEST(LogLevels, RuleFromAConfigurationFileIsChecked) {
  EXPECT_TRUE(MakeVmoduleRule("pod_*", 3));
  EXPECT_EQ(MakeVmoduleRule("", 3).error().message(), R"("" is not a file pattern)");
  EXPECT_EQ(MakeVmoduleRule("a=b", 3).error().message(),
            R"("a=b" must not contain equal sign or comma)");
  EXPECT_FALSE(MakeVmoduleRule("a,b", 3));
  EXPECT_FALSE(MakeVmoduleRule("a", -3));
}

TEST(VmoduleRule, MatchesTheNameWithoutFolderAndExtension) {
  EXPECT_TRUE(Matches("pod_worker", "sync/pod_worker.cc"));
  EXPECT_TRUE(Matches("pod_worker", "sync/pod_worker.h"));
  EXPECT_TRUE(Matches("pod_worker", "pod_worker.cc"));
  EXPECT_TRUE(Matches("pod_worker.pb", "sync/pod_worker.pb.cc"));
  EXPECT_FALSE(Matches("pod_worker.cc", "sync/pod_worker.cc"));
  EXPECT_FALSE(Matches("pod", "sync/pod_worker.cc"));
  EXPECT_FALSE(Matches("sync", "sync/pod_worker.cc"));
}

TEST(VmoduleRule, PatternWithASlashMatchesThePathFromSrc) {
  EXPECT_TRUE(Matches("sync/pod_worker", "sync/pod_worker.cc"));
  EXPECT_TRUE(Matches("managers/*/prober", "managers/probe/prober.cc"));
  EXPECT_FALSE(Matches("managers/*", "managers/probe/prober.cc"));
  EXPECT_FALSE(Matches("sync/pod_worker", "pod_worker.cc"));
  EXPECT_TRUE(Matches("*/*/prober", "managers/probe/prober.cc"));
}

TEST(VmoduleRule, Globs) {
  EXPECT_TRUE(Matches("*", "sync/pod_worker.cc"));
  EXPECT_TRUE(Matches("pod*", "pod_worker.cc"));
  EXPECT_TRUE(Matches("*o*o*r", "pod_worker.cc"));
  EXPECT_FALSE(Matches("*o*o*x", "pod_worker.cc"));
  EXPECT_TRUE(Matches("p?d_w[a-o]rker", "pod_worker.cc"));
  EXPECT_FALSE(Matches("p?d", "pd.cc"));
  EXPECT_TRUE(Matches("[^a-o]*", "pod_worker.cc"));
  EXPECT_FALSE(Matches("[^n-q]*", "pod_worker.cc"));
  EXPECT_TRUE(Matches("[\\]x]y", "]y.cc"));
  EXPECT_TRUE(Matches("a\\*b", "a*b.cc"));
  EXPECT_FALSE(Matches("a\\*b", "axb.cc"));
}

TEST(VmoduleRule, MalformedPatternsAreRefused) {
  for (const char* pattern :
       {"[", "[]", "[]a]", "[a", "[a-", "[a-]", "[-a]", "[^]", "a\\", "[a\\", "x[^a-z", "[a-\\"}) {
    EXPECT_FALSE(MakeVmoduleRule(pattern, 1)) << pattern;
  }
  for (const char* pattern : {"]", "a]", "[a]]", "[a-z0-9_]", "[\\-]", "[^^]", "\\[", "**"}) {
    EXPECT_TRUE(MakeVmoduleRule(pattern, 1)) << pattern;
  }
}

TEST(VmoduleRule, ManyStarsStayCheap) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(Matches(pattern + "b", std::string(1000, 'a') + ".cc"));
}

TEST(LogVerbosity, LevelOfAllFiles) {
  LogVerbosity verbosity(2);
  EXPECT_EQ(Highest(verbosity, "sync/pod_worker.cc"), 2);
  verbosity.SetVerbosity(5);
  EXPECT_EQ(Highest(verbosity, "sync/pod_worker.cc"), 5);
  verbosity.SetVerbosity(0);
  EXPECT_EQ(Highest(verbosity, "sync/pod_worker.cc"), 0);
  EXPECT_TRUE(verbosity.Enabled(0, "sync/pod_worker.cc"));
}

TEST(LogVerbosity, RulesAddToItForTheirFiles) {
  LogVerbosity verbosity;
  ASSERT_TRUE(verbosity.Set(Parse(2, "pod_worker=4,probe/*=9,quiet=1")));
  EXPECT_EQ(Highest(verbosity, "sync/pod_worker.cc"), 4);
  EXPECT_EQ(Highest(verbosity, "probe/prober.cc"), 9);
  EXPECT_EQ(Highest(verbosity, "sync/decide.cc"), 2);
  EXPECT_EQ(Highest(verbosity, "sync/quiet.cc"), 2);
}

TEST(LogVerbosity, WholePathsAreCutAtSrc) {
  LogVerbosity verbosity;
  ASSERT_TRUE(verbosity.Set(Parse(0, "sync/*=4")));
  EXPECT_EQ(Highest(verbosity, "somewhere/src/denselet/src/sync/pod_worker.cc"), 4);
  EXPECT_EQ(Highest(verbosity, "src/sync/pod_worker.cc"), 4);
  EXPECT_EQ(Highest(verbosity, "tests/sync/pod_worker_test.cc"), 0);
}

TEST(LogVerbosity, FirstMatchDecidesAndLevelZeroIsSkipped) {
  LogVerbosity verbosity;
  ASSERT_TRUE(verbosity.Set(Parse(0, "pod*=3,pod_worker=9")));
  EXPECT_EQ(Highest(verbosity, "pod_worker.cc"), 3);
  ASSERT_TRUE(verbosity.Set(Parse(0, "pod_worker=0,pod*=3")));
  EXPECT_EQ(Highest(verbosity, "pod_worker.cc"), 3);
}

TEST(LogVerbosity, ChangesWhileRunning) {
  LogVerbosity verbosity;
  ASSERT_TRUE(verbosity.Set(Parse(1, "pod_worker=4")));
  verbosity.SetVerbosity(6);
  EXPECT_EQ(Highest(verbosity, "pod_worker.cc"), 6);
  verbosity.SetVerbosity(0);
  EXPECT_EQ(Highest(verbosity, "pod_worker.cc"), 4);
  EXPECT_EQ(verbosity.levels(), Parse(0, "pod_worker=4"));
  ASSERT_TRUE(verbosity.Set(Parse(0, "")));
  EXPECT_EQ(Highest(verbosity, "pod_worker.cc"), 0);
}

TEST(LogVerbosity, RuleListsAreKeptUpToABoundAndReused) {
  LogVerbosity verbosity;
  for (size_t i = 0; i < LogVerbosity::kRuleListsMax; ++i) {
    ASSERT_TRUE(verbosity.Set(Parse(0, "a" + std::to_string(i) + "=1")));
  }
  const Status full = verbosity.Set(Parse(3, "b=1"));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), ErrorCode::kOverloaded);
  EXPECT_EQ(verbosity.levels(), Parse(0, "a63=1"));
  EXPECT_TRUE(verbosity.Set(Parse(3, "a0=1")));
}

TEST(LogVerbosity, ReadersSeeOldOrNewLevelsWhileTheyChange) {
  LogVerbosity verbosity;
  const LogLevels loud = Parse(0, "pod_worker=4");
  const LogLevels quiet = Parse(0, "decide=4");
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done.load()) {
      EXPECT_FALSE(verbosity.Enabled(5, "pod_worker.cc"));
      EXPECT_FALSE(verbosity.Enabled(1, "other.cc"));
      (void)verbosity.Enabled(4, "pod_worker.cc");
    }
  });
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(verbosity.Set(i % 2 == 0 ? loud : quiet));
  done.store(true);
  reader.join();
}

}  // namespace
}  // namespace denselet
