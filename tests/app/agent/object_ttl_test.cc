#include "app/agent/object_ttl.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/api/types.h"

namespace denselet::app {
namespace {

TEST(ObjectTtl, IsTheNodesAnnotationInSeconds) {
  const auto of = [](const std::string& text) {
    kube::core::Node node;
    (*node.mutable_metadata()->mutable_annotations())["node.alpha.kubernetes.io/ttl"] = text;
    return ObjectTtlOf(node);
  };
  EXPECT_EQ(ObjectTtlOf({}), std::nullopt);
  EXPECT_EQ(of("15"), Duration(Seconds(15)));
  EXPECT_EQ(of("+15"), Duration(Seconds(15)));
  EXPECT_EQ(of("0"), Duration::zero());
  EXPECT_EQ(of("-3"), Duration::zero());
  EXPECT_EQ(of("999999999999999"), Duration(Hours(365 * 24)));
  for (const char* wrong : {"", "x", "15s", "1.5", " 1", "99999999999999999999"}) {
    EXPECT_EQ(of(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace denselet::app
