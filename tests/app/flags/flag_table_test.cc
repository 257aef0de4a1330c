#include "app/flags/flag_table.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/golden.h"
#include "tests/markdown_table.h"

namespace denselet::app {
namespace {

using tests::MarkdownRow;

std::vector<MarkdownRow> ContractRows() {
  std::vector<MarkdownRow> rows;
  for (MarkdownRow& row : tests::ReadMarkdownTables("docs/compat/config.md")) {
    if (row.heading.starts_with("5.") && row.columns.front() == "flag") {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string NameOf(const MarkdownRow& row) { return row.Cell("flag").substr(2); }

// The contract's words for types.
std::string ContractType(FlagType type) {
  switch (type) {
    case FlagType::kBool:
    case FlagType::kGoBool:
      return "bool";
    case FlagType::kLevel:
      return "int";
    case FlagType::kVmodule:
      return "list `pattern=N,…`";
    case FlagType::kVersion:
      return "version (`--version`, `=raw`, `=vX.Y.Z…`)";
    case FlagType::kTaints:
      return "list of taints";
    case FlagType::kReservedMemory:
      return "list";
    case FlagType::kString:
    case FlagType::kInt32:
    case FlagType::kInt64:
    case FlagType::kDuration:
    case FlagType::kIp:
    case FlagType::kQuantity:
    case FlagType::kStrings:
    case FlagType::kPairs:
    case FlagType::kPair:
    case FlagType::kSwitches:
    case FlagType::kThresholds:
    case FlagType::kHeaders:
    case FlagType::kLabels:
    case FlagType::kGoInt:
    case FlagType::kGoDuration:
    case FlagType::kCount:
    case FlagType::kPeriod:
    case FlagType::kReactor:
    case FlagType::kOutput:
      break;
  }
  return std::string(TypeName(type));
}

TEST(FlagTable, HasEveryFlagOfTheContractAndNoneBesidesOurOwn) {
  std::vector<std::string> wanted;
  for (const MarkdownRow& row : ContractRows()) wanted.push_back(NameOf(row));
  std::vector<std::string> present;
  for (const FlagSpec& flag : AllFlags()) {
    if (!flag.IsOwn()) present.emplace_back(flag.name);
  }
  EXPECT_THAT(present, testing::UnorderedElementsAreArray(wanted));
  EXPECT_EQ(present.size(), 149u);
}

TEST(FlagTable, TypesDefaultsAndFieldsAreThoseOfTheContract) {
  for (const MarkdownRow& row : ContractRows()) {
    SCOPED_TRACE(row.Cell("flag"));
    const FlagSpec* flag = FindFlag(NameOf(row));
    ASSERT_NE(flag, nullptr);
    EXPECT_EQ(ContractType(flag->type), row.Cell("type"));
    const std::string wanted = row.Cell("default");
    const bool empty = wanted == "\"\"" || wanted == "empty";
    EXPECT_EQ(flag->default_text, empty ? "" : wanted);
    if (row.heading.starts_with("5.3")) {
      EXPECT_EQ(flag->field, row.Cell("field"));
    }
    EXPECT_EQ(flag->deprecation.empty(), row.heading.starts_with("5.1"));
    EXPECT_FALSE(flag->meaning.empty());
  }
}

TEST(FlagTable, FlagsThatStandForAFieldWithoutBeingDeprecatedAreKnown) {
  std::map<std::string, std::string> fields;
  for (const FlagSpec& flag : AllFlags()) {
    if (flag.deprecation.empty() && !flag.field.empty()) fields.emplace(flag.name, flag.field);
  }
  EXPECT_EQ(fields,
            (std::map<std::string, std::string>{{"fail-cgroupv1", "failCgroupV1"},
                                                {"log-flush-frequency", "logging.flushFrequency"},
                                                {"provider-id", "providerID"},
                                                {"seccomp-default", "seccompDefault"},
                                                {"v", "logging.verbosity"},
                                                {"vmodule", "logging.vmodule"}}));
}

TEST(FlagTable, NoFieldHasTwoFlags) {
  std::set<std::string_view> fields;
  for (const FlagSpec& flag : AllFlags()) {
    if (flag.field.empty()) continue;
    EXPECT_TRUE(fields.insert(flag.field).second) << flag.field;
  }
}

// The real kubelet's own flag set.
TEST(FlagTable, EqualsTheKubeletsOwn) {
  size_t count = 0;
  for (const auto& row : tests::ReadGolden("tests/app/flags/golden/flags.txt")) {
    SCOPED_TRACE(row[0]);
    const FlagSpec* flag = FindFlag(row[0]);
    ASSERT_NE(flag, nullptr);
    ++count;
    EXPECT_EQ(flag->letter == 0 ? "" : std::string(1, flag->letter), row[1]);
    EXPECT_EQ(TypeName(flag->type), row[2]);
    EXPECT_EQ(flag->default_text, row[3] == "[]" ? "" : row[3]);
    EXPECT_EQ(flag->WithoutValue(), row[4]);
    EXPECT_EQ(!flag->deprecation.empty(), row[5] == "deprecated");
  }
  EXPECT_EQ(count, 149u);
}

TEST(FlagTable, UnderscoresAreDashes) {
  EXPECT_EQ(FindFlag("max_pods"), FindFlag("max-pods"));
  EXPECT_EQ(FindFlag("housekeeping_interval")->name, "housekeeping-interval");
  EXPECT_EQ(FindFlag("maxpods"), nullptr);
  EXPECT_EQ(FindFlag("pod-infra-container-image"), nullptr);
}

TEST(FlagTable, TwoFlagsHaveALetter) {
  EXPECT_EQ(FindFlagByLetter('v')->name, "v");
  EXPECT_EQ(FindFlagByLetter('h')->name, "help");
  EXPECT_EQ(FindFlagByLetter('x'), nullptr);
  EXPECT_EQ(FindFlagByLetter('\0'), nullptr);
}

}  // namespace
}  // namespace denselet::app
