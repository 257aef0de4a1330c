#include "app/flags/apply_flags.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "app/flags/flag_table.h"
#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "tests/app/flags/parse_helper.h"
#include "tests/golden.h"

namespace denselet::app {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using kube::config::KubeletConfiguration;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

bool IsObject(const FieldDescriptor& field) {
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field.is_repeated()) return false;
  const std::string& name = field.message_type()->name();
  return name != "Duration" && name != "TimeOrMetaDuration" && name != "Quantity";
}

// Paths in JSON of all that is set.
void ListSet(const Message& message, const std::string& prefix, std::vector<std::string>& paths) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool inlined = field->name() == "outputRoutingOptions";
    const std::string path = prefix + field->name();
    if (IsObject(*field)) {
      ListSet(message.GetReflection()->GetMessage(message, field), inlined ? prefix : path + ".",
              paths);
    } else {
      paths.push_back(path);
    }
  }
}

std::vector<std::string> SetPaths(const KubeletConfiguration& config) {
  std::vector<std::string> paths;
  ListSet(config, "", paths);
  return paths;
}

KubeletConfiguration Applied(const std::vector<std::string>& words) {
  KubeletConfiguration config;
  const FlagResult result = Parse(words);
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(ApplyFlags(result.flags, config).faults, IsEmpty());
  return config;
}

// "logging.verbosity=4" as it stands in the whole: "verbosity":4
std::string InJson(const std::string& change) {
  const size_t equals = change.find('=');
  const std::string path = change.substr(0, equals);
  return "\"" + path.substr(path.rfind('.') + 1) + "\":" + change.substr(equals + 1);
}

TEST(ApplyFlags, SetsWhatTheKubeletSets) {
  for (const auto& row : tests::ReadGolden("tests/app/flags/golden/cases.txt")) {
    if (row[1] != "ok") continue;
    SCOPED_TRACE(row[0]);
    KubeletConfiguration config;
    EXPECT_THAT(ApplyFlags(ParseLines(row[0]).flags, config).faults, IsEmpty());
    const std::string json = kube::EncodeJson(config);
    for (size_t i = 2; i < row.size(); ++i) {
      if (row[i].ends_with('=')) continue;  // emptied
      EXPECT_THAT(json, HasSubstr(InJson(row[i])));
    }
  }
}

// The golden table begins with one line for each flag, and a value that is not its default.
TEST(ApplyFlags, EachFlagSetsExactlyItsField) {
  size_t count = 0;
  for (const auto& row : tests::ReadGolden("tests/app/flags/golden/cases.txt")) {
    if (count == AllFlags().size() || row[1] != "ok" || row[0].find('\n') != std::string::npos) {
      continue;
    }
    const std::string name = row[0].substr(2, row[0].find('=') - 2);
    const FlagSpec* flag = FindFlag(name);
    if (flag == nullptr || !row[0].starts_with("--")) continue;
    SCOPED_TRACE(row[0]);
    KubeletConfiguration config;
    const AppliedFlags applied = ApplyFlags(ParseLines(row[0]).flags, config);
    const auto paths = SetPaths(config);
    if (flag->field.empty()) {
      EXPECT_THAT(paths, IsEmpty());
      EXPECT_THAT(applied.fields, IsEmpty());
      continue;
    }
    if (row.size() > 2) {
      ++count;
      EXPECT_EQ(row[2].substr(0, row[2].find('=')), flag->field);
    }
    for (const std::string& path : paths) EXPECT_EQ(path, flag->field);
    for (const SetField& field : applied.fields) {
      EXPECT_EQ(field.flag, name.find('_') == std::string::npos ? name : std::string(flag->name));
      EXPECT_TRUE(field.path.starts_with(flag->field)) << field.path;
    }
  }
  EXPECT_GE(count, 107u);
}

TEST(ApplyFlags, EveryFlagWithAFieldStandsInTheGoldenTable) {
  std::vector<std::string> missing;
  for (const FlagSpec& flag : AllFlags()) {
    if (flag.field.empty() || flag.name == "seccomp-default") continue;
    bool found = false;
    for (const auto& row : tests::ReadGolden("tests/app/flags/golden/cases.txt")) {
      found = found || (row.size() > 2 && row[1] == "ok" &&
                        row[2].starts_with(std::string(flag.field) + "="));
    }
    if (!found) missing.emplace_back(flag.name);
  }
  EXPECT_THAT(missing, IsEmpty());
}

TEST(ApplyFlags, WhatWasNotGivenStays) {
  KubeletConfiguration config;
  config.set_maxpods(3);
  config.set_address("1.1.1.1");
  const AppliedFlags applied = ApplyFlags(Parse({"--max-pods=4", "--root-dir=/x"}).flags, config);
  EXPECT_EQ(config.maxpods(), 4);
  EXPECT_EQ(config.address(), "1.1.1.1");
  EXPECT_THAT(applied.fields, ElementsAre(SetField{"maxPods", "max-pods"}));
}

TEST(ApplyFlags, FeatureGatesAreMergedByName) {
  KubeletConfiguration config;
  (*config.mutable_featuregates())["EnvFiles"] = false;
  (*config.mutable_featuregates())["EventedPLEG"] = false;
  const AppliedFlags applied = ApplyFlags(
      Parse({"--feature-gates=MemoryQoS=true,EventedPLEG=true", "--feature-gates=AllBeta=true"})
          .flags,
      config);
  EXPECT_THAT(applied.fields, ElementsAre(SetField{"featureGates.AllBeta", "feature-gates"},
                                          SetField{"featureGates.EventedPLEG", "feature-gates"},
                                          SetField{"featureGates.MemoryQoS", "feature-gates"}));
  EXPECT_THAT(kube::EncodeJson(config),
              HasSubstr(R"("featureGates":{"AllBeta":true,"EnvFiles":false,"EventedPLEG":true,)"
                        R"("MemoryQoS":true})"));
}

TEST(ApplyFlags, OtherMapsAndListsAreReplaced) {
  KubeletConfiguration config;
  (*config.mutable_systemreserved())["cpu"] = "1";
  config.add_clusterdns("1.1.1.1");
  config.add_enforcenodeallocatable("pods");
  const AppliedFlags applied =
      ApplyFlags(Parse({"--system-reserved=memory=1Gi", "--cluster-dns=2.2.2.2",
                        "--cluster-dns=3.3.3.3", "--enforce-node-allocatable="})
                     .flags,
                 config);
  EXPECT_THAT(kube::EncodeJson(config), HasSubstr(R"("systemReserved":{"memory":"1Gi"})"));
  EXPECT_THAT(config.clusterdns(), ElementsAre("2.2.2.2", "3.3.3.3"));
  EXPECT_THAT(config.enforcenodeallocatable(), IsEmpty());
  EXPECT_THAT(applied.fields,
              ElementsAre(SetField{"systemReserved", "system-reserved"},
                          SetField{"clusterDNS", "cluster-dns"},
                          SetField{"enforceNodeAllocatable", "enforce-node-allocatable"}));
}

TEST(ApplyFlags, VmoduleIsAppended) {
  KubeletConfiguration config;
  auto& item = *config.mutable_logging()->add_vmodule();
  item.set_filepattern("a");
  item.set_verbosity(1);
  EXPECT_THAT(ApplyFlags(Parse({"--vmodule=b=2"}).flags, config).faults, IsEmpty());
  ASSERT_EQ(config.logging().vmodule_size(), 2);
  EXPECT_EQ(config.logging().vmodule(1).filepattern(), "b");
}

TEST(ApplyFlags, SeccompDefaultOnlyTurnsOn) {
  EXPECT_TRUE(Applied({"--seccomp-default"}).seccompdefault());
  KubeletConfiguration config;
  config.set_seccompdefault(true);
  EXPECT_THAT(ApplyFlags(Parse({"--seccomp-default=false"}).flags, config).fields, IsEmpty());
  EXPECT_TRUE(config.seccompdefault());
}

TEST(ApplyFlags, FlushFrequencyKeepsTheFormOfTheFile) {
  KubeletConfiguration config;
  config.mutable_logging()->mutable_flushfrequency()->set_isnumber(true);
  EXPECT_THAT(ApplyFlags(Parse({"--log-flush-frequency=1s"}).flags, config).faults, IsEmpty());
  EXPECT_THAT(kube::EncodeJson(config), HasSubstr(R"("flushFrequency":1000000000)"));
}

TEST(ApplyFlags, FlagsThatNobodyParsedAreFaultsNotCrashes) {
  ParsedFlags flags;
  flags.uses = {{"port", "x"}, {"no-such-flag", "1"}};
  KubeletConfiguration config;
  const AppliedFlags applied = ApplyFlags(flags, config);
  EXPECT_EQ(applied.faults.size(), 2u);
  EXPECT_THAT(SetPaths(config), IsEmpty());
}

TEST(ApplyLegacyDefaults, AreTheFourOfTheContract) {
  KubeletConfiguration config;
  ApplyLegacyDefaults(config);
  EXPECT_TRUE(config.authentication().anonymous().enabled());
  EXPECT_TRUE(config.authentication().webhook().has_enabled());
  EXPECT_FALSE(config.authentication().webhook().enabled());
  EXPECT_EQ(config.authorization().mode(), "AlwaysAllow");
  EXPECT_EQ(config.readonlyport(), 10255);
  EXPECT_EQ(SetPaths(config).size(), 4u);
}

}  // namespace
}  // namespace denselet::app
