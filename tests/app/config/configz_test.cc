// The main proof: for the same words the kubelet's own code gave the same configuration
// (third_party/peers/configz printed configz.json).
#include <gtest/gtest.h>

#include <fstream>

#include "app/config/load.h"
#include "app/config/print.h"
#include "tests/app/config/fake_config_files.h"

namespace denselet::app {
namespace {

std::vector<std::string> Lines(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && !line.starts_with('#')) lines.push_back(line);
  }
  return lines;
}

class Configz : public ::testing::TestWithParam<std::string> {};

TEST_P(Configz, IsWhatTheKubeletShows) {
  const auto folder = TestFolder() / "configz" / GetParam();
  FakeConfigFiles files = CaseFiles(folder);
  const LoadedConfig loaded = LoadConfig(Flags(Lines(folder / "flags")), files);
  const std::vector<std::string> expected = Lines(folder / "configz.json");
  ASSERT_FALSE(expected.empty());
  std::string faults;
  for (const ConfigFault& fault : loaded.faults) faults += ToString(fault) + "\n";
  if (expected.front().starts_with("error:")) {
    EXPECT_NE(faults, "") << expected.front();
    return;
  }
  EXPECT_EQ(faults, "");
  EXPECT_EQ(PrintConfigz(loaded), expected.front() + "\n");
}

std::vector<std::string> Cases() {
  std::vector<std::string> cases;
  for (const auto& entry : std::filesystem::directory_iterator(TestFolder() / "configz")) {
    cases.push_back(entry.path().filename().string());
  }
  std::ranges::sort(cases);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cases, Configz, ::testing::ValuesIn(Cases()),
                         [](const auto& test_case) { return test_case.param; });

}  // namespace
}  // namespace denselet::app
