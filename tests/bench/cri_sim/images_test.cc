#include "bench/cri_sim/images.h"

#include <gtest/gtest.h>

namespace denselet::cri_sim {
namespace {

TEST(Images, NamesAreNormalizedAsContainerdDoes) {
  EXPECT_EQ(NormalizeImage("busybox"), "docker.io/library/busybox:latest");
  EXPECT_EQ(NormalizeImage("user/app:2"), "docker.io/user/app:2");
  EXPECT_EQ(NormalizeImage("localhost/app"), "localhost/app:latest");
  EXPECT_EQ(NormalizeImage("example.org:5000/a/b"), "example.org:5000/a/b:latest");
  EXPECT_EQ(NormalizeImage("busybox@sha256:1"), "docker.io/library/busybox@sha256:1");
}

TEST(Images, OneImageIsFoundByAllOfItsNames) {
  Images images;
  const Image added = images.Add("busybox:1", 100);
  for (const std::string& name :
       {added.id, added.id.substr(7), added.digest, added.tag, std::string("busybox:1")}) {
    const Image* const found = images.Find(name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(found->id, added.id);
  }
  EXPECT_EQ(images.Find("busybox:2"), nullptr);
  EXPECT_EQ(images.Find(""), nullptr);
  EXPECT_EQ(images.Add("busybox:1", 5).size, 100u);
  EXPECT_EQ(images.bytes(), 100u);
  EXPECT_TRUE(images.Remove(added.id));
  EXPECT_EQ(images.Find("busybox:1"), nullptr);
}

}  // namespace
}  // namespace denselet::cri_sim
