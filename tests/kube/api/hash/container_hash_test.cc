#include "kube/api/hash/container_hash.h"

#include <gtest/gtest.h>

#include "kube/api/types.h"
#include "tests/golden.h"

namespace denselet::kube {
namespace {

TEST(ContainerHash, IsTheKubelets) {
  for (const auto& row : tests::ReadGolden("tests/kube/api/hash/golden/containers.txt")) {
    ASSERT_EQ(row.size(), 3u);
    EXPECT_EQ(ContainerHashText(ContainerHash(row[0], row[1])), row[2]) << row[0] << " " << row[1];
  }
}

TEST(ContainerHash, OfAContainerIsThatOfItsNameAndImage) {
  core::Container container;
  container.set_name("c1");
  container.set_image("localhost/busybox:1");
  EXPECT_EQ(ContainerHash(container), 0x6e980702u);
  container.add_command("sh");
  container.set_tty(true);
  EXPECT_EQ(ContainerHash(container), 0x6e980702u);
}

TEST(ContainerHash, TextHasNoZerosInFront) {
  EXPECT_EQ(ContainerHashText(0), "0");
  EXPECT_EQ(ContainerHashText(0x0000abcd), "abcd");
  EXPECT_EQ(ContainerHashText(0xffffffff), "ffffffff");
}

}  // namespace
}  // namespace denselet::kube
