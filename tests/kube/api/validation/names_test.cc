#include "kube/api/validation/names.h"

#include <string>

#include <gtest/gtest.h>

#include "kube/api/validation/fault_list.h"

namespace denselet::kube {
namespace {

TEST(Names, LabelsAndSubdomainsKeepToTheirSizes) {
  EXPECT_TRUE(CheckDns1123Label(std::string(63, 'a')).empty());
  EXPECT_EQ(CheckDns1123Label(std::string(64, 'a')),
            NameFaults{"must be no more than 63 characters"});
  EXPECT_TRUE(CheckDns1123Subdomain(std::string(253, 'a')).empty());
  EXPECT_EQ(CheckDns1123Subdomain(std::string(254, 'a')),
            NameFaults{"must be no more than 253 characters"});
  EXPECT_EQ(CheckDns1123Label("a.b"), NameFaults{"must not contain dots"});
}

TEST(Names, AnEmptyTextIsNoName) {
  EXPECT_EQ(CheckDns1123Label("").size(), 1u);
  EXPECT_EQ(CheckDns1123Subdomain("").size(), 1u);
  EXPECT_EQ(CheckQualifiedName("").size(), 2u);
  EXPECT_TRUE(CheckLabelValue("").empty());
  EXPECT_EQ(CheckPortName("").size(), 2u);
}

TEST(Names, IntegersAreWrittenInOneWayOnly) {
  for (const char* good : {"0", "7", "-7", "1234567890123456789012"}) {
    EXPECT_TRUE(CheckDecimalInteger(good).empty()) << good;
  }
  for (const char* bad : {"", "-", "-0", "00", "+1", "1a", "01"}) {
    EXPECT_EQ(CheckDecimalInteger(bad).size(), 1u) << bad;
  }
}

TEST(FaultValue, TextsAreQuotedAsGoDoes) {
  EXPECT_EQ(FaultValue("a\"b\\\n\x01").text(), "\"a\\\"b\\\\\\n\\x01\"");
  EXPECT_EQ(FaultValue("é\xff").text(), "\"é\\xff\"");
  EXPECT_EQ(FaultValue::Named("<a&b>").text(), "\"\\u003ca\\u0026b\\u003e\"");
  EXPECT_EQ(FaultValue(true).text(), "true");
  EXPECT_EQ(FaultValue(int64_t{-5}).text(), "-5");
}

TEST(FieldPath, NamesChildrenEntriesAndKeys) {
  const FieldPath path = (FieldPath("spec") / "containers")[0] / "resources" / "limits";
  EXPECT_EQ(path.Key("cpu").text(), "spec.containers[0].resources.limits[cpu]");
}

}  // namespace
}  // namespace denselet::kube
