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
        "\n  relistPeriod: 5m0s", "\n  fallbackRelistPeriod: 1s"}) {
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
  EXPECT_THAT(result.errors, ElementsAre("Error: bad.yaml:3: maxPods: found -5, wanted 0 or more",
                                         "Error: bad.yaml:4: port: found 70000, wanted 1 to 65535",
                                         "Error: read \"none.yaml\": No such file"));
  EXPECT_EQ(CheckConfigFiles(Check({"good.yaml"}), files).exit_code, 0);
  EXPECT_EQ(CheckConfigFiles(Check({}), files).exit_code, 1);
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
  EXPECT_THAT(CheckConfigFiles(Check({"--config-dir=/d", "a.yaml"}), files).errors,
              ElementsAre(HasSubstr("config print takes --config-dir")));
}

TEST(CheckConfig, SamplesAreFine) {
  FakeConfigFiles files = CaseFiles(TestFolder() / "samples");
  const CommandResult result =
      CheckConfigFiles(Check({"/case/kubeadm.yaml", "/case/k3s.yaml", "/case/own.yaml"}), files);
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_EQ(result.exit_code, 0);
}

TEST(Support, NamesWhatHasNoEffect) {
  FakeConfigFiles files({{"/c.yaml", Config("hairpinMode: none\nmaxPods: 110\nport: 7\n"
                                            "kubeReserved: {memory: 1Gi}\n"
                                            "evictionHard: {memory.available: 1Gi}\n"
                                            "reservedSystemCPUs: 0-1\n")},
                         {"/plain.yaml", Config("maxPods: 110\n")}});
  const auto found = FindFieldsWithoutEffect(LoadConfig(Flags({"--config=/c.yaml"}), files));
  EXPECT_THAT(found.dead, ElementsAre("hairpinMode"));
  EXPECT_THAT(found.told, ElementsAre("evictionHard", "kubeReserved"));
  EXPECT_THAT(found.missing, ElementsAre("port"));
  EXPECT_THAT(
      LoadEffectiveConfig(Flags({"--config=/plain.yaml"}), ApiAccess::kUnknown, files).warnings,
      IsEmpty());
}

TEST(Support, NamesFlagsAndSettingsOfItsOwnWithoutEffect) {
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
                          "--runtime-cgroups, --denselet-journal"));
  EXPECT_THAT(warnings({"--denselet-config=/own.yaml", "--root-dir=/r"}),
              ElementsAre("this version of denselet does not heed these settings of its own yet: "
                          "journal"));
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
