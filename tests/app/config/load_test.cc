#include "app/config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/effective.h"
#include "kube/api/types.h"
#include "tests/app/config/fake_config_files.h"

namespace denselet::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Texts(const std::vector<ConfigFault>& faults) {
  std::vector<std::string> texts;
  for (const ConfigFault& fault : faults) texts.push_back(ToString(fault));
  return texts;
}

std::vector<std::string> FaultsOf(const std::vector<std::string>& args, FakeConfigFiles files) {
  const ParsedFlags flags = Flags(args);
  return Texts(LoadEffectiveConfig(flags, ApiAccessOf(flags), files).faults);
}

TEST(LoadConfig, TellsAllFaultsWithFileLineAndField) {
  FakeConfigFiles files({{"/c.yaml", Config("maxPods: many\n"
                                            "registryBurst: -1\n"
                                            "evictionHard:\n"
                                            "  memory.free: 1Gi\n"
                                            "clusterDNS: 10.0.0.10\n"
                                            "featureGates:\n"
                                            "  NoSuchGate: true\n"
                                            "tlsCurvePreferences:\n"
                                            "- 23\n"
                                            "- 1\n")}});
  EXPECT_THAT(
      FaultsOf({"--config=/c.yaml", "--kubeconfig=/k"}, files),
      ElementsAre(
          HasSubstr("/c.yaml:3: maxPods: found text \"many\""),
          HasSubstr("/c.yaml:7: clusterDNS: found text \"10.0.0.10\", wanted a list"),
          "/c.yaml:9: featureGates[NoSuchGate]: unrecognized feature gate: NoSuchGate",
          "/c.yaml:4: registryBurst: found -1, wanted 0 or more",
          "/c.yaml:12: tlsCurvePreferences[1]: found 1, wanted one of 23, 24, 25, 29, 4587, 4588, "
          "4589",
          HasSubstr("/c.yaml:6: evictionHard[memory.free]: found \"memory.free\", wanted one of")));
}

TEST(LoadConfig, FaultOfAFlagNamesTheFlag) {
  FakeConfigFiles files({{"/c.yaml", Config("maxPods: 5\n")}});
  EXPECT_THAT(FaultsOf({"--config=/c.yaml", "--max-pods=-1", "--kubeconfig=/k"}, files),
              ElementsAre("--max-pods: maxPods: found -1, wanted 0 or more"));
}

TEST(LoadConfig, FaultOfADropInNamesTheDropIn) {
  FakeConfigFiles files({{"/c.yaml", Config("maxPods: 5\nport: 7\n")},
                         {"/d/1.conf", Config("port: x\n")},
                         {"/d/2.conf", Config("maxPods: -5\n")}});
  EXPECT_THAT(FaultsOf({"--config=/c.yaml", "--config-dir=/d", "--kubeconfig=/k"}, files),
              ElementsAre(HasSubstr("/d/1.conf:3: port: found text \"x\""),
                          "/d/2.conf:3: maxPods: found -5, wanted 0 or more"));
}

TEST(LoadConfig, SyntaxErrorsAndWrongKindsAreOneLine) {
  FakeConfigFiles files({{"/syntax", Config("a: [\n")},
                         {"/kind", "apiVersion: v1\nkind: Pod\n"},
                         {"/json", "{\"kind\": 5,\n}\n"},
                         {"/empty", ""}});
  EXPECT_THAT(FaultsOf({"--config=/syntax"}, files), ElementsAre(HasSubstr("/syntax:")));
  EXPECT_THAT(FaultsOf({"--config=/kind"}, files),
              ElementsAre("/kind:1: apiVersion: found \"v1\", wanted kubelet.config.k8s.io/v1beta1",
                          "/kind:2: kind: found \"Pod\", wanted KubeletConfiguration"));
  EXPECT_THAT(FaultsOf({"--config=/json"}, files), ElementsAre(HasSubstr("/json:1: not JSON")));
  EXPECT_THAT(FaultsOf({"--config=/empty"}, files), ElementsAre("/empty: the file is empty"));
  EXPECT_THAT(FaultsOf({"--config=/none"}, files), ElementsAre("read \"/none\": No such file"));
}

TEST(LoadConfig, WarnsOnceOfFieldsThatDoNotExist) {
  FakeConfigFiles files({{"/c.yaml", Config("maxPods: 5\nnope: 1\nmaxPods: 6\n")}});
  const LoadedConfig loaded = LoadConfig(Flags({"--config=/c.yaml"}), files);
  EXPECT_THAT(loaded.faults, IsEmpty());
  EXPECT_EQ(loaded.config->maxpods(), 6);
  EXPECT_THAT(loaded.warnings,
              ElementsAre("/c.yaml: ignored what KubeletConfiguration does not have: nope (line 4)",
                          "/c.yaml: set more than once, the last one counts: maxPods (line 5)"));
}

TEST(LoadConfig, KnowsTheOriginOfEachValue) {
  FakeConfigFiles files(
      {{"/c.yaml", Config("maxPods: 5\n"
                          "port: 0\n"
                          "authentication: {webhook: {enabled: false}}\n"
                          "clusterDNS:\n"
                          "- 10.0.0.1\n"
                          "kubeReserved: {cpu: 100m, memory: 1Gi}\n"
                          "systemReserved: {cpu: 100m}\n"
                          "resolvConf: /x\n"
                          "featureGates: {MemoryQoS: true, NodeLogQuery: true}\n")},
       {"/d/1.conf", Config("kubeReserved:\n  cpu: 200m\nresolvConf: null\n")}});
  const LoadedConfig loaded =
      LoadConfig(Flags({"--config=/c.yaml", "--config-dir=/d", "--system-reserved=memory=1Gi",
                        "--feature-gates=MemoryQoS=false"}),
                 files);
  const auto origin = [&](std::string_view path) { return ToString(loaded.origins.Of(path)); };
  EXPECT_EQ(origin("maxPods"), "/c.yaml:3");
  EXPECT_EQ(origin("port"), "default");
  EXPECT_EQ(origin("authentication.webhook.enabled"), "/c.yaml:5");
  EXPECT_EQ(origin("authentication.webhook.cacheTTL"), "default");
  EXPECT_EQ(origin("clusterDNS"), "/c.yaml:6");
  EXPECT_EQ(origin("clusterDNS[0]"), "/c.yaml:7");
  EXPECT_EQ(origin("kubeReserved[cpu]"), "/d/1.conf:4");
  EXPECT_EQ(origin("kubeReserved[memory]"), "/c.yaml:8");
  EXPECT_EQ(origin("systemReserved[memory]"), "--system-reserved");
  EXPECT_EQ(origin("resolvConf"), "default");
  EXPECT_EQ(origin("evictionHard[memory.available]"), "default");
  EXPECT_EQ(origin("featureGates[MemoryQoS]"), "--feature-gates");
  EXPECT_EQ(origin("featureGates[NodeLogQuery]"), "/c.yaml:11");
}

TEST(LoadConfig, RelativePathsLieBesideTheFile) {
  FakeConfigFiles files({{"conf/c.yaml", Config("staticPodPath: manifests\n")}});
  const LoadedConfig loaded = LoadConfig(Flags({"--config=conf/c.yaml"}), files);
  EXPECT_EQ(loaded.config->staticpodpath(), "/here/conf/manifests");
}

TEST(LoadConfig, StandaloneModeCannotAskTheApiServer) {
  FakeConfigFiles files({{"/c.yaml", Config("")}});
  EXPECT_THAT(
      FaultsOf({"--config=/c.yaml"}, files),
      ElementsAre("authentication.webhook.enabled: found true without --kubeconfig, wanted false",
                  "authorization.mode: found \"Webhook\" without --kubeconfig, wanted "
                  "\"AlwaysAllow\""));
  EXPECT_THAT(FaultsOf({}, files), IsEmpty());
}

TEST(LoadConfig, SplitStreamOfAFileIsTold) {
  FakeConfigFiles files({{"/c.yaml", Config("logging: {options: {json: {splitStream: true}}}\n")}});
  const LoadedConfig loaded = LoadConfig(Flags({"--config=/c.yaml"}), files);
  EXPECT_THAT(loaded.warnings,
              ElementsAre(HasSubstr("/c.yaml:3: logging.options.json.splitStream: has no effect")));
}

}  // namespace
}  // namespace denselet::app
