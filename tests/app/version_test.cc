#include "app/version_rule.h"

#include <gtest/gtest.h>

#include "app/version_text.h"

namespace denselet::app {
namespace {

std::string Said(std::string_view wanted) {
  const Status status = CheckReportedVersion(wanted, "v1.36.3");
  return status ? "" : status.error().message();
}

TEST(ReportedVersion, KeepsTheNumbers) {
  EXPECT_EQ(Said("v1.36.3"), "");
  EXPECT_EQ(Said("v1.36.3-rc.1"), "");
  EXPECT_EQ(Said("v1.36.3+build.07"), "");
  EXPECT_EQ(Said("v1.36.3-a-b.1+c"), "");
  EXPECT_EQ(Said("v1.36.3 "), "");
  EXPECT_EQ(Said("v1.36.4"),
            "version \"v1.36.4\" must match major/minor/patch of default version \"v1.36.3\"");
}

TEST(ReportedVersion, IsASemanticVersion) {
  EXPECT_EQ(Said("vx"), "could not parse \"vx\" as version");
  EXPECT_EQ(Said("v1.36"), "illegal version string \"v1.36\"");
  EXPECT_EQ(Said("v1.36.3.4"), "illegal version string \"v1.36.3.4\"");
  EXPECT_EQ(Said("v1.036.3"), "illegal zero-prefixed version component \"036\" in \"v1.036.3\"");
  EXPECT_EQ(Said("v1.36.3-01"), "illegal zero-prefixed version component \"01\" in \"v1.36.3-01\"");
  EXPECT_EQ(Said("v1.36.3-"), "could not parse pre-release/metadata (-) in version \"v1.36.3-\"");
  EXPECT_EQ(Said("v1.36.3x"), "could not parse pre-release/metadata (x) in version \"v1.36.3x\"");
  EXPECT_EQ(Said("v1.36.3-a..b"),
            "could not parse pre-release/metadata (-a..b) in version \"v1.36.3-a..b\"");
}

TEST(VersionText, IsOneLineOfKubernetes) {
  EXPECT_EQ(VersionText("v1.36.3-x"), "Kubernetes v1.36.3-x\n");
  EXPECT_NE(RawVersionText("v1.36.3", reactor::Backend::kEpoll).find("\nreactor epoll\n"),
            std::string::npos);
}

}  // namespace
}  // namespace denselet::app
