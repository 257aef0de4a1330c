#include "base/ids.h"

#include <functional>
#include <string>
#include <type_traits>
#include <unordered_set>

#include <gtest/gtest.h>

namespace denselet {
namespace {

TEST(StringId, OneKindDoesNotFitWhereAnotherIsAskedFor) {
  static_assert(!std::is_constructible_v<PodUid, ContainerId>);
  static_assert(!std::is_constructible_v<ContainerId, SandboxId>);
  static_assert(!std::is_assignable_v<PodUid&, ImageId>);
}

TEST(StringId, TextBecomesAnIdOnlyWhenAsked) {
  static_assert(!std::is_convertible_v<std::string, PodUid>);
  static_assert(!std::is_convertible_v<PodUid, std::string>);
  static_assert(std::is_constructible_v<PodUid, std::string>);
}

TEST(StringId, KeepsItsText) {
  const PodUid uid("1f0c");
  EXPECT_EQ(uid.value(), "1f0c");
  EXPECT_FALSE(uid.empty());
}

TEST(StringId, DefaultIsEmpty) {
  EXPECT_TRUE(PodUid().empty());
  EXPECT_EQ(PodUid(), PodUid(""));
}

TEST(StringId, ComparesByText) {
  EXPECT_EQ(PodUid("a"), PodUid("a"));
  EXPECT_NE(PodUid("a"), PodUid("A"));
  EXPECT_LT(PodUid("a"), PodUid("b"));
  EXPECT_LT(PodUid("a"), PodUid("aa"));
  EXPECT_GE(PodUid("b"), PodUid("b"));
}

TEST(StringId, EqualIdsHashEqually) {
  EXPECT_EQ(std::hash<PodUid>{}(PodUid("1f0c")), std::hash<PodUid>{}(PodUid("1f0c")));
  std::unordered_set<ContainerId> ids;
  EXPECT_TRUE(ids.insert(ContainerId("a")).second);
  EXPECT_FALSE(ids.insert(ContainerId("a")).second);
  EXPECT_TRUE(ids.insert(ContainerId("b")).second);
  EXPECT_TRUE(ids.contains(ContainerId("b")));
  EXPECT_FALSE(ids.contains(ContainerId("c")));
}

TEST(ObjectRef, IsSaidAsNamespaceSlashName) {
  EXPECT_EQ((ObjectRef{"kube-system", "coredns"}.ToString()), "kube-system/coredns");
}

TEST(ObjectRef, WithoutANamespaceIsItsName) {
  EXPECT_EQ((ObjectRef{"", "node-1"}.ToString()), "node-1");
  EXPECT_EQ(ObjectRef{}.ToString(), "");
}

TEST(ObjectRef, SortsByNamespaceThenName) {
  const ObjectRef first{"a", "z"}, second{"b", "a"}, third{"b", "b"};
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_EQ(third, (ObjectRef{"b", "b"}));
  // The text alone would take these two for one.
  EXPECT_NE((ObjectRef{"", "a/b"}), (ObjectRef{"a", "b"}));
}

}  // namespace
}  // namespace denselet
