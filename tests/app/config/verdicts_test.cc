// Every rule with configurations that keep it and ones that break it: the kubelet's own code said
// which (golden/verdicts.txt).
#include <gtest/gtest.h>

#include "app/config/load.h"
#include "app/config/validate.h"
#include "kube/api/types.h"
#include "tests/golden.h"

namespace denselet::app {
namespace {

TEST(ConfigRules, RefuseWhatTheKubeletRefuses) {
  for (const tests::GoldenRow& row : tests::ReadGolden("tests/app/config/golden/verdicts.txt")) {
    const std::string text =
        "# YAML\n{apiVersion: kubelet.config.k8s.io/v1beta1, kind: KubeletConfiguration, " +
        row[0].substr(1) + "\n";
    LoadedConfig loaded = LoadConfigText(text, "a.yaml");
    std::string faults;
    for (const ConfigFault& fault : loaded.faults) faults += ToString(fault) + "\n";
    for (const auto& fault : ValidateConfig(*loaded.config, loaded.gates, ApiAccess::kUnknown)) {
      const ConfigFault located = Locate(fault, loaded.origins);
      EXPECT_FALSE(located.path.empty()) << row[0];
      EXPECT_FALSE(located.message.empty()) << row[0];
      faults += ToString(located) + "\n";
    }
    EXPECT_EQ(faults.empty(), row[1] == "ok")
        << row[0] << "\nours: " << faults << (row.size() > 2 ? "theirs: " + row[2] : "");
  }
}

}  // namespace
}  // namespace denselet::app
