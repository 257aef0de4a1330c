#include "app/command_line.h"

#include <gtest/gtest.h>

#include <vector>

#include "app/version.h"

namespace denselet::app {
namespace {

Result<CommandLine> Parse(std::vector<const char*> args) { return ParseCommandLine(args); }

TEST(CommandLine, WithoutFlagsRuns) { EXPECT_EQ(Parse({})->command, Command::kRun); }

TEST(CommandLine, HelpWinsOverTheRest) {
  EXPECT_EQ(Parse({"--help"})->command, Command::kHelp);
  EXPECT_EQ(Parse({"--version", "-h"})->command, Command::kHelp);
}

TEST(CommandLine, VersionTakesThreeForms) {
  EXPECT_EQ(Parse({"--version"})->command, Command::kVersion);
  EXPECT_EQ(Parse({"--version=true"})->command, Command::kVersion);
  EXPECT_EQ(Parse({"--version=false"})->command, Command::kRun);
  EXPECT_EQ(Parse({"--version=raw"})->command, Command::kVersionRaw);
  EXPECT_EQ(Parse({"--version=maybe"}).error().message(),
            "invalid argument \"maybe\" for \"--version\" flag: expected true, false or raw");
}

TEST(CommandLine, UnknownFlagsAreNamedWithoutTheirValue) {
  EXPECT_EQ(Parse({"--bogus=secret"}).error().message(), "unknown flag: --bogus");
  EXPECT_EQ(Parse({"--versions"}).error().message(), "unknown flag: --versions");
}

TEST(CommandLine, ArgumentsThatAreNoFlagsAreRefused) {
  EXPECT_EQ(Parse({"run"}).error().message(), "unknown command \"run\"");
}

TEST(CommandLine, VersionIsTheLineThatKubeadmParses) {
  EXPECT_EQ(VersionText(Command::kVersion), "Kubernetes " + std::string(kKubernetesVersion) + "\n");
  EXPECT_NE(VersionText(Command::kVersionRaw).find("denselet v" + std::string(kDenseletVersion)),
            std::string::npos);
}

TEST(CommandLine, HelpNamesEveryFlagThatIsParsed) {
  EXPECT_NE(HelpText().find("--help"), std::string::npos);
  EXPECT_NE(HelpText().find("--version"), std::string::npos);
}

}  // namespace
}  // namespace denselet::app
