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
          "/c.yaml:4: registryBurst: found -1, wanted 0 or more",
          HasSubstr("/c.yaml:6: evictionHard[memory.free]: found \"memory.free\", wanted one of"),
          HasSubstr("/c.yaml:7: clusterDNS: found text \"10.0.0.10\", wanted a list"),
          "/c.yaml:9: featureGates[NoSuchGate]: unrecognized feature gate: NoSuchGate",
          "/c.yaml:12: tlsCurvePreferences[1]: found 1, wanted one of 23, 24, 25, 29, 4587, 4588, "
          "4589"));
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

TEST(LoadConfig, ADocumentThatIsNoObjectIsOneLine) {
  FakeConfigFiles files({{"/list", "\n- a\n"},
                         {"/text", "hello\n"},
                         {"/comment", "# nothing\n"},
                         {"/json", "[1]"},
                         {"/d/1.conf", "- a\n"}});
  EXPECT_THAT(FaultsOf({"--config=/list"}, files),
              ElementsAre("/list:2: found a list, wanted an object"));
  EXPECT_THAT(FaultsOf({"--config=/text"}, files),
              ElementsAre("/text:1: found text \"hello\", wanted an object"));
  EXPECT_THAT(FaultsOf({"--config=/comment"}, files),
              ElementsAre("/comment: found nothing, wanted an object"));
  EXPECT_THAT(FaultsOf({"--config=/json"}, files),
              ElementsAre("/json:1: found a list, wanted an object"));
  EXPECT_THAT(FaultsOf({"--config-dir=/d"}, files),
              ElementsAre("/d/1.conf:1: found a list, wanted an object"));
}

TEST(LoadConfig, AGateOfTheWrongTypeIsOneFault) {
  FakeConfigFiles files({{"/c.yaml", Config("featureGates: {NodeSwap: maybe}\n")}});
  EXPECT_THAT(
      FaultsOf({"--config=/c.yaml", "--kubeconfig=/k"}, files),
      ElementsAre("/c.yaml:3: featureGates[NodeSwap]: found text \"maybe\", wanted true or false"));
  EXPECT_THAT(
      FaultsOf({"--config=/c.yaml", "--kubeconfig=/k", "--feature-gates=NodeSwap=false"}, files),
      ElementsAre(HasSubstr("/c.yaml:3: featureGates[NodeSwap]: found text"),
                  HasSubstr("--feature-gates: featureGates[NodeSwap]: cannot set")));
}

// Whoever named it: the gate itself, or all of its stage, or the gate that it lacks.
TEST(LoadConfig, AnUnmetDependencyOfGatesNamesWhoBroughtIt) {
  FakeConfigFiles files({{"/c.yaml", Config("featureGates:\n"
                                            "  GracefulNodeShutdownBasedOnPodPriority: true\n"
                                            "  GracefulNodeShutdown: false\n"
                                            "  WindowsGracefulNodeShutdown: false\n")},
                         {"/needed.yaml", Config("featureGates:\n"
                                                 "  EnvFiles: false\n"
                                                 "  GracefulNodeShutdown: false\n"
                                                 "  WindowsGracefulNodeShutdown: false\n")},
                         {"/other.yaml", Config("featureGates: {EnvFiles: false}\n")}});
  const char* const kBroken = "featureGates[GracefulNodeShutdownBasedOnPodPriority]: Graceful";
  EXPECT_THAT(FaultsOf({"--config=/c.yaml", "--kubeconfig=/k"}, files),
              ElementsAre(HasSubstr(std::string("/c.yaml:4: ") + kBroken)));
  EXPECT_THAT(FaultsOf({"--config=/needed.yaml", "--kubeconfig=/k"}, files),
              ElementsAre(HasSubstr(std::string("/needed.yaml:5: ") + kBroken)));
  EXPECT_THAT(FaultsOf({"--config=/other.yaml", "--kubeconfig=/k",
                        "--feature-gates=GracefulNodeShutdown=false,"
                        "WindowsGracefulNodeShutdown=false"},
                       files),
              ElementsAre(HasSubstr(std::string("--feature-gates: ") + kBroken)));
}

TEST(LoadConfig, AFaultOfADefaultSaysSoAndNamesWhoBroughtIt) {
  FakeConfigFiles files({{"/c.yaml", Config("imageGCHighThresholdPercent: 50\n")},
                         {"/x509.yaml", Config("authorization: {mode: AlwaysAllow}\n"
                                               "authentication: {x509: {}}\n")}});
  EXPECT_THAT(FaultsOf({"--config=/c.yaml", "--kubeconfig=/k"}, files),
              ElementsAre("/c.yaml:3: imageGCLowThresholdPercent: found 80 (the default), wanted "
                          "less than imageGCHighThresholdPercent, which is 50"));
  EXPECT_THAT(FaultsOf({"--image-gc-high-threshold=50", "--kubeconfig=/k"}, files),
              ElementsAre(HasSubstr("--image-gc-high-threshold: imageGCLowThresholdPercent: found "
                                    "80 (the default)")));
  EXPECT_THAT(FaultsOf({"--config=/x509.yaml"}, files),
              ElementsAre("authentication.webhook.enabled: found true (the default) without "
                          "--kubeconfig, wanted false"));
}

TEST(LoadConfig, ANumberWithoutASignTellsItsRange) {
  FakeConfigFiles files({{"/c.yaml", Config("logging: {verbosity: -1}\n")}});
  EXPECT_THAT(FaultsOf({"--config=/c.yaml", "--kubeconfig=/k"}, files),
              ElementsAre("/c.yaml:3: logging.verbosity: found number -1, wanted a whole number "
                          "from 0 to 4294967295"));
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

TEST(LoadConfig, NamesInDropInsMayBeSpeltInAnyCase) {
  FakeConfigFiles files({{"/c.yaml", Config("maxPods: 5\nport: 7\n")},
                         {"/d/1.conf", Config("maxpods: 6\n"
                                              "PORT: 8\n"
                                              "Authentication: {webhook: {Enabled: false}}\n"
                                              "kubereserved:\n"
                                              "  cpu: 200m\n"
                                              "registerWithTaints:\n"
                                              "- {Key: a, effect: NoSchedule}\n"
                                              "nope: 1\n")}});
  const LoadedConfig loaded = LoadConfig(Flags({"--config=/c.yaml", "--config-dir=/d"}), files);
  EXPECT_THAT(loaded.faults, IsEmpty());
  EXPECT_EQ(loaded.config->maxpods(), 6);
  EXPECT_EQ(ToString(loaded.origins.Of("maxPods")), "/d/1.conf:3");
  // Go reads it before "port", which has a value of its own.
  EXPECT_EQ(loaded.config->port(), 7);
  EXPECT_EQ(ToString(loaded.origins.Of("port")), "/c.yaml:4");
  EXPECT_TRUE(loaded.config->authentication().webhook().has_enabled());
  EXPECT_EQ(loaded.config->kubereserved().at("cpu"), "200m");
  EXPECT_EQ(ToString(loaded.origins.Of("kubeReserved[cpu]")), "/d/1.conf:7");
  ASSERT_EQ(loaded.config->registerwithtaints_size(), 1);
  EXPECT_EQ(loaded.config->registerwithtaints(0).key(), "a");
  EXPECT_THAT(
      loaded.warnings,
      ElementsAre("/d/1.conf: ignored what KubeletConfiguration does not have: nope (line 10)"));
}

TEST(LoadConfig, NamesInTheFileItselfMustBeSpeltRight) {
  FakeConfigFiles files({{"/c.yaml", Config("maxpods: 6\n")}});
  const LoadedConfig loaded = LoadConfig(Flags({"--config=/c.yaml"}), files);
  EXPECT_EQ(loaded.config->maxpods(), 110);
  EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr("does not have: maxpods (line 3)")));
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
      ElementsAre(
          "authentication.webhook.enabled: found true (the default) without --kubeconfig, "
          "wanted false",
          "authorization.mode: found \"Webhook\" (the default) without --kubeconfig, wanted "
          "\"AlwaysAllow\""));
  EXPECT_THAT(FaultsOf({}, files), IsEmpty());
}

TEST(LoadConfig, SplitStreamOfAFileIsTold) {
  FakeConfigFiles files({{"/c.yaml", Config("logging: {options: {json: {splitStream: true}}}\n")}});
  const LoadedConfig loaded = LoadConfig(Flags({"--config=/c.yaml"}), files);
  EXPECT_THAT(loaded.warnings,
              ElementsAre(HasSubstr("/c.yaml:3: logging.options.json.splitStream: has no effect")));
}

TEST(LoadConfig, AFaultOfAnEntryDoesNotHideThoseOfOthers) {
  FakeConfigFiles files({{"/c.yaml", Config("evictionHard:\n"
                                            "  memory.available: [1]\n"
                                            "  memory.free: 1Gi\n"
                                            "tlsCurvePreferences:\n"
                                            "- x\n"
                                            "- 1\n"
                                            "registerWithTaints:\n"
                                            "- 5\n"
                                            "- {key: a, effect: Never}\n")}});
  EXPECT_THAT(FaultsOf({"--config=/c.yaml", "--kubeconfig=/k"}, files),
              ElementsAre(HasSubstr("/c.yaml:4: evictionHard[memory.available]: found a list"),
                          HasSubstr("/c.yaml:5: evictionHard[memory.free]"),
                          HasSubstr("/c.yaml:7: tlsCurvePreferences[0]: found text \"x\""),
                          HasSubstr("/c.yaml:8: tlsCurvePreferences[1]: found 1, wanted one of"),
                          HasSubstr("/c.yaml:10: registerWithTaints[0]: found number 5"),
                          HasSubstr("/c.yaml:11: registerWithTaints[1]")));
}

TEST(LoadConfig, FaultsOfFilesAreToldBesideThoseOfFlags) {
  FakeConfigFiles files({{"/c.yaml", Config("port: 70000\n")}});
  const char* const args[] = {"--config=/c.yaml", "--max-pods=many"};
  const FlagResult parsed = ParseFlags(args);
  EXPECT_EQ(parsed.errors.size(), 1u);
  EXPECT_THAT(FaultsBesideFlags(parsed.flags, files),
              ElementsAre("/c.yaml:3: port: found 70000, wanted 1 to 65535"));
}

TEST(LoadConfig, CountsTheFaultsThatAreTooMany) {
  std::string wrong = "clusterDNS:\n", invalid = "tlsCurvePreferences:\n";
  for (int i = 0; i < 150; ++i) wrong += "- 1\n", invalid += "- " + std::to_string(i + 100) + "\n";
  FakeConfigFiles files({{"/wrong.yaml", Config(wrong)}, {"/invalid.yaml", Config(invalid)}});
  for (const char* name : {"/wrong.yaml", "/invalid.yaml"}) {
    const auto faults = FaultsOf({"--config=" + std::string(name), "--kubeconfig=/k"}, files);
    ASSERT_EQ(faults.size(), 101u) << name;
    EXPECT_EQ(faults.back(), "and 50 more") << name;
  }
}

TEST(LoadConfig, OnlyTheFirstYamlDocumentCounts) {
  FakeConfigFiles files({{"/two.yaml", Config("maxPods: 5\n---\nmaxPods: 6\n")},
                         {"/broken.yaml", Config("maxPods: 5\n---\na: [\n")},
                         {"/end.yaml", Config("maxPods: 5\n---\n")},
                         {"/dots.yaml", Config("maxPods: 5\n...\n# no more\n")},
                         {"/d/1.conf", Config("maxPods: 7\n---\nmaxPods: 8\n")}});
  const auto load = [&](const std::string& flag) { return LoadConfig(Flags({flag}), files); };
  for (const char* name : {"/two.yaml", "/broken.yaml"}) {
    const LoadedConfig loaded = load("--config=" + std::string(name));
    EXPECT_EQ(loaded.config->maxpods(), 5) << name;
    EXPECT_THAT(loaded.faults, IsEmpty());
    EXPECT_THAT(loaded.warnings, ElementsAre(std::string(name) +
                                             ": only the first YAML document is read; what begins "
                                             "on line 4 is ignored"));
  }
  EXPECT_THAT(load("--config=/end.yaml").warnings, IsEmpty());
  EXPECT_THAT(load("--config=/dots.yaml").warnings, IsEmpty());
  EXPECT_THAT(load("--config-dir=/d").warnings,
              ElementsAre(HasSubstr("/d/1.conf: only the first")));
}

TEST(LoadConfig, LinesAreThoseOfTheElements) {
  FakeConfigFiles files(
      {{"/c.yaml", Config("clusterDNS:\n- 10.0.0.1\n- true\n- {a: b}\n- [c]\n")},
       {"/c.json",
        "{\"apiVersion\": \"kubelet.config.k8s.io/v1beta1\", \"kind\": "
        "\"KubeletConfiguration\",\n\"clusterDNS\":\n[\"a,]\",\n{\"x\": [1,\n2]},\ntrue\n]}"}});
  EXPECT_THAT(
      FaultsOf({"--config=/c.yaml", "--kubeconfig=/k"}, files),
      ElementsAre(HasSubstr("/c.yaml:5: clusterDNS[1]"), HasSubstr("/c.yaml:6: clusterDNS[2]"),
                  HasSubstr("/c.yaml:7: clusterDNS[3]")));
  EXPECT_THAT(
      FaultsOf({"--config=/c.json", "--kubeconfig=/k"}, files),
      ElementsAre(HasSubstr("/c.json:4: clusterDNS[1]"), HasSubstr("/c.json:6: clusterDNS[2]")));
}

TEST(LoadConfig, LooksWhetherThereIsSelinux) {
  const std::string mounts = "sysfs /sys sysfs rw,relatime 0 0\n";
  const std::string own = "selinuxfs /sys/fs/selinux selinuxfs rw,noexec,relatime 0 0\n";
  const auto selinux = [](const std::string& table, const std::string& label) {
    FakeConfigFiles files({{"/proc/self/mounts", table}, {"/proc/self/attr/current", label}});
    const Result<Machine> machine = LookAtMachine(files);
    return machine && machine->selinux;
  };
  const std::string label("system_u:system_r:kubelet_t:s0\0", 31);
  EXPECT_TRUE(selinux(mounts + own, label));
  EXPECT_FALSE(selinux(mounts, label));
  EXPECT_FALSE(selinux(mounts + own, "kernel"));
  EXPECT_FALSE(selinux(mounts + own, ""));
  EXPECT_FALSE(selinux("selinuxfs /sys/fs/selinux selinuxfs ro,relatime 0 0\n", label));
  FakeConfigFiles none;
  EXPECT_FALSE(LookAtMachine(none)->selinux);
}

TEST(LoadConfig, TheMachineMustFit) {
  FakeConfigFiles files({{"/c.yaml", Config("singleProcessOOMKill: false\n"
                                            "memorySwap: {swapBehavior: LimitedSwap}\n")},
                         {"/proc/swaps", "Filename Type Size Used Priority\n"}});
  const std::vector<std::string> args = {"--config=/c.yaml", "--kubeconfig=/k"};
  EXPECT_THAT(FaultsOf(args, files), IsEmpty());
  files.unified_cgroups = false;
  files.Put("/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n");
  EXPECT_THAT(
      FaultsOf(args, files),
      ElementsAre(
          "failCgroupV1: kubelet is configured to not run on a host using cgroup v1. cgroup "
          "v1 support is unsupported and will be removed in a future release; failCgroupV1: false "
          "runs it there all the same",
          "failSwapOn: running with swap on is not supported, please disable swap or set "
          "--fail-swap-on flag to false",
          "/c.yaml:3: singleProcessOOMKill: singleProcessOOMKill must not be explicitly set "
          "to false when using cgroup v1",
          "/c.yaml:4: memorySwap.swapBehavior: swap feature is enabled and LimitedSwap but "
          "it is only supported with cgroupv2"));
  // Who only looks may do so for another machine.
  EXPECT_THAT(LoadEffectiveConfig(Flags(args), ApiAccess::kUnknown, files).faults, IsEmpty());
  EXPECT_THAT(FaultsOf({"--fail-cgroupv1=false", "--fail-swap-on=false"}, files), IsEmpty());
}

}  // namespace
}  // namespace denselet::app
