#include "app/config/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/effective.h"
#include "app/config/support.h"
#include "app/flags/flag_table.h"
#include "kube/api/codec/schema.h"
#include "kube/api/types.h"
#include "tests/app/config/fake_config_files.h"

namespace denselet::app {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string Print(const std::vector<std::string>& args, FakeConfigFiles files) {
  const CommandResult result = PrintEffectiveConfig(Flags(args), files);
  EXPECT_THAT(result.errors, Each(StartsWith("Warning: ")));
  return result.output;
}

TEST(PrintConfig, ShowsEveryField) {
  const std::string text = "\n" + Print({"config", "print"}, {});
  for (const auto& field :
       kube::SchemaOf(*kube::config::KubeletConfiguration::descriptor()).fields) {
    const bool shown = text.find("\n" + field.name + ":") != text.npos ||
                       text.find("\n# " + field.name + ":") != text.npos;
    EXPECT_TRUE(shown) << field.name;
  }
  for (const char* own :
       {"\nshards: 0", "\nreactor: auto", "\njournal: /var/lib/kubelet/denselet/journal",
        "\n  useEvents: true", "\n  relistPeriod: 5m0s", "\n  fallbackRelistPeriod: 1s"}) {
    EXPECT_THAT(text, HasSubstr(own));
  }
}

TEST(PrintConfig, SaysWhereValuesCameFrom) {
  FakeConfigFiles files({{"/c.yaml", Config("maxPods: 5\nkubeReserved: {cpu: 100m}\n")}});
  const std::string text =
      Print({"config", "print", "--config=/c.yaml", "--kubeconfig=/k", "--port=7"}, files);
  const auto line = [&](const std::string& value, const std::string& origin) {
    std::string padded = value;
    padded.resize(60, ' ');
    return "\n" + padded + "# " + origin + "\n";
  };
  EXPECT_THAT(text, HasSubstr(line("maxPods: 5", "/c.yaml:3")));
  EXPECT_THAT(text, HasSubstr(line("  cpu: 100m", "/c.yaml:4")));
  EXPECT_THAT(text, HasSubstr(line("port: 7", "--port")));
  EXPECT_THAT(text, HasSubstr(line("address: 0.0.0.0", "default")));
  EXPECT_THAT(text, HasSubstr(line("# tracing:", "not set")));
}

// Read again it is the same, for every case that we know of.
TEST(PrintConfig, IsAConfigurationAgain) {
  for (const auto& entry : std::filesystem::directory_iterator(TestFolder() / "configz")) {
    FakeConfigFiles files = CaseFiles(entry.path());
    const auto flags = files.Read("/case/flags");
    std::vector<std::string> args;
    for (size_t at = 0; at < flags->size();) {
      const size_t end = flags->find('\n', at);
      if (end > at) args.push_back(flags->substr(at, end - at));
      at = end + 1;
    }
    const LoadedConfig loaded = LoadConfig(Flags(args), files);
    if (!loaded.faults.empty() || entry.path().filename() == "relative_paths") continue;
    // A flag beside the field, which only the agent's own view shows.
    if (loaded.config->seccompdefault() != loaded.shown_seccomp_default) continue;
    FakeConfigFiles printed({{"/p.yaml", PrintConfig(loaded, {})}});
    const LoadedConfig again = LoadConfig(Flags({"--config=/p.yaml"}), printed);
    EXPECT_THAT(again.faults, IsEmpty()) << entry.path();
    if (loaded.config->logging().options().text().outputroutingoptions().splitstream()) continue;
    EXPECT_EQ(PrintConfigz(again), PrintConfigz(loaded)) << entry.path();
  }
}

TEST(PrintConfig, AsJsonIsWhatConfigzShows) {
  EXPECT_THAT(Print({"config", "print", "-o", "json"}, {}),
              ::testing::StartsWith("{\"kubeletconfig\":{\"kind\":\"KubeletConfiguration\","));
}

ParsedFlags Check(const std::vector<std::string>& args) {
  std::vector<std::string> words = {"config", "check"};
  words.insert(words.end(), args.begin(), args.end());
  return Flags(words);
}

std::vector<std::string> ErrorsOf(const CommandResult& result) {
  std::vector<std::string> errors;
  for (const std::string& line : result.errors) {
    if (line.starts_with("Error: ")) errors.push_back(line);
  }
  return errors;
}

TEST(CheckConfig, ReadsEachFileByItself) {
  FakeConfigFiles files({{"good.yaml", Config("maxPods: 5\n")},
                         {"bad.yaml", Config("maxPods: -5\nport: 70000\n")},
                         {"own.yaml",
                          "apiVersion: denselet.config/v1alpha1\n"
                          "kind: DenseletConfiguration\nshards: 3\n"}});
  const CommandResult result =
      CheckConfigFiles(Check({"good.yaml", "bad.yaml", "own.yaml", "none.yaml"}), files);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, "good.yaml: ok\nown.yaml: ok\n");
  EXPECT_THAT(ErrorsOf(result),
              ElementsAre("Error: bad.yaml:3: maxPods: found -5, wanted 0 or more",
                          "Error: bad.yaml:4: port: found 70000, wanted 1 to 65535",
                          "Error: read \"none.yaml\": No such file"));
  EXPECT_EQ(CheckConfigFiles(Check({"good.yaml"}), files).exit_code, 0);
  EXPECT_EQ(CheckConfigFiles(Check({}), files).exit_code, 1);
}

// As the agent would refuse to; but the file may be meant for another machine.
TEST(CheckConfig, WarnsThatTheAgentWouldNotStartOnThisMachine) {
  const std::string config =
      "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
  FakeConfigFiles files({{"a.yaml", config}, {"b.yaml", config + "failCgroupV1: false\n"}});
  files.unified_cgroups = false;
  const auto told = [&](const std::vector<std::string>& args) {
    const CommandResult result = CheckConfigFiles(Check(args), files);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.output, testing::HasSubstr(": ok\n"));
    return result.errors;
  };
  const auto warns = testing::Contains(testing::HasSubstr(
      "denselet would not start on this machine: failCgroupV1: kubelet is configured to not run"));
  EXPECT_THAT(told({"a.yaml"}), warns);
  EXPECT_THAT(told({"--config=a.yaml"}), warns);
  EXPECT_THAT(told({"b.yaml"}), testing::Not(warns));
  EXPECT_THAT(told({"--fail-cgroupv1=false", "a.yaml"}), testing::Not(warns));
  files.unified_cgroups = true;
  EXPECT_THAT(told({"a.yaml"}), testing::Not(warns));
}

// The kubelet does not start with another kind of endpoint, and neither does the agent.
TEST(CheckConfig, RefusesARuntimeEndpointThatTheStartWouldRefuse) {
  FakeConfigFiles files(
      {{"a.yaml", Config("containerRuntimeEndpoint: tcp://h:1\nimageServiceEndpoint: http://h\n")},
       {"b.yaml", Config("containerRuntimeEndpoint: /run/r.sock\nimageServiceEndpoint: \"\"\n")}});
  const CommandResult result = CheckConfigFiles(Check({"a.yaml"}), files);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(ErrorsOf(result),
              ElementsAre("Error: a.yaml:3: containerRuntimeEndpoint: found \"tcp://h:1\", wanted "
                          "a unix socket as unix:///PATH or /PATH, with a PATH of 107 bytes at "
                          "most",
                          StartsWith("Error: a.yaml:4: imageServiceEndpoint: found \"http://h\"")));
  EXPECT_EQ(CheckConfigFiles(Check({"b.yaml"}), files).exit_code, 0);
}

// As the kubelet: it starts, and reports again and again that nothing can be fetched.
TEST(CheckConfig, WarnsOfAUrlThatNoStaticPodsCanComeFrom) {
  FakeConfigFiles files({{"a.yaml", Config("staticPodURL: ftp://me:secret@h/p\n")},
                         {"b.yaml", Config("staticPodURL: HTTPS://h:8443/p\n")}});
  const auto told = [&](const std::string& file) {
    const CommandResult result = CheckConfigFiles(Check({file}), files);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.output, file + ": ok\n");
    return result.errors;
  };
  EXPECT_THAT(told("a.yaml"),
              ElementsAre("Warning: a.yaml: no static pods can be fetched: a.yaml:3: staticPodURL: "
                          "found \"ftp://h/p\", wanted an http or https URL with a host"));
  EXPECT_THAT(told("b.yaml"), IsEmpty());
  EXPECT_THAT(
      LoadEffectiveConfig(Flags({"--manifest-url=ftp://h/p"}), ApiAccess::kUnknown, files).warnings,
      testing::Contains(HasSubstr("no static pods can be fetched: --manifest-url: ")));
}

TEST(CheckConfig, FlagsLieOverTheFile) {
  FakeConfigFiles files(
      {{"a.yaml", Config("crashLoopBackOff: {maxContainerRestartPeriod: 9s}\n")}});
  EXPECT_THAT(CheckConfigFiles(Check({"a.yaml"}), files).errors, IsEmpty());
  EXPECT_THAT(
      CheckConfigFiles(Check({"--feature-gates=KubeletCrashLoopBackOffMax=false", "a.yaml"}), files)
          .errors,
      ElementsAre(HasSubstr("crashLoopBackOff.maxContainerRestartPeriod")));
  EXPECT_THAT(CheckConfigFiles(Check({"--max-pods=-1", "--config=a.yaml"}), files).errors,
              ElementsAre("Error: --max-pods: maxPods: found -1, wanted 0 or more"));
}

TEST(CheckConfig, DropInsAreCheckedTogetherWithTheFile) {
  FakeConfigFiles files({{"/c.yaml", Config("imageGCHighThresholdPercent: 50\n"
                                            "imageGCLowThresholdPercent: 40\n")},
                         {"/good/1.conf", Config("imageGCHighThresholdPercent: 45\n")},
                         {"/bad/1.conf", Config("imageGCHighThresholdPercent: 30\n")},
                         {"/own.yaml",
                          "apiVersion: denselet.config/v1alpha1\n"
                          "kind: DenseletConfiguration\nshards: -3\n"}});
  const CommandResult good =
      CheckConfigFiles(Check({"--config=/c.yaml", "--config-dir=/good"}), files);
  EXPECT_THAT(ErrorsOf(good), IsEmpty());
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_EQ(good.output, "/c.yaml with /good: ok\n");
  const CommandResult bad = CheckConfigFiles(
      Check({"--config=/c.yaml", "--config-dir=/bad", "--denselet-config=/own.yaml"}), files);
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_EQ(bad.output, "");
  EXPECT_THAT(ErrorsOf(bad),
              ElementsAre(HasSubstr("/c.yaml:4: imageGCLowThresholdPercent: found 40, wanted less"),
                          HasSubstr("/own.yaml:3: shards: found -3")));
  EXPECT_EQ(CheckConfigFiles(Check({"--config-dir=/none"}), files).exit_code, 1);
}

// A drop-in is half a configuration: it is read by the rules of drop-ins, and not validated.
TEST(CheckConfig, ADropInAloneIsReadAsADropIn) {
  FakeConfigFiles files({{"twice.conf", Config("maxPods: 5\nmaxPods: 6\n")},
                         {"wrong.conf", Config("maxPods: many\n")},
                         {"part.conf", Config("MAXPODS: 7\nimageGCHighThresholdPercent: 30\n")}});
  const CommandResult twice = CheckConfigFiles(Check({"twice.conf"}), files);
  EXPECT_THAT(twice.errors, ElementsAre("Error: twice.conf:4: maxPods: comes more than once"));
  EXPECT_EQ(twice.exit_code, 1);
  EXPECT_THAT(ErrorsOf(CheckConfigFiles(Check({"wrong.conf"}), files)),
              ElementsAre(HasSubstr("wrong.conf:3: maxPods: found text \"many\"")));
  const CommandResult part = CheckConfigFiles(Check({"part.conf"}), files);
  EXPECT_THAT(ErrorsOf(part), IsEmpty());
  EXPECT_EQ(part.exit_code, 0);
  EXPECT_EQ(part.output,
            "part.conf: ok as a drop-in; whether it fits, config check --config FILE --config-dir "
            "FOLDER tells\n");
}

TEST(CheckConfig, SaysWhatHasNoEffect) {
  FakeConfigFiles files(
      {{"a.yaml", Config("port: 10250\nmaxPods: 110\nkubeReserved: {memory: 1Gi}\n")},
       {"own.yaml",
        "apiVersion: denselet.config/v1alpha1\n"
        "kind: DenseletConfiguration\njournal: /j\n"}});
  EXPECT_THAT(
      CheckConfigFiles(Check({"--runtime-cgroups=/a", "a.yaml", "own.yaml"}), files).errors,
      ElementsAre(
          "Warning: a.yaml: of these fields the node's status tells, and pods are admitted by the "
          "allocatable in it, but nothing else comes of them yet: kubeReserved",
          "Warning: a.yaml: this version of denselet does not heed these fields yet: port",
          "Warning: this version of denselet does not heed these flags yet: --runtime-cgroups"));
}

TEST(CheckConfig, OwnFilesAreTreatedAsWell) {
  const std::string head = "apiVersion: denselet.config/v1alpha1\nkind: DenseletConfiguration\n";
  FakeConfigFiles files({{"order.yaml", head + "shards: -1\nreactor: x\nshards: -2\n"},
                         {"two.yaml", head + "shards: 1\n---\nshards: 2\n"},
                         {"list.yaml", "- a\n"},
                         {"comment.yaml", "# nothing\n"},
                         {"empty.yaml", ""}});
  EXPECT_THAT(CheckConfigFiles(Check({"order.yaml"}), files).errors,
              ElementsAre(HasSubstr("order.yaml:3: shards: found -1"),
                          HasSubstr("order.yaml:4: reactor: found"),
                          HasSubstr("order.yaml:5: shards: comes more than once"),
                          HasSubstr("order.yaml:5: shards: found -2")));
  EXPECT_THAT(CheckConfigFiles(Check({"two.yaml"}), files).errors,
              ElementsAre("Warning: two.yaml: only the first YAML document is read; what begins on "
                          "line 4 is ignored"));
  const auto faults = [&](const std::string& name) {
    std::vector<std::string> texts;
    for (const auto& fault :
         LoadEffectiveConfig(Flags({"--denselet-config=" + name}), ApiAccess::kUnknown, files)
             .faults) {
      texts.push_back(ToString(fault));
    }
    return texts;
  };
  EXPECT_THAT(faults("list.yaml"), ElementsAre("list.yaml:1: found a list, wanted an object"));
  EXPECT_THAT(faults("comment.yaml"), ElementsAre("comment.yaml: found nothing, wanted an object"));
  EXPECT_THAT(faults("empty.yaml"), ElementsAre("empty.yaml: the file is empty"));
  EXPECT_THAT(LoadEffectiveConfig(Flags({"--denselet-config=two.yaml"}), ApiAccess::kUnknown, files)
                  .warnings,
              ::testing::Contains(HasSubstr("two.yaml: only the first YAML document is read")));
}

TEST(CheckConfig, SamplesAreFine) {
  FakeConfigFiles files = CaseFiles(TestFolder() / "samples");
  const CommandResult result =
      CheckConfigFiles(Check({"/case/kubeadm.yaml", "/case/k3s.yaml", "/case/own.yaml"}), files);
  EXPECT_THAT(result.errors, Each(StartsWith("Warning: ")));
  EXPECT_EQ(result.exit_code, 0);
}

TEST(Support, NamesWhatHasNoEffect) {
  FakeConfigFiles files(
      {{"/c.yaml", Config("hairpinMode: none\nmaxPods: 110\npodsPerCore: 9\nport: 7\n"
                          "kubeReserved: {memory: 1Gi}\n"
                          "evictionHard: {memory.available: 1Gi}\n"
                          "reservedSystemCPUs: 0-1\n")}});
  const auto found = FindFieldsWithoutEffect(LoadConfig(Flags({"--config=/c.yaml"}), files));
  EXPECT_THAT(found.dead, ElementsAre("hairpinMode"));
  EXPECT_THAT(found.told, ElementsAre("evictionHard", "kubeReserved"));
  EXPECT_THAT(found.missing, ElementsAre("port"));
}

// Allocatable is what is left of the node for pods, and they are admitted by it.
TEST(Support, SaysThatReservationsCountForTheAdmissionOfPods) {
  FakeConfigFiles files({{"/c.yaml", Config("kubeReserved: {memory: 1Gi}\n")}});
  EXPECT_THAT(FieldWarnings(LoadConfig(Flags({"--config=/c.yaml"}), files)),
              ElementsAre("of these fields the node's status tells, and pods are admitted by the "
                          "allocatable in it, but nothing else comes of them yet: "
                          "kubeReserved"));
}

// What somebody wrote out they rely on, also where it is the default.
TEST(Support, NamesFieldsAtTheirDefaultToo) {
  FakeConfigFiles files({{"/c.yaml", Config("containerLogMaxSize: 10Mi\n"
                                            "containerLogMaxFiles: 5\n"
                                            "enableServer: true\n"
                                            "memorySwap: {swapBehavior: \"\"}\n"
                                            "authentication: {webhook: {cacheTTL: 2m}}\n"
                                            "allowedUnsafeSysctls: []\n"
                                            "registerNode: true\n"
                                            "nope: 1\n"
                                            "hairpinMode: promiscuous-bridge\n")},
                         {"/off.yaml", Config("enableServer: false\ncgroupsPerQOS: false\n"
                                              "cgroupRoot: /pods\n")},
                         {"/cgroups.yaml", Config("cgroupsPerQOS: true\ncgroupRoot: /pods\n")}});
  const auto found = FindFieldsWithoutEffect(
      LoadConfig(Flags({"--config=/c.yaml", "--image-gc-high-threshold=85"}), files));
  EXPECT_THAT(found.dead, ElementsAre("hairpinMode"));
  EXPECT_THAT(found.told, IsEmpty());
  EXPECT_THAT(found.missing, ElementsAre("allowedUnsafeSysctls", "authentication.webhook.cacheTTL",
                                         "containerLogMaxFiles", "containerLogMaxSize",
                                         "enableServer", "imageGCHighThresholdPercent"));
  EXPECT_THAT(FindFieldsWithoutEffect(LoadConfig(Flags({"--config=/off.yaml"}), files)).missing,
              IsEmpty());
  EXPECT_THAT(FindFieldsWithoutEffect(LoadConfig(Flags({"--config=/cgroups.yaml"}), files)).missing,
              ElementsAre("cgroupRoot", "cgroupsPerQOS"));
}

TEST(Support, NamesWhatTheDefaultsPromise) {
  FakeConfigFiles files;
  EXPECT_THAT(LoadEffectiveConfig(Flags({}), ApiAccess::kUnknown, files).warnings,
              ElementsAre("of what the defaults turn on, this version of denselet has none yet: "
                          "HTTP servers, eviction, cgroups of pods, rotation of container logs, "
                          "garbage collection of images"));
}

TEST(Support, NamesFlagsWithoutEffect) {
  FakeConfigFiles files;
  files.Put("/own.yaml",
            "apiVersion: denselet.config/v1alpha1\nkind: DenseletConfiguration\n"
            "shards: 2\njournal: /j\n");
  const auto warnings = [&](const std::vector<std::string>& args) {
    return LoadEffectiveConfig(Flags(args), ApiAccess::kUnknown, files).warnings;
  };
  EXPECT_THAT(warnings({"--runtime-cgroups=/a", "--denselet-journal=/j", "--hostname-override=n",
                        "--container-hints=x", "--lock-file=/l"}),
              ElementsAre("these flags have no effect, in the kubelet neither: --container-hints",
                          "this version of denselet does not heed these flags yet: "
                          "--runtime-cgroups",
                          HasSubstr("of what the defaults turn on")));
  EXPECT_THAT(warnings({"--denselet-config=/own.yaml", "--root-dir=/r"}),
              ElementsAre(HasSubstr("of what the defaults turn on")));
}

TEST(Support, ListsNameFlagsThatExist) {
  for (const std::string& name : FlagsWeHave()) {
    const FlagSpec* flag = FindFlag(name);
    ASSERT_NE(flag, nullptr) << name;
    EXPECT_EQ(flag->field, "") << name << " is a field's: the field's list counts";
  }
}

}  // namespace
}  // namespace denselet::app
