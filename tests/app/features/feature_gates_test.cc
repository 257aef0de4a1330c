#include "app/features/feature_gates.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/source_dir.h"

namespace denselet::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Messages(const FeatureGates::Report& report) {
  std::vector<std::string> messages;
  for (const kube::Fault& fault : report.faults) messages.push_back(fault.message);
  return messages;
}

TEST(FeatureGates, StartAtTheirDefaultsWithoutFault) {
  FeatureGates gates;
  EXPECT_THAT(gates.Set({}).faults, IsEmpty());
  for (const Gate& gate : AllGates()) {
    EXPECT_EQ(gates.Enabled(gate.name), gate.on_by_default) << gate.name;
  }
}

TEST(FeatureGates, ASettingWins) {
  FeatureGates gates;
  const auto report = gates.Set({{"EventedPLEG", true}, {"EnvFiles", false}});
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_THAT(report.warnings, IsEmpty());
  EXPECT_TRUE(gates.Enabled("EventedPLEG"));
  EXPECT_FALSE(gates.Enabled("EnvFiles"));
}

TEST(FeatureGates, AllAlphaHoldsForAlphaGatesThatAreNotSetByName) {
  FeatureGates gates;
  const auto report = gates.Set({{"AllAlpha", true}, {"EventedPLEG", false}});
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_TRUE(gates.Enabled("AllAlpha"));
  EXPECT_FALSE(gates.Enabled("AllBeta"));
  EXPECT_TRUE(gates.Enabled("MemoryQoS"));
  EXPECT_FALSE(gates.Enabled("EventedPLEG"));
  EXPECT_FALSE(gates.Enabled("SELinuxMount"));  // beta, and off
}

TEST(FeatureGates, AllBetaTurnsBetaGatesOff) {
  FeatureGates gates;
  const auto report = gates.Set({{"AllBeta", false}, {"EnvFiles", true}});
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_TRUE(gates.Enabled("EnvFiles"));
  EXPECT_FALSE(gates.Enabled("PodLevelResources"));
  EXPECT_TRUE(gates.Enabled("ImageVolume"));  // generally available
}

TEST(FeatureGates, AllFaultsAreReportedAtOnceAndNothingIsSet) {
  FeatureGates gates;
  const auto report = gates.Set({{"NoSuchGate", true},
                                 {"AnotherOne", false},
                                 {"ImageVolume", false},
                                 {"EnvFiles", false},
                                 {"GracefulNodeShutdown", false},
                                 {"WindowsGracefulNodeShutdown", false}});
  EXPECT_THAT(
      Messages(report),
      ElementsAre("unrecognized feature gate: AnotherOne",
                  "cannot set feature gate ImageVolume to false, feature is locked to true",
                  "unrecognized feature gate: NoSuchGate",
                  "GracefulNodeShutdownBasedOnPodPriority is enabled, but depends on features that "
                  "are disabled: [GracefulNodeShutdown]"));
  EXPECT_EQ(report.faults.front().path, "featureGates.AnotherOne");
  EXPECT_TRUE(gates.Enabled("EnvFiles"));
}

TEST(FeatureGates, AnUnmetDependencyNamesAllThatIsMissing) {
  FeatureGates gates;
  const auto report = gates.Set({{"PodLevelResources", false}, {"NodeDeclaredFeatures", false}});
  EXPECT_THAT(Messages(report),
              testing::Contains("InPlacePodLevelResourcesVerticalScaling is enabled, but "
                                "depends on features that are disabled: "
                                "[NodeDeclaredFeatures PodLevelResources]"));
}

TEST(FeatureGates, ALockedGateMayBeSetToItsDefaultWithAWarning) {
  FeatureGates gates;
  const auto report = gates.Set({{"ImageVolume", true}, {"GitRepoVolumeDriver", false}});
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("GitRepoVolumeDriver=false is deprecated"),
                                           HasSubstr("ImageVolume=true is GA")));
}

TEST(FeatureGates, SettingAgainStartsFromTheDefaults) {
  FeatureGates gates;
  EXPECT_THAT(gates.Set({{"EventedPLEG", true}}).faults, IsEmpty());
  EXPECT_THAT(gates.Set({{"MemoryQoS", true}}).faults, IsEmpty());
  EXPECT_FALSE(gates.Enabled("EventedPLEG"));
}

TEST(FeatureGates, StatesAreSortedAndHaveTheirStage) {
  FeatureGates gates;
  EXPECT_THAT(gates.Set({{"EventedPLEG", true}}).faults, IsEmpty());
  const auto states = gates.All();
  EXPECT_EQ(states.size(), AllGates().size());
  EXPECT_TRUE(std::ranges::is_sorted(states, {}, &GateState::name));
  const auto at = std::ranges::find(states, "EventedPLEG", &GateState::name);
  ASSERT_NE(at, states.end());
  EXPECT_EQ(at->stage, GateStage::kAlpha);
  EXPECT_TRUE(at->enabled);
}

TEST(FeatureGates, AskingForAGateThatDoesNotExistIsOurFault) {
  const FeatureGates gates;
  EXPECT_DEATH(gates.Enabled("NoSuchGate"), "gate != nullptr");
}

TEST(GatesWithoutEffect, AreThoseOfAKubeletThatWereChanged) {
  EXPECT_THAT(GatesWithoutEffect({{"CSIVolumeHealth", true},   // changed
                                  {"MemoryQoS", false},        // its default
                                  {"WatchListClient", false},  // of a library
                                  {"KMSv1", true},             // of the API server
                                  {"NoSuchGate", true},
                                  {"AllAlpha", true}}),
              ElementsAre("AllAlpha", "CSIVolumeHealth", "WatchListClient"));
}

TEST(GatesThatTheRuntimeDecides, AreNamedWhateverTheyWereSetTo) {
  const GateSettings settings = {
      {"CRIListStreaming", false}, {"EventedPLEG", true}, {"MemoryQoS", true}};
  EXPECT_THAT(GatesThatTheRuntimeDecides(settings), ElementsAre("CRIListStreaming", "EventedPLEG"));
  EXPECT_THAT(GatesWithoutEffect(settings), ElementsAre("MemoryQoS"));
}

// Whoever asks for a gate heeds it.
TEST(GatesWithoutEffect, AreNoneThatTheAgentAsksFor) {
  constexpr std::string_view kAsk = "ates.Enabled(\"";
  size_t asked = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(tests::SourcePath("src/app/agent"))) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (size_t at = text.find(kAsk); at != text.npos; at = text.find(kAsk, at + 1)) {
      const size_t begin = at + kAsk.size();
      const std::string gate = text.substr(begin, text.find('"', begin) - begin);
      EXPECT_TRUE(IsImplemented(gate)) << gate << " in " << entry.path();
      ++asked;
    }
  }
  EXPECT_GT(asked, 1u);
  EXPECT_THAT(GatesWithoutEffect({{"ReduceDefaultCrashLoopBackOffDecay", true},
                                  {"KubeletCrashLoopBackOffMax", false},
                                  {"CustomCPUCFSQuotaPeriod", true}}),
              IsEmpty());
}

TEST(GatesWithoutEffect, AreNamedByThoseThatSpeakForAll) {
  EXPECT_THAT(GatesWithoutEffect({{"AllBeta", false}, {"AllAlpha", true}}),
              ElementsAre("AllAlpha", "AllBeta"));
  EXPECT_THAT(GatesWithoutEffect({{"AllAlpha", false}}), ::testing::IsEmpty());
}

}  // namespace
}  // namespace denselet::app
