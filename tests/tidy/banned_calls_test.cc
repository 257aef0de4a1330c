#include "tests/tidy/banned_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "tests/tidy/source_tree.h"

namespace denselet::tidy {
namespace {

using Strings = std::vector<std::string>;

constexpr std::string_view kSmallTable = R"(
# a comment
steady_clock::now time(nullptr) | src tests | src/reactor/real_clock.cc | the Clock
this_thread::sleep_for          | src tests | -                         | a timer
sleep( sleep_for(               | src tests | -                         | a timer
std::thread                     | src       | src/reactor/              | the pool
open( read(                     | src       | src/reactor/              | the FileSystem
assert(                         | src       | -                         | CHECK
)";

std::vector<BannedCall> Parsed(std::string_view table) {
  Strings problems;
  std::vector<BannedCall> banned = ParseBannedCalls(table, &problems);
  EXPECT_EQ(problems, Strings());
  return banned;
}

std::vector<BannedCall> RepositoryTable() {
  const auto table = ReadFile(SourceRoot(), "tests/tidy/banned.txt");
  EXPECT_TRUE(table) << SourceRoot() << "/tests/tidy/banned.txt cannot be read";
  return Parsed(table.value_or(""));
}

std::string ReportOn(std::string_view path, std::string_view text) {
  return Report(CheckBannedCalls(Parsed(kSmallTable), path, text));
}

std::string InSync(std::string_view text) { return ReportOn("src/sync/a.cc", text); }

// "pattern:line" of each finding, for tests about what matches.
Strings Found(std::string_view text) {
  Strings found;
  for (const Violation& v : CheckBannedCalls(Parsed(kSmallTable), "src/sync/a.cc", text)) {
    found.push_back(v.message.substr(0, v.message.find(' ')) + ":" + std::to_string(v.line));
  }
  return found;
}

Strings ProblemsOf(std::string_view table) {
  Strings problems;
  ParseBannedCalls(table, &problems);
  return problems;
}

TEST(BannedTable, PatternsOfARowShareTheRest) {
  const std::vector<BannedCall> banned = Parsed("a( b::c | src tests | src/x.cc src/y/ | d e\n");
  ASSERT_EQ(banned.size(), 2u);
  EXPECT_EQ(banned[0].pattern, "a(");
  EXPECT_EQ(banned[0].tokens, (Strings{"a", "("}));
  EXPECT_EQ(banned[1].tokens, (Strings{"b", "::", "c"}));
  for (const BannedCall& call : banned) {
    EXPECT_EQ(call.folders, (Strings{"src", "tests"}));
    EXPECT_EQ(call.owners, (Strings{"src/x.cc", "src/y/"}));
    EXPECT_EQ(call.use_instead, "d e");
  }
}

TEST(BannedTable, RowsThatCannotBeUnderstoodAreProblems) {
  EXPECT_EQ(ProblemsOf("a | src | -\n"),
            Strings{"line 1: a row has four cells: pattern | where | owners | use instead"});
  EXPECT_EQ(ProblemsOf("\n| | src | - | b |\n"), Strings{"line 2: no pattern"});
  EXPECT_EQ(ProblemsOf("a | bench | - | b\n"),
            Strings{"line 1: banned in 'bench': not src or tests"});
  EXPECT_EQ(ProblemsOf("a | | - | b\n"),
            Strings{"line 1: banned nowhere; name src, tests or both"});
  EXPECT_EQ(ProblemsOf("a | src | tests/x.cc | b\n"),
            Strings{"line 1: owner 'tests/x.cc' is where nothing is banned"});
  EXPECT_EQ(ProblemsOf("# c\n| a | src | - | |\n"), Strings{"line 2: says nothing to use instead"});
}

TEST(BannedCalls, MessageNamesTheReplacementAndTheOwners) {
  EXPECT_EQ(InSync("int a;\nauto t = std::chrono::steady_clock::now();\n"),
            "src/sync/a.cc:2: steady_clock::now is banned here; use the Clock (owners: "
            "src/reactor/real_clock.cc)\n");
  EXPECT_EQ(InSync("assert(x);"),
            "src/sync/a.cc:1: assert( is banned here; use CHECK (owners: none)\n");
}

TEST(BannedCalls, EachPatternOfTheRepositoryFindsItself) {
  for (const BannedCall& banned : RepositoryTable()) {
    for (const std::string& folder : banned.folders) {
      const std::string path = folder + "/sync/a.cc";
      const std::string text = "void F() {\n  " + banned.pattern + "\n}\n";
      const std::string report = Report(CheckBannedCalls({banned}, path, text));
      EXPECT_TRUE(report.starts_with(path + ":2: " + banned.pattern + " is banned here; use "))
          << banned.pattern << ": " << report;
    }
  }
}

TEST(BannedCalls, OwnersMayCall) {
  EXPECT_EQ(ReportOn("src/reactor/real_clock.cc", "steady_clock::now();"), "");
  EXPECT_EQ(ReportOn("src/reactor/files/uring.cc", "::open(p, 0);"), "");
  EXPECT_NE(ReportOn("src/reactor/loop.cc", "steady_clock::now();"), "");
  EXPECT_NE(ReportOn("src/reactor_tools/a.cc", "::open(p, 0);"), "");
  EXPECT_NE(ReportOn("src/reactor/real_clock.cc", "sleep(1);"), "");
}

TEST(BannedCalls, TestsMayUseThreadsAndFilesButNotTime) {
  EXPECT_EQ(ReportOn("tests/a_test.cc", "std::thread t; ::open(p, 0); assert(x);"), "");
  EXPECT_NE(ReportOn("tests/a_test.cc", "std::this_thread::sleep_for(1ms);"), "");
  EXPECT_EQ(ReportOn("bench/a.cc", "std::this_thread::sleep_for(1ms);"), "");
}

TEST(BannedCalls, WholeIdentifiersCount) {
  EXPECT_EQ(Found("my_sleep(1); sleep_(1); sleep_for_ever(); std::threads t; static_assert(1);"),
            Strings());
}

TEST(BannedCalls, QualifiedNamesMatchUnderAnyPrefix) {
  EXPECT_EQ(Found("std::chrono::steady_clock::now();\nchrono::steady_clock::now();\n"
                  "std::this_thread::sleep_for(1s);\n::std::thread t;"),
            (Strings{"steady_clock::now:1", "steady_clock::now:2", "this_thread::sleep_for:3",
                     "std::thread:4"}));
}

TEST(BannedCalls, FreeFunctionsMatchPlainGlobalAndStd) {
  EXPECT_EQ(Found("open(p, 0);\nx = ::open(p, 0);\nreturn ::open(p);\nreturn open(p);\n"
                  "std::read(f);\nif (open(p) < 0) {}\n  else open(p);"),
            (Strings{"open(:1", "open(:2", "open(:3", "open(:4", "read(:5", "open(:6", "open(:7"}));
}

TEST(BannedCalls, MembersAndOtherNamespacesAreNotTheFreeFunction) {
  EXPECT_EQ(Found("file.open(p); loop->read(b); files::open(p); Queue<int>::open(p); "
                  "clock_.sleep_for(d);"),
            Strings());
}

TEST(BannedCalls, DeclarationsAndVariablesAreNotCalls) {
  EXPECT_EQ(Found("File open(Path p); Wait(sleep_for); TimePoint sleep_for = read;"), Strings());
}

TEST(BannedCalls, BlanksAndLineBreaksBetweenTokensDoNotHide) {
  EXPECT_EQ(Found("sleep (1);\ntime( nullptr );\nstd::chrono::steady_clock::\n    now();"),
            (Strings{"sleep(:1", "time(nullptr):2", "steady_clock::now:3"}));
}

TEST(BannedCalls, CommentsAndLiteralsDoNotCount) {
  EXPECT_EQ(Found("// sleep(1)\n/* assert(x) */ auto s = \"open(p)\" + R\"(read(x))\";\n"
                  "int n = 1'000; char c = '\"'; sleep(n);"),
            Strings{"sleep(:3"});
}

TEST(Allowances, BehindTheLineExcusesIt) {
  EXPECT_EQ(InSync("sleep(1);  // tidy: allow sleep( because the kernel needs it\n"), "");
}

TEST(Allowances, AboveTheLineExcusesTheNextCode) {
  EXPECT_EQ(
      InSync("// tidy: allow sleep( because the kernel needs it,\n// and says so.\nsleep(1);"), "");
}

TEST(Allowances, ExcuseOnlyTheirLineAndPattern) {
  EXPECT_EQ(Found("sleep(1);  // tidy: allow sleep( because of x\nsleep(2);"), Strings{"sleep(:2"});
  EXPECT_EQ(Found("sleep(1); open(p);  // tidy: allow sleep( because of x"), Strings{"open(:1"});
}

TEST(Allowances, WithoutAReasonExcuseNothing) {
  const std::string report = InSync("sleep(1);  // tidy: allow sleep( because \n");
  EXPECT_NE(report.find("a.cc:1: sleep( is banned"), std::string::npos) << report;
  EXPECT_NE(report.find("a.cc:1: the allowance 'sleep(' gives no reason"), std::string::npos)
      << report;
}

TEST(Allowances, ForNothingAreViolations) {
  EXPECT_EQ(InSync("int a;  // tidy: allow sleep( because of x\n"),
            "src/sync/a.cc:1: the allowance 'sleep(' allows nothing; remove it\n");
  EXPECT_EQ(InSync("int a;  // tidy: allow naps because of x\n"),
            "src/sync/a.cc:1: the allowance 'naps' names no pattern of tests/tidy/banned.txt\n");
}

TEST(Allowances, InsideAStringAreText) {
  EXPECT_NE(InSync("sleep(f(\"// tidy: allow sleep( because x\"));"), "");
}

TEST(BannedCalls, HoldInThisRepository) {
  const std::vector<BannedCall> banned = RepositoryTable();
  std::vector<Violation> violations;
  for (const char* folder : {"src", "tests"}) {
    const std::vector<SourceFile> files = ReadCppFiles(SourceRoot(), folder);
    EXPECT_FALSE(files.empty()) << "no sources below " << SourceRoot() << "/" << folder;
    for (const SourceFile& file : files) {
      std::ranges::move(CheckBannedCalls(banned, file.path, file.text),
                        std::back_inserter(violations));
    }
  }
  EXPECT_TRUE(violations.empty()) << Report(violations);
}

}  // namespace
}  // namespace denselet::tidy
