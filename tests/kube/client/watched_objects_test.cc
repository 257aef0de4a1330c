#include "kube/client/watched_objects.h"

#include <gtest/gtest.h>

namespace denselet::kube {
namespace {

MetaView Object(std::string_view name, std::string_view uid, std::string_view version) {
  return {.name = name, .ns = "default", .uid = uid, .resource_version = version};
}

TEST(WatchedObjects, AVersionIsNewsOnce) {
  WatchedObjects objects;
  EXPECT_TRUE(objects.Put(Object("a", "u1", "1")).news);
  EXPECT_FALSE(objects.Put(Object("a", "u1", "1")).news);
  EXPECT_TRUE(objects.Put(Object("a", "u1", "2")).news);
}

TEST(WatchedObjects, AnotherUidOfTheSameNameMeansThatTheFirstIsGone) {
  WatchedObjects objects;
  objects.Put(Object("a", "u1", "1"));
  const auto change = objects.Put(Object("a", "u2", "2"));
  ASSERT_TRUE(change.gone);
  EXPECT_EQ(change.gone->uid, "u1");
  EXPECT_EQ(change.gone->object.ToString(), "default/a");
  EXPECT_TRUE(change.news);
  // Word of the first one's end comes late.
  EXPECT_FALSE(objects.Remove(Object("a", "u1", "3")));
  EXPECT_TRUE(objects.Remove(Object("a", "u2", "4")));
  EXPECT_FALSE(objects.Remove(Object("a", "u2", "4")));
}

TEST(WatchedObjects, WhatANewListLacksIsGoneInOrderOfNames) {
  WatchedObjects objects;
  objects.BeginList();
  for (const char* name : {"c", "a", "b", "d"}) objects.Put(Object(name, name, "1"));
  EXPECT_TRUE(objects.EndList().empty());
  objects.BeginList();
  EXPECT_FALSE(objects.Put(Object("b", "b", "1")).news);
  const auto gone = objects.EndList();
  ASSERT_EQ(gone.size(), 3u);
  EXPECT_EQ(gone[0].object.name + gone[1].object.name + gone[2].object.name, "acd");
  EXPECT_EQ(objects.size(), 1u);
}

}  // namespace
}  // namespace denselet::kube
