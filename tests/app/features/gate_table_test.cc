#include "app/features/gate_table.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/markdown_table.h"

namespace denselet::app {
namespace {

using tests::MarkdownRow;

const std::vector<MarkdownRow>& Rows() {
  static const auto rows = tests::ReadMarkdownTables("docs/compat/features.md");
  return rows;
}

GateScope ScopeOfHeading(const std::string& heading) {
  if (heading.starts_with("0.")) return GateScope::kAll;
  if (heading.starts_with("4.")) return GateScope::kLibrary;
  if (heading.starts_with("6.")) return GateScope::kOther;
  return GateScope::kKubelet;
}

bool DefaultOf(const MarkdownRow& row) {
  if (const std::string cell = row.Cell("default"); !cell.empty()) return cell == "on";
  return !row.heading.starts_with("5.");
}

std::string_view WordOf(GateStage stage) {
  switch (stage) {
    case GateStage::kAlpha:
      return "Alpha";
    case GateStage::kBeta:
      return "Beta";
    case GateStage::kGa:
      return "GA";
    case GateStage::kDeprecated:
      return "Deprecated";
  }
  return "";
}

TEST(GateTable, HasEveryGateOfTheContractAndNoneBesides) {
  std::vector<std::string> wanted;
  for (const MarkdownRow& row : Rows()) {
    const std::string stage = row.Cell("stage");
    if (stage.empty()) continue;
    const std::string name = row.Cell("gate");
    SCOPED_TRACE(name);
    wanted.push_back(name);
    const Gate* gate = FindGate(name);
    ASSERT_NE(gate, nullptr);
    EXPECT_EQ(WordOf(gate->stage), stage.substr(0, stage.find_first_of(" ,")));
    EXPECT_EQ(gate->locked, stage.find("locked") != std::string::npos);
    EXPECT_EQ(gate->on_by_default, DefaultOf(row));
    EXPECT_EQ(gate->scope, ScopeOfHeading(row.heading));
  }
  std::vector<std::string> present;
  for (const Gate& gate : AllGates()) present.emplace_back(gate.name);
  EXPECT_THAT(present, testing::UnorderedElementsAreArray(wanted));
  EXPECT_EQ(present.size(), 242u);
}

TEST(GateTable, HasEveryDependencyOfTheContractAndNoneBesides) {
  std::map<std::string, std::vector<std::string>> wanted;
  for (const MarkdownRow& row : Rows()) {
    if (const std::string need = row.Cell("needs"); !need.empty()) {
      wanted[row.Cell("gate")].push_back(need);
    }
  }
  std::map<std::string, std::vector<std::string>> present;
  for (const Gate& gate : AllGates()) {
    for (const std::string_view need : gate.needs) {
      present[std::string(gate.name)].emplace_back(need);
      EXPECT_NE(FindGate(need), nullptr) << need;
    }
  }
  EXPECT_EQ(present, wanted);
}

TEST(GateTable, UnknownNameFindsNothing) {
  EXPECT_EQ(FindGate(""), nullptr);
  EXPECT_EQ(FindGate("eventedPLEG"), nullptr);
  EXPECT_EQ(FindGate("ZZZ"), nullptr);
}

TEST(GateTable, HelpListsAlphaAndBetaGatesOnly) {
  const auto lines = GateHelpLines();
  EXPECT_EQ(lines.size(), 150u);
  EXPECT_TRUE(std::ranges::is_sorted(lines));
  EXPECT_THAT(lines, testing::Contains("AllAlpha=true|false (ALPHA - default=false)"));
  EXPECT_THAT(lines, testing::Contains("WatchListClient=true|false (BETA - default=true)"));
  EXPECT_THAT(lines, testing::Not(testing::Contains(testing::HasSubstr("ImageVolume="))));
}

TEST(GateTable, StageLabelsAreThoseOfTheMetric) {
  EXPECT_EQ(StageLabel(GateStage::kAlpha), "ALPHA");
  EXPECT_EQ(StageLabel(GateStage::kBeta), "BETA");
  EXPECT_EQ(StageLabel(GateStage::kGa), "");
  EXPECT_EQ(StageLabel(GateStage::kDeprecated), "DEPRECATED");
}

}  // namespace
}  // namespace denselet::app
