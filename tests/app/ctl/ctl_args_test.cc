#include "app/ctl/ctl_args.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace denselet::app {
namespace {

Result<CtlArgs> Parse(const std::vector<const char*>& words) { return ParseCtlArgs(words, "/d"); }

std::string FaultOf(const std::vector<const char*>& words) {
  const auto args = Parse(words);
  return args ? "none" : args.error().message();
}

TEST(CtlArgs, CommandsAndOptionsStandInAnyOrder) {
  const auto args = Parse({"-o", "json", "pod", "--socket=/s", "web", "-n", "prod"});
  ASSERT_TRUE(args);
  EXPECT_EQ(args->command, CtlCommand::kPod);
  EXPECT_EQ(args->pod, "web");
  EXPECT_EQ(args->ns, "prod");
  EXPECT_EQ(args->socket, "/s");
  EXPECT_TRUE(args->json);
}

TEST(CtlArgs, WithoutWordsItHelps) {
  EXPECT_EQ(Parse({})->command, CtlCommand::kHelp);
  EXPECT_EQ(Parse({"pods", "--help"})->command, CtlCommand::kHelp);
  EXPECT_EQ(Parse({"--version"})->command, CtlCommand::kVersion);
  EXPECT_NE(CtlHelpText("/d").find("denseletctl pleg"), std::string::npos);
}

TEST(CtlArgs, TopTakesTimes) {
  const auto args = Parse({"top", "--interval", "500ms", "--for=1m"});
  ASSERT_TRUE(args);
  EXPECT_EQ(args->socket, "/d");
  EXPECT_EQ(args->interval, Milliseconds(500));
  EXPECT_EQ(args->time_max, Minutes(1));
}

TEST(CtlArgs, SaysWhatIsWrong) {
  EXPECT_EQ(FaultOf({"prods"}), "there is no command \"prods\"; see denseletctl help");
  EXPECT_EQ(FaultOf({"pod"}), "which pod? denseletctl pod NAME");
  EXPECT_EQ(FaultOf({"pods", "x"}), "nothing may stand at the place of \"x\"");
  EXPECT_EQ(FaultOf({"pods", "-o", "yaml"}), "-o is json or table, not \"yaml\"");
  EXPECT_EQ(FaultOf({"pods", "-x"}), "there is no option \"-x\"");
  EXPECT_EQ(FaultOf({"pods", "--socket"}), "--socket wants a value");
  EXPECT_EQ(FaultOf({"top", "--for", "0s"}),
            "--for wants a duration such as 1s or 500ms, not \"0s\"");
}

}  // namespace
}  // namespace denselet::app
