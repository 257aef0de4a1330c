#include "bench/cri_sim/settings_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "bench/cri_sim/faults.h"
#include "tests/source_dir.h"

namespace denselet::cri_sim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Settings, LatenciesAreReadAndDrawn) {
  SeededRandom random(7);
  EXPECT_EQ(ParseLatency("5ms")->Draw(random), Milliseconds(5));
  const Latency uniform = *ParseLatency("uniform 1ms 10ms");
  const Latency lognormal = *ParseLatency("lognormal 5ms 0.5");
  int above = 0;
  for (int i = 0; i < 1000; ++i) {
    const Duration drawn = uniform.Draw(random);
    EXPECT_GE(drawn, Milliseconds(1));
    EXPECT_LE(drawn, Milliseconds(10));
    above += lognormal.Draw(random) > Milliseconds(5) ? 1 : 0;
  }
  EXPECT_GT(above, 400);  // five milliseconds are the median
  EXPECT_LT(above, 600);
  for (const char* wrong : {"", "fast", "uniform 10ms 1ms", "uniform 1ms", "lognormal 5ms x",
                            "-1ms", "lognormal 5ms -1"}) {
    EXPECT_FALSE(ParseLatency(wrong)) << wrong;
  }
}

TEST(Settings, OnlyWhatIsNamedChanges) {
  Settings settings;
  settings.random_order = true;
  ASSERT_TRUE(
      ApplySettings(R"({"events":{"lose":0.5},"images":{"sizes":{"busybox":7}}})", settings));
  EXPECT_TRUE(settings.random_order);
  EXPECT_EQ(settings.events.lose, 0.5);
  EXPECT_EQ(settings.image_sizes.at("docker.io/library/busybox:latest"), 7u);
}

TEST(Settings, AWrongOneChangesNothing) {
  Settings settings;
  const Status applied = ApplySettings(R"({"randomOrder":true,"nonsense":1})", settings);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().message(), "unknown key \"nonsense\"");
  EXPECT_FALSE(settings.random_order);
  EXPECT_FALSE(ApplySettings(R"({"events":{"lose":2}})", settings));
  EXPECT_FALSE(ApplySettings(R"({"methods":{"Version":{"error":{"code":"NO"}}}})", settings));
  EXPECT_FALSE(ApplySettings("[", settings));
}

TEST(Settings, AScenarioIsYamlWithTimedCommands) {
  const auto scenario = ParseScenario(R"(
methods:
  RunPodSandbox:
    latency: uniform 1ms 2ms
    error: {code: UNAVAILABLE, count: 2, side: after}
  "*": {latency: 1ms}
events: {lose: 0.1, lateness: 2s}
at:
- {after: 5s, do: crash, downtime: 1s}
)",
                                      "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message();
  EXPECT_EQ(scenario->settings.methods.at("RunPodSandbox").error.count, 2u);
  EXPECT_EQ(scenario->settings.methods.at("RunPodSandbox").error_side, Side::kAfter);
  ASSERT_EQ(scenario->commands.size(), 1u);
  EXPECT_EQ(scenario->commands[0].at, Seconds(5));
  EXPECT_NE(scenario->commands[0].command.find("\"crash\""), std::string::npos);
  EXPECT_TRUE(ParseScenario("", "s.yaml"));
}

std::string SaidOf(const char* text) {
  const auto scenario = ParseScenario(text, "s.yaml");
  return scenario ? "nothing" : scenario.error().message();
}

TEST(Scenario, WhatIsWrongWithItIsSaidWithItsLine) {
  EXPECT_THAT(SaidOf("randomOrder: true\na: ]\n"), StartsWith("s.yaml:2: not valid YAML: "));
  EXPECT_EQ(SaidOf("methods: {Version: {latency: 1ms}}\nmethods: {}\n"),
            "s.yaml:2: key \"methods\" is there twice");
  EXPECT_THAT(SaidOf("methods: {Version: {latency: 1ms, latency: 2ms}}"),
              HasSubstr("s.yaml:1: methods: key \"latency\" is there twice"));
  EXPECT_EQ(SaidOf("randomOrder: true\n---\nrandomOrder: false\n"),
            "s.yaml:2: a second document; a scenario is one");
  EXPECT_EQ(SaidOf("\nrandomOrder: true\nevents: {enabled: true}\nnonsense: 1\n"),
            "s.yaml:4: unknown key \"nonsense\"");
  EXPECT_THAT(SaidOf("methods:\n  Version:\n    latency: 1ms\n    error: {code: NO}\n"),
              StartsWith("s.yaml:4: "));
  EXPECT_EQ(SaidOf("- a list\n"), "s.yaml:1: not an object: [\"a list\"]");
  EXPECT_THAT(SaidOf("exec:\n- match: a\n- match: b\n  scrpt: exit 1\n"),
              StartsWith("s.yaml:4: exec: unknown key"));
}

TEST(Scenario, WrongCommandsAreSaidWithTheirLine) {
  EXPECT_THAT(SaidOf("at:\n- {after: 5s, do: crash}\n- {after: 6s, do: crsh}\n"),
              StartsWith("s.yaml:3: at: unknown command"));
  EXPECT_THAT(SaidOf("at:\n- after: 5s\n  do: crash\n  downtme: 1s\n"),
              StartsWith("s.yaml:4: at: unknown member"));
  EXPECT_THAT(SaidOf("at:\n- after: 5s\n  do: set\n  settings:\n    events:\n      lose: 2\n"),
              StartsWith("s.yaml:6: at: "));
}

TEST(Scenario, TheOneInTheDocumentationIsRead) {
  std::ifstream file(tests::SourcePath("bench/README.md"));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t begin = text.find("```yaml\nmethods:");
  ASSERT_NE(begin, std::string::npos);
  const size_t end = text.find("```", begin + 3);
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(SaidOf(text.substr(begin + 8, end - begin - 8).c_str()), "nothing");
}

TEST(Scenario, InJsonTooFaultsAreSaidWithTheirLine) {
  EXPECT_EQ(SaidOf("{\n  \"randomOrder\": true,\n  \"nonsense\": 1\n}\n"),
            "s.yaml:3: unknown key \"nonsense\"");
  EXPECT_THAT(SaidOf("{\"at\": [\n  {\"after\": \"1s\", \"do\": \"crash\"},\n"
                     "  {\"after\": \"soon\", \"do\": \"crash\"}\n]}\n"),
              StartsWith("s.yaml:3: at: after: "));
  EXPECT_THAT(SaidOf("{\n\"randomOrder\": tru e}"), StartsWith("s.yaml:2: "));
}

TEST(Faults, ACountIsUsedUpThenTheProbabilityDecides) {
  Settings settings;
  SeededRandom random(3);
  ASSERT_TRUE(ApplySettings(
      R"({"methods":{"Version":{"error":{"count":2,"code":"INTERNAL"},"hang":{"count":1}}}})",
      settings));
  CallPlan plan = PlanCall(settings, "Version", random);
  EXPECT_TRUE(plan.before.fail && plan.before.hang);
  EXPECT_EQ(plan.error_code, 13);
  plan = PlanCall(settings, "Version", random);
  EXPECT_TRUE(plan.before.fail && !plan.before.hang);
  plan = PlanCall(settings, "Version", random);
  EXPECT_FALSE(plan.before.fail);
}

TEST(Faults, AStarIsForThoseNotNamed) {
  Settings settings;
  SeededRandom random(3);
  ASSERT_TRUE(ApplySettings(
      R"({"methods":{"Version":{"latency":"1ms"},"*":{"answerLatency":"2ms"}}})", settings));
  EXPECT_EQ(PlanCall(settings, "Version", random).before.wait, Milliseconds(1));
  EXPECT_EQ(PlanCall(settings, "Version", random).after.wait, Duration::zero());
  EXPECT_EQ(PlanCall(settings, "Status", random).after.wait, Milliseconds(2));
}

TEST(Faults, TheSameSeedGivesTheSameFaults) {
  Settings settings;
  ASSERT_TRUE(ApplySettings(R"({"methods":{"*":{"latency":"lognormal 1ms 1",
      "error":{"probability":0.3}}}})",
                            settings));
  SeededRandom one(11), two(11);
  for (int i = 0; i < 100; ++i) {
    const CallPlan a = PlanCall(settings, "Status", one), b = PlanCall(settings, "Status", two);
    EXPECT_EQ(a.before.wait, b.before.wait);
    EXPECT_EQ(a.before.fail, b.before.fail);
  }
}

}  // namespace
}  // namespace denselet::cri_sim
