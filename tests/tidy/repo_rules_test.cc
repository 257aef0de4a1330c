#include "tests/tidy/repo_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "tests/tidy/source_tree.h"

namespace denselet::tidy {
namespace {

// Put together here, or this file would break the rules it tests.
const std::string kHome = std::string("/ho") + "me/";
const std::string kRoot = std::string("/ro") + "ot/";
const std::string kWork = std::string("/wo") + "rk/";
const std::string kDebian = std::string("deb.") + "debian.org";
const std::string kPypi = std::string("pypi.") + "org";

std::string ReportOn(std::string_view path, const std::string& text) {
  return Report(CheckRepoFile(path, text));
}

void ExpectMachinePath(const std::string& line) {
  const std::string report = ReportOn("scripts/a.sh", "#!/bin/sh\n" + line + "\n");
  EXPECT_TRUE(report.starts_with("scripts/a.sh:2: names a path below /")) << line << ": " << report;
}

TEST(RepoRules, PathsOfAMachineAreFound) {
  ExpectMachinePath(kWork + "main");
  ExpectMachinePath("cd " + kHome + "me");
  ExpectMachinePath("dir=\"" + kRoot + ".cache\"");
  ExpectMachinePath("g++ -I" + kWork + "include");
  ExpectMachinePath("dir=${DIR:-" + kHome + "me}");
}

TEST(RepoRules, PathsThatContinueAnotherAreFine) {
  for (const std::string before :
       {"src", "$root", "${root}", "$(pwd)", "~", "https://example.org"}) {
    EXPECT_EQ(ReportOn("a.sh", before + kWork + "x\n"), "") << before;
  }
}

TEST(RepoRules, HomeDefaultOfAScriptIsFine) {
  EXPECT_EQ(ReportOn("a.sh", "cache=${HOME:-" + kRoot + "}.cache\n"), "");
}

TEST(RepoRules, RegistryHostsAreFound) {
  EXPECT_EQ(ReportOn("README.md", "from http://" + kDebian + "/debian\n"),
            "README.md:1: names the package registry " + kDebian +
                "; use the one this machine is configured for (apt, go env GOPROXY)\n");
  EXPECT_NE(ReportOn("README.md", "www." + kPypi + "\n"), "");
}

TEST(RepoRules, LongerNamesAreOtherHosts) {
  EXPECT_EQ(ReportOn("README.md", "my" + kPypi + " " + kPypi + "anization\n"), "");
}

TEST(RepoRules, AllowanceNeedsAReason) {
  const std::string line = "cd " + kHome + "me  # tidy: allow machine-path because";
  EXPECT_EQ(ReportOn("a.sh", line + " the image has it\n"), "");
  EXPECT_NE(ReportOn("a.sh", line + "\n"), "");
}

TEST(RepoRules, BinaryFilesAreNotRead) {
  EXPECT_EQ(ReportOn("a.bin", kHome + "me" + std::string(1, '\0')), "");
}

TEST(RepoRules, HeadersStartWithPragmaOnce) {
  EXPECT_EQ(ReportOn("src/a.h", "// Why.\n/* And\n how. */\n#pragma once\n"), "");
  EXPECT_EQ(ReportOn("src/a.h", "// #pragma once\n\n#include <x>\n#pragma once\n"),
            "src/a.h:3: a header starts with #pragma once\n");
  EXPECT_EQ(ReportOn("src/a.h", ""), "src/a.h:1: a header starts with #pragma once\n");
  EXPECT_EQ(ReportOn("src/a.cc", "#include <x>\n"), "");
}

TEST(RepoRules, LongFilesAreFound) {
  const std::string longest(kCppLinesMax, '\n');
  EXPECT_EQ(ReportOn("src/a.cc", longest), "");
  EXPECT_EQ(ReportOn("src/a.cc", longest + "\n"),
            "src/a.cc:601: has 601 lines, more than 600; look for the second idea in it\n");
  EXPECT_EQ(ReportOn("compat/a.md", longest + "\n"), "");
}

TEST(RepoRules, ForeignSourcesKeepTheirForm) {
  EXPECT_EQ(ReportOn("third_party/a.h", std::string(kCppLinesMax + 1, '\n')), "");
}

TEST(RepoRules, HoldInThisRepository) {
  std::vector<Violation> violations;
  for (const SourceFile& file : ReadTrackedFiles(SourceRoot())) {
    std::ranges::move(CheckRepoFile(file.path, file.text), std::back_inserter(violations));
  }
  EXPECT_TRUE(violations.empty()) << Report(violations);
}

}  // namespace
}  // namespace denselet::tidy
