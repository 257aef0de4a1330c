#include "app/flags/validate_flags.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/app/flags/parse_helper.h"
#include "tests/golden.h"
#include "tests/markdown_table.h"

namespace denselet::app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// The kubelet's words, on one line.
std::string OnOneLine(std::string text) {
  for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n')) {
    text.replace(at, 1, "; ");
  }
  return text;
}

TEST(ValidateFlags, AgreesWithTheKubelet) {
  for (const auto& row : tests::ReadGolden("tests/app/flags/golden/cases.txt")) {
    if (row[1] == "error") continue;
    SCOPED_TRACE(row[0]);
    // These are looked at later by the kubelet, at start.
    if (row[0].starts_with("--cloud-provider") || row[0].starts_with("--exit-on-lock")) continue;
    const auto faults = ValidateFlags(ParseLines(row[0]).flags);
    if (row[1] == "ok") {
      EXPECT_THAT(faults, IsEmpty());
    } else {
      ASSERT_FALSE(faults.empty());
      EXPECT_EQ(faults.front().message, OnOneLine(row[2]));
      EXPECT_EQ(faults.front().path, "--node-labels");
    }
  }
}

TEST(ValidateFlags, LabelsOfTheContractAreAllowed) {
  size_t count = 0;
  for (const auto& row : tests::ReadMarkdownTables("docs/compat/config.md")) {
    if (!row.heading.starts_with("5.1") || row.columns.front() != "key") continue;
    EXPECT_TRUE(MayLabelItself(row.Cell("key"))) << row.Cell("key");
    ++count;
  }
  EXPECT_EQ(count, 11u);
  EXPECT_TRUE(MayLabelItself("example.com/x"));
  EXPECT_TRUE(MayLabelItself("plain"));
  EXPECT_TRUE(MayLabelItself("a.kubelet.kubernetes.io/x"));
  EXPECT_FALSE(MayLabelItself("kubernetes.io/other"));
  EXPECT_FALSE(MayLabelItself("a.k8s.io/x"));
}

TEST(ValidateFlags, CloudProviderIsExternalOrNothing) {
  EXPECT_THAT(ValidateFlags(Parse({"--cloud-provider=external"}).flags), IsEmpty());
  EXPECT_THAT(ValidateFlags(Parse({"--cloud-provider="}).flags), IsEmpty());
  const auto faults = ValidateFlags(Parse({"--cloud-provider=aws"}).flags);
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_EQ(faults[0].message,
            "cloud provider \"aws\" was specified, but built-in cloud providers are disabled. "
            "Please set --cloud-provider=external and migrate to an external cloud provider");
}

TEST(ValidateFlags, ExitOnLockContentionNeedsALockFile) {
  EXPECT_THAT(ValidateFlags(Parse({"--exit-on-lock-contention", "--lock-file=/x"}).flags),
              IsEmpty());
  const auto faults = ValidateFlags(Parse({"--exit-on-lock-contention"}).flags);
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_EQ(faults[0].message, "cannot exit on lock file contention: no lock file specified");
}

TEST(ValidateFlags, NodeIpsAreOneOrOneOfEachFamily) {
  for (const char* good : {"10.0.0.1", "10.0.0.1, fd00::1", "::", "10.0.0.1,nonsense", ""}) {
    EXPECT_THAT(ValidateFlags(Parse({"--node-ip=" + std::string(good)}).flags), IsEmpty()) << good;
  }
  const auto fault = [](const std::string& text) {
    const auto faults = ValidateFlags(Parse({"--node-ip=" + text}).flags);
    return faults.size() == 1 ? faults[0].path + ": " + faults[0].message : "";
  };
  EXPECT_EQ(fault("10.0.0.1,10.0.0.2"),
            "--node-ip: bad --node-ip \"10.0.0.1,10.0.0.2\": must contain either a single IP or a "
            "dual-stack pair of IPs");
  EXPECT_EQ(fault("10.0.0.1,::"),
            "--node-ip: bad --node-ip \"10.0.0.1,::\": dual-stack node IP cannot include "
            "'0.0.0.0' or '::'");
}

TEST(ValidateFlags, AllFaultsAreReportedAtOnce) {
  const auto faults = ValidateFlags(Parse({"--node-labels=kubernetes.io/x=y,-a=b,c=-d",
                                           "--cloud-provider=aws", "--exit-on-lock-contention"})
                                        .flags);
  ASSERT_THAT(faults, SizeIs(4));
  EXPECT_THAT(faults[0].message, HasSubstr("[kubernetes.io/x]"));
  EXPECT_THAT(faults[1].message, HasSubstr("'-a' - name part"));
  EXPECT_THAT(faults[1].message, HasSubstr("; '-d' - a valid label"));
}

}  // namespace
}  // namespace denselet::app
