#include "managers/node/runtime_version.h"

#include <gtest/gtest.h>

#include "tests/golden.h"

namespace denselet::node {
namespace {

TEST(RuntimeVersion, IsShownAsTheKubeletShowsIt) {
  const auto rows = tests::ReadGolden("tests/managers/node/golden/runtime_versions.txt");
  EXPECT_GE(rows.size(), 60u);
  for (const auto& row : rows) EXPECT_EQ(ShownRuntimeVersion(row.at(0)), row.at(1)) << row.at(0);
}

}  // namespace
}  // namespace denselet::node
