#include "app/flags/parsed_flags.h"

#include <gmock/gmock.h>

#include "app/version.h"
#include "tests/app/flags/parse_helper.h"
#include "tests/golden.h"

namespace denselet::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// What the kubelet refuses is refused, in its words, and what it takes is taken.
TEST(ParseFlags, AgreesWithTheKubelet) {
  for (const auto& row : tests::ReadGolden("tests/app/flags/golden/cases.txt")) {
    SCOPED_TRACE(row[0]);
    const FlagResult result = ParseLines(row[0]);
    if (row[1] == "error") {
      ASSERT_FALSE(result.errors.empty());
      EXPECT_EQ(result.errors.front(), row[2]);
    } else {
      EXPECT_THAT(result.errors, IsEmpty());
    }
  }
}

TEST(ParseFlags, WithoutFlagsRuns) {
  const FlagResult result = Parse({});
  EXPECT_EQ(result.flags.command, Command::kRun);
  EXPECT_THAT(result.flags.uses, IsEmpty());
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(ParseFlags, UsesAreKeptInOrderByTheirRealName) {
  const FlagResult result =
      Parse({"--max_pods=5", "-v4", "--config", "a.yaml", "--fail-swap-on", "--max-pods", "6"});
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(result.flags.uses,
              ElementsAre(FlagUse{"max-pods", "5"}, FlagUse{"v", "4"}, FlagUse{"config", "a.yaml"},
                          FlagUse{"fail-swap-on", "true"}, FlagUse{"max-pods", "6"}));
}

TEST(ParseFlags, AllErrorsAreReportedAtOnce) {
  const FlagResult result = Parse({"--bogus", "value", "--port=x", "-q", "--bogus2=secret",
                                   "--sync-frequency=1", "--max-pods=5", "--kubeconfig"});
  EXPECT_THAT(
      result.errors,
      ElementsAre("unknown flag: --bogus",
                  "invalid argument \"x\" for \"--port\" flag: strconv.ParseInt: parsing \"x\": "
                  "invalid syntax",
                  "unknown shorthand flag: 'q' in -q", "unknown flag: --bogus2",
                  "invalid argument \"1\" for \"--sync-frequency\" flag: time: missing unit in "
                  "duration \"1\"",
                  "flag needs an argument: --kubeconfig"));
  EXPECT_THAT(result.flags.uses, ElementsAre(FlagUse{"max-pods", "5"}));
}

TEST(ParseFlags, DeprecatedFlagsAreWarnedOfAtEachUse) {
  const FlagResult result =
      Parse({"--max-pods=5", "--max_pods=6", "--provider-id=x", "--log-cadvisor-usage"});
  EXPECT_THAT(
      result.warnings,
      ElementsAre("Flag --max-pods has been deprecated, set maxPods in the file given by --config "
                  "instead",
                  "Flag --max-pods has been deprecated, set maxPods in the file given by --config "
                  "instead",
                  "Flag --log-cadvisor-usage has been deprecated, it came from cAdvisor by mistake "
                  "and will be removed"));
}

TEST(ParseFlags, HelpWinsOverVersion) {
  EXPECT_EQ(Parse({"--help"}).flags.command, Command::kHelp);
  EXPECT_EQ(Parse({"--version", "-h"}).flags.command, Command::kHelp);
  EXPECT_EQ(Parse({"--help=false"}).flags.command, Command::kRun);
}

TEST(ParseFlags, HelpNeedsNoFurtherWord) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"help"}, {"help", "me"}, {"--help", "nonsense"}, {"nonsense", "-h"}}) {
    const FlagResult result = Parse(words);
    EXPECT_THAT(result.errors, IsEmpty()) << words[0];
    EXPECT_EQ(result.flags.command, Command::kHelp) << words[0];
  }
  for (const auto& words : std::vector<std::vector<std::string>>{{"config", "--help"},
                                                                 {"config", "print", "-h"},
                                                                 {"config", "edit", "-h"},
                                                                 {"config", "help"},
                                                                 {"help", "config"}}) {
    const FlagResult result = Parse(words);
    EXPECT_THAT(result.errors, IsEmpty()) << words[1];
    EXPECT_EQ(result.flags.command, Command::kConfigHelp) << words[1];
  }
}

TEST(ParseFlags, VersionTakesFourForms) {
  const std::string ours(kKubernetesVersion);
  EXPECT_EQ(Parse({"--version"}).flags.command, Command::kVersion);
  EXPECT_EQ(Parse({"--version=1"}).flags.command, Command::kVersion);
  EXPECT_EQ(Parse({"--version=false"}).flags.command, Command::kRun);
  EXPECT_EQ(Parse({"--version=raw"}).flags.command, Command::kVersionRaw);
  const FlagResult reported = Parse({"--version=" + ours + "-vendor.1"});
  EXPECT_THAT(reported.errors, IsEmpty());
  EXPECT_EQ(reported.flags.command, Command::kRun);
  EXPECT_EQ(reported.flags.KubernetesVersion(), ours + "-vendor.1");
  const FlagResult printed = Parse({"--version=" + ours + "-vendor.1", "--version"});
  EXPECT_EQ(printed.flags.command, Command::kVersion);
  EXPECT_EQ(printed.flags.KubernetesVersion(), ours + "-vendor.1");
  EXPECT_EQ(Parse({"--version"}).flags.KubernetesVersion(), ours);
  EXPECT_THAT(Parse({"--version=maybe"}).errors,
              ElementsAre("invalid argument \"maybe\" for \"--version\" flag: strconv.ParseBool: "
                          "parsing \"maybe\": invalid syntax"));
  EXPECT_THAT(Parse({"--version=v1.2.3"}).errors,
              ElementsAre("invalid argument \"v1.2.3\" for \"--version\" flag: version \"v1.2.3\" "
                          "must match major/minor/patch of default version \"" +
                          ours + "\""));
}

TEST(ParseFlags, OutputIsForConfigPrintAlone) {
  EXPECT_THAT(Parse({"config", "print", "-o", "json"}).errors, IsEmpty());
  EXPECT_EQ(Parse({"config", "print", "--output=json"}).flags.Text("output"), "json");
  EXPECT_EQ(Parse({"config", "print"}).flags.Text("output"), "yaml");
  EXPECT_THAT(Parse({"config", "print", "-oxml"}).errors, SizeIs(1));
  EXPECT_THAT(Parse({"-o", "json"}).errors, ElementsAre("flag --output is for config print alone"));
}

TEST(ParseFlags, OwnFlagsAreChecked) {
  EXPECT_THAT(Parse({"--denselet-config=a", "--denselet-shards=4", "--denselet-reactor=epoll",
                     "--denselet-journal=b", "--denselet-pleg-relist-period=1m",
                     "--denselet-pleg-fallback-relist-period=2s"})
                  .errors,
              IsEmpty());
  EXPECT_THAT(
      Parse({"--denselet-shards=1025", "--denselet-shards=x", "--denselet-reactor=kqueue",
             "--denselet-pleg-relist-period=0s", "--denselet-pleg-fallback-relist-period=1"})
          .errors,
      ElementsAre(
          "--denselet-shards: found \"1025\", wanted a number, 0 to 1024",
          "--denselet-shards: found \"x\", wanted a number, 0 to 1024",
          "--denselet-reactor: found \"kqueue\", wanted auto, uring or epoll",
          "--denselet-pleg-relist-period: found \"0s\", wanted a duration above 0s, such as 5m or "
          "1s",
          "--denselet-pleg-fallback-relist-period: found \"1\", wanted a duration above 0s, such "
          "as 5m or 1s"));
}

TEST(ParseFlags, NoShardsAtAllMeansTheDefault) {
  const FlagResult result = Parse({"--denselet-shards=0"});
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_EQ(result.flags.Int("denselet-shards"), 0);
}

TEST(ParseFlags, ConfigCheckTakesFilesAndFlags) {
  const FlagResult result = Parse({"config", "check", "a.yaml", "--max-pods", "5", "b.yaml"});
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_EQ(result.flags.command, Command::kConfigCheck);
  EXPECT_THAT(result.flags.files, ElementsAre("a.yaml", "b.yaml"));
  EXPECT_EQ(result.flags.Text("max-pods"), "5");
  EXPECT_THAT(Parse({"config", "check", "--", "--odd"}).flags.files, ElementsAre("--odd"));
}

TEST(ParseFlags, ConfigPrintTakesFlagsOnly) {
  EXPECT_EQ(Parse({"--max-pods=5", "config", "print"}).flags.command, Command::kConfigPrint);
  EXPECT_THAT(Parse({"config", "print", "x"}).errors,
              ElementsAre("unknown argument of config print: x"));
  EXPECT_THAT(Parse({"config"}).errors,
              ElementsAre("config needs one of the words check and print"));
  EXPECT_THAT(Parse({"config", "edit"}).errors, ElementsAre("unknown command config edit"));
}

TEST(ParsedFlags, GivesDefaultsWhereNothingWasGiven) {
  const ParsedFlags flags;
  EXPECT_FALSE(flags.Has("root-dir"));
  EXPECT_EQ(flags.Text("root-dir"), "/var/lib/kubelet");
  EXPECT_EQ(flags.Text("kubeconfig"), "");
  EXPECT_FALSE(flags.Bool("exit-on-lock-contention"));
  EXPECT_EQ(flags.Int("maximum-dead-containers"), -1);
  EXPECT_EQ(flags.Int("denselet-shards"), 0);
  EXPECT_EQ(flags.Period("housekeeping-interval"), Seconds(10));
  EXPECT_EQ(flags.Period("denselet-pleg-relist-period"), Minutes(5));
  EXPECT_THAT(flags.NodeLabels(), IsEmpty());
}

TEST(ParsedFlags, GivesTheLastValue) {
  const ParsedFlags flags =
      Parse({"--root-dir=/a", "--root-dir=/b", "--exit-on-lock-contention", "--denselet-shards=3",
             "--housekeeping-interval=1m", "--maximum-dead-containers=0x10"})
          .flags;
  EXPECT_EQ(flags.Text("root-dir"), "/b");
  EXPECT_THAT(flags.Texts("root-dir"), ElementsAre("/a", "/b"));
  EXPECT_TRUE(flags.Bool("exit-on-lock-contention"));
  EXPECT_EQ(flags.Int("denselet-shards"), 3);
  EXPECT_EQ(flags.Int("maximum-dead-containers"), 16);
  EXPECT_EQ(flags.Period("housekeeping-interval"), Minutes(1));
}

TEST(ParsedFlags, NodeLabelsAddUp) {
  const ParsedFlags flags = Parse({"--node-labels=b=2, a = 1 ,c", "--node-labels=b=3"}).flags;
  EXPECT_THAT(flags.NodeLabels(), ElementsAre(testing::Pair("a", "1"), testing::Pair("b", "3"),
                                              testing::Pair("c", "")));
}

}  // namespace
}  // namespace denselet::app
