#include "kube/api/hash/manifest.h"

#include <gtest/gtest.h>

#include "kube/api/hash/resource_origins.h"

namespace denselet::kube {
namespace {

TEST(Manifest, TellsEmptyFromNone) {
  const auto manifest = Manifest::Parse(R"({"a":[],"b":{},"c":null})");
  ASSERT_TRUE(manifest);
  const ManifestPlace root = manifest->root();
  EXPECT_TRUE(root.Field("a").IsList());
  EXPECT_TRUE(root.Field("b").IsObject());
  EXPECT_TRUE(root.Field("c").IsWritten());
  EXPECT_FALSE(root.Field("c").IsObject());
  EXPECT_FALSE(root.Field("d").IsWritten());
  EXPECT_FALSE(root.Field("d").Field("e").IsWritten());
  EXPECT_TRUE(root.Field("d").Elements().empty());
}

TEST(Manifest, GivesTextsAndNumbersAsTheyWereWritten) {
  const auto manifest = Manifest::Parse(R"(["a\u0041", 1.50, 1E+3, true])");
  ASSERT_TRUE(manifest);
  const auto elements = manifest->root().Elements();
  ASSERT_EQ(elements.size(), 4u);
  EXPECT_EQ(elements[0].Text(), "aA");
  EXPECT_EQ(elements[1].Text(), "1.50");
  EXPECT_EQ(elements[2].Text(), "1E+3");
  EXPECT_EQ(elements[3].Text(), std::nullopt);
}

TEST(Manifest, OfFieldsThatComeTwiceTheLastOneCounts) {
  const auto manifest = Manifest::Parse(R"({"a":1,"b":0,"a":2})");
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->root().Field("a").Text(), "2");
}

TEST(Manifest, IsWrittenAsGoWritesIt) {
  const auto manifest =
      Manifest::Parse(R"({ "b": [ ], "a": {"&":"\u00e4"}, "c": [null, false, 1.50, {}] })");
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->root().GoJson(), R"({"a":{"\u0026":"ä"},"b":[],"c":[null,false,1.50,{}]})");
  const std::string deep = std::string(2000, '[') + std::string(2000, ']');
  const auto nested = Manifest::Parse(deep);
  ASSERT_TRUE(nested);
  EXPECT_EQ(nested->root().GoJson(), std::nullopt);
}

TEST(Manifest, GivesRawJsonAsItStands) {
  const std::string_view json = R"({"a": { "b" :1, "a":[ "}\"" ] } , "c":"x\u0041","d": null})";
  const auto manifest = Manifest::Parse(json);
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->root().Field("a").Source(), R"({ "b" :1, "a":[ "}\"" ] })");
  EXPECT_EQ(manifest->root().Field("c").Source(), R"("x\u0041")");
  EXPECT_EQ(manifest->root().Field("d").Source(), "null");
}

TEST(Manifest, WhatIsNotJsonIsAnError) {
  EXPECT_FALSE(Manifest::Parse(""));
  EXPECT_FALSE(Manifest::Parse("kind: Pod"));
  EXPECT_FALSE(Manifest::Parse("{} {}"));
}

// The pod's requests are what its containers request, an init container with the sidecars before
// it.
TEST(ResourceOrigins, RequestsOfThePodComeFromItsContainers) {
  const auto manifest = Manifest::Parse(R"({
    "resources": {"limits": {"cpu": "8", "memory": "1Gi", "hugepages-2Mi": "2Mi"}},
    "initContainers": [
      {"restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}},
      {"resources": {"limits": {"cpu": "2"}}}],
    "containers": [{"resources": {"requests": {"cpu": "0.5", "hugepages-2Mi": "4Mi"}}}]})");
  ASSERT_TRUE(manifest);
  const auto request = [&](std::string_view name) {
    const auto found = PodQuantity(manifest->root(), ResourceSide::kRequests, name);
    return found && *found ? (*found)->Dump() : "none";
  };
  GoQuantity cpu = *GoQuantity::Parse("2");
  cpu.Add(*GoQuantity::Parse("100m"));
  EXPECT_EQ(request("cpu"), cpu.Dump());
  EXPECT_EQ(request("memory"), GoQuantity::Parse("1Gi")->Dump());
  EXPECT_EQ(request("hugepages-2Mi"), GoQuantity::Parse("2Mi")->Dump());
  EXPECT_EQ(request("example.com/gpu"), "none");
}

TEST(ResourceOrigins, RequestOfAContainerIsItsLimit) {
  const auto manifest =
      Manifest::Parse(R"({"limits": {"cpu": 1.50, "a": "x"}, "requests": {"b": null}})");
  ASSERT_TRUE(manifest);
  const auto request = [&](std::string_view name) {
    return ContainerQuantity(manifest->root(), ResourceSide::kRequests, name);
  };
  ASSERT_TRUE(request("cpu"));
  EXPECT_EQ((**request("cpu")).Dump(), GoQuantity::Parse("1.50")->Dump());
  EXPECT_EQ((**request("b")).Dump(), GoQuantity().Dump());
  EXPECT_FALSE(request("a"));
}

}  // namespace
}  // namespace denselet::kube
