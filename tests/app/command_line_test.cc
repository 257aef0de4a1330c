#include "app/command_line.h"

#include <gtest/gtest.h>

#include <vector>

#include "app/version.h"
#include "reactor/real_clock.h"

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

TEST(CommandLine, ReactorIsUringOrEpoll) {
  EXPECT_EQ(Parse({})->reactor, std::nullopt);
  EXPECT_EQ(Parse({"--denselet-reactor=uring"})->reactor, reactor::Backend::kUring);
  EXPECT_EQ(Parse({"--denselet-reactor=epoll"})->reactor, reactor::Backend::kEpoll);
  EXPECT_EQ(Parse({"--denselet-reactor=kqueue"}).error().message(),
            "invalid argument \"kqueue\" for \"--denselet-reactor\" flag: expected uring or epoll");
}

TEST(CommandLine, AFlagWithAValueTakesTheNextWordWhateverItIs) {
  EXPECT_EQ(Parse({"--denselet-reactor", "epoll"})->reactor, reactor::Backend::kEpoll);
  EXPECT_EQ(Parse({"--denselet-reactor", "uring", "--version"})->command, Command::kVersion);
  EXPECT_EQ(Parse({"--denselet-reactor", "--help"}).error().message(),
            "invalid argument \"--help\" for \"--denselet-reactor\" flag: expected uring or epoll");
  EXPECT_EQ(Parse({"--denselet-reactor"}).error().message(),
            "flag needs an argument: --denselet-reactor");
  EXPECT_EQ(Parse({"--denselet-reactor="}).error().message(),
            "invalid argument \"\" for \"--denselet-reactor\" flag: expected uring or epoll");
  EXPECT_EQ(Parse({"--version", "raw"}).error().message(), "unknown command \"raw\"")
      << "a flag that may go without a value never takes the next word";
}

TEST(CommandLine, AForcedReactorIsTakenAndOtherwiseTheKernelIsProbed) {
  const reactor::RealClock clock;
  EXPECT_EQ(*ChooseReactor(*Parse({"--denselet-reactor=epoll"}), clock), reactor::Backend::kEpoll);
  EXPECT_EQ(*ChooseReactor(*Parse({}), clock), reactor::ProbeBackend(clock));
}

TEST(CommandLine, VersionIsTheLineThatKubeadmParses) {
  EXPECT_EQ(VersionText(), "Kubernetes " + std::string(kKubernetesVersion) + "\n");
  const std::string raw = RawVersionText(reactor::Backend::kEpoll);
  EXPECT_NE(raw.find("denselet v" + std::string(kDenseletVersion)), std::string::npos);
  EXPECT_NE(raw.find("reactor epoll\n"), std::string::npos);
}

TEST(CommandLine, HelpNamesEveryFlagThatIsParsed) {
  for (const char* flag : {"--help", "--version", "--denselet-reactor"}) {
    EXPECT_NE(HelpText().find(flag), std::string::npos) << flag;
  }
}

}  // namespace
}  // namespace denselet::app
