#include "app/config/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/app/config/fake_config_files.h"
#include "tests/source_dir.h"

namespace denselet::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kHead = "apiVersion: denselet.config/v1alpha1\nkind: DenseletConfiguration\n";

std::vector<std::string> FaultsOf(const std::string& body) {
  std::vector<std::string> texts;
  for (const ConfigFault& fault : LoadSettingsText(kHead + body, "own.yaml").faults) {
    texts.push_back(ToString(fault));
  }
  return texts;
}

TEST(Settings, HaveDefaults) {
  FakeConfigFiles files;
  const LoadedSettings loaded = LoadSettings(Flags({"--root-dir=/r"}), files);
  EXPECT_THAT(loaded.faults, IsEmpty());
  EXPECT_EQ(loaded.settings.shards, 0u);
  EXPECT_EQ(loaded.settings.reactor, DenseletSettings::Reactor::kAuto);
  EXPECT_EQ(loaded.settings.journal, "/r/denselet/journal");
  EXPECT_EQ(loaded.settings.socket, "/r/denselet/denselet.sock");
  EXPECT_EQ(loaded.settings.container_logs_dir, "/var/log/containers");
  EXPECT_TRUE(loaded.settings.pleg_use_events);
  EXPECT_EQ(loaded.settings.pleg_relist_period, Minutes(5));
  EXPECT_EQ(loaded.settings.pleg_fallback_relist_period, Seconds(1));
}

// The block of README.md that shows them.
TEST(Settings, TheSampleInTheReadmeIsGoodAndSaysTheDefaults) {
  std::ifstream file(tests::SourcePath("README.md"));
  const std::string readme{std::istreambuf_iterator<char>(file), {}};
  const size_t begin = readme.find("apiVersion: denselet.config/v1alpha1");
  ASSERT_NE(begin, std::string::npos);
  const std::string sample = readme.substr(begin, readme.find("```", begin) - begin);
  const LoadedSettings loaded = LoadSettingsText(sample, "README.md");
  EXPECT_TRUE(loaded.faults.empty()) << ToString(loaded.faults[0]);
  const DenseletSettings defaults;
  EXPECT_EQ(loaded.settings.shards, defaults.shards);
  EXPECT_EQ(loaded.settings.reactor, defaults.reactor);
  EXPECT_EQ(loaded.settings.container_logs_dir, defaults.container_logs_dir);
  EXPECT_EQ(loaded.settings.pleg_use_events, defaults.pleg_use_events);
  EXPECT_EQ(loaded.settings.pleg_relist_period, defaults.pleg_relist_period);
  EXPECT_EQ(loaded.settings.pleg_fallback_relist_period, defaults.pleg_fallback_relist_period);
}

TEST(Settings, FlagsWinOverTheFile) {
  FakeConfigFiles files(
      {{"/own.yaml", std::string(kHead) + "shards: 3\nreactor: uring\njournal: /j\nsocket: /f\n"
                                          "containerLogsDir: /l\n"
                                          "pleg: {relistPeriod: 1m, fallbackRelistPeriod: 2s}\n"}});
  const LoadedSettings loaded =
      LoadSettings(Flags({"--denselet-config=/own.yaml", "--denselet-shards=7",
                          "--denselet-pleg-relist-period=9m", "--denselet-socket=/s"}),
                   files);
  EXPECT_THAT(loaded.faults, IsEmpty());
  EXPECT_EQ(loaded.settings.shards, 7u);
  EXPECT_EQ(loaded.settings.reactor, DenseletSettings::Reactor::kUring);
  EXPECT_EQ(loaded.settings.journal, "/j");
  EXPECT_EQ(loaded.settings.socket, "/s");
  EXPECT_EQ(loaded.settings.container_logs_dir, "/l");
  EXPECT_EQ(loaded.settings.pleg_relist_period, Minutes(9));
  EXPECT_EQ(loaded.settings.pleg_fallback_relist_period, Seconds(2));
  EXPECT_EQ(ToString(loaded.origins.Of("shards")), "--denselet-shards");
  EXPECT_EQ(ToString(loaded.origins.Of("pleg.fallbackRelistPeriod")), "/own.yaml:8");
}

TEST(Settings, EventsCanBeSwitchedOff) {
  const LoadedSettings off =
      LoadSettingsText(std::string(kHead) + "pleg: {useEvents: false}\n", "own.yaml");
  EXPECT_THAT(off.faults, IsEmpty());
  EXPECT_FALSE(off.settings.pleg_use_events);
  const auto shown = off.Shown();
  const auto at = std::ranges::find(shown, "pleg.useEvents", &ShownSetting::path);
  ASSERT_NE(at, shown.end());
  EXPECT_EQ(at->value, "false");
  EXPECT_TRUE(at->is_plain);
  FakeConfigFiles files({{"/own.yaml", std::string(kHead) + "pleg: {useEvents: false}\n"}});
  EXPECT_TRUE(
      LoadSettings(Flags({"--denselet-config=/own.yaml", "--denselet-pleg-use-events=true"}), files)
          .settings.pleg_use_events);
  EXPECT_FALSE(
      LoadSettings(Flags({"--denselet-pleg-use-events=false"}), files).settings.pleg_use_events);
  EXPECT_THAT(FaultsOf("pleg: {useEvents: sometimes}\n"),
              ElementsAre("own.yaml:3: pleg.useEvents: found \"sometimes\", wanted true or false"));
}

TEST(Settings, TellAllFaults) {
  EXPECT_THAT(FaultsOf("shards: 2000\nreactor: kqueue\njournal: relative\nextra: {a: 1}\n"
                       "pleg: {relistPeriod: 0s, fallbackRelistPeriod: 5}\n"),
              ElementsAre("own.yaml:3: shards: found 2000, wanted a number, 0 to 1024",
                          "own.yaml:4: reactor: found \"kqueue\", wanted auto, uring or epoll",
                          "own.yaml:5: journal: found \"relative\", wanted an absolute path",
                          "own.yaml:6: extra: unknown field", "own.yaml:6: extra.a: unknown field",
                          HasSubstr("own.yaml:7: pleg.relistPeriod: found \"0s\", wanted"),
                          HasSubstr("own.yaml:7: pleg.fallbackRelistPeriod: found 5, wanted")));
  EXPECT_THAT(FaultsOf("shards: 1\nshards: 2\n"),
              ElementsAre("own.yaml:4: shards: comes more than once"));
  EXPECT_THAT(FaultsOf("shards: [1]\npleg: 5\n"),
              ElementsAre("own.yaml:3: shards: found a list, wanted a single value",
                          "own.yaml:3: shards[0]: unknown field",
                          "own.yaml:4: pleg: found 5, wanted an object"));
  EXPECT_THAT(FaultsOf("x: [\n"), ElementsAre(HasSubstr("own.yaml:")));
}

TEST(Settings, AreOfTheirOwnKind) {
  const LoadedSettings loaded = LoadSettingsText("kind: Pod\nshards: 5\n", "own.yaml");
  ASSERT_EQ(loaded.faults.size(), 2u);
  EXPECT_EQ(ToString(loaded.faults[0]),
            "own.yaml: apiVersion: found nothing, wanted denselet.config/v1alpha1");
  EXPECT_EQ(ToString(loaded.faults[1]),
            "own.yaml:1: kind: found \"Pod\", wanted DenseletConfiguration");
}

}  // namespace
}  // namespace denselet::app
