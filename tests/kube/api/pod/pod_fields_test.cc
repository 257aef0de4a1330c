#include "kube/api/pod/pod_fields.h"

#include <gtest/gtest.h>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"

namespace denselet::kube {
namespace {

core::Pod Pod() {
  core::Pod pod;
  EXPECT_TRUE(DecodeJson(R"({
    "metadata": {"name": "web", "namespace": "shop", "uid": "u-1",
      "labels": {"b": "2", "a": "1\n\"x\"", "example.com/k": "v"},
      "annotations": {"Upper": "yes"}},
    "spec": {"initContainers": [{"name": "i", "resources": {"limits": {"memory": "1Gi"}}}],
      "containers": [{"name": "c", "resources": {
        "requests": {"cpu": "250m", "memory": "64Mi", "hugepages-2Mi": "4Mi"},
        "limits": {"cpu": "1500m", "hugepages-2Mi": "4Mi"}}}]}})",
                         pod)
                  .ok());
  return pod;
}

std::string Field(const char* path) {
  const Result<std::string> field = PodField(Pod(), path);
  return field ? *field : "! " + field.error().message();
}

TEST(PodField, IsWhatTheMetadataHasAndInUpstreamsFormat) {
  EXPECT_EQ(Field("metadata.name"), "web");
  EXPECT_EQ(Field("metadata.namespace"), "shop");
  EXPECT_EQ(Field("metadata.uid"), "u-1");
  EXPECT_EQ(Field("metadata.labels"), "a=\"1\\n\\\"x\\\"\"\nb=\"2\"\nexample.com/k=\"v\"");
  EXPECT_EQ(Field("metadata.labels['example.com/k']"), "v");
  EXPECT_EQ(Field("metadata.labels['none']"), "");
  EXPECT_EQ(Field("metadata.annotations['Upper']"), "yes");
}

TEST(PodField, WhatThereIsNotIsRefusedInUpstreamsWords) {
  EXPECT_EQ(Field("spec.nodeName"), "! unsupported fieldPath: spec.nodeName");
  EXPECT_EQ(Field("metadata.name['x']"),
            "! fieldPath \"metadata.name['x']\" does not support subscript");
  EXPECT_EQ(Field("metadata.labels['']").substr(0, 46),
            "! invalid key subscript in metadata.labels['']");
}

std::string Resource(const char* resource, const char* divisor, const char* of) {
  core::ResourceFieldSelector selector;
  selector.set_resource(resource);
  selector.set_containername(of);
  if (*divisor != '\0') selector.mutable_divisor()->set_string(divisor);
  const NodeAllocatable node = {{"cpu", Quantity::FromUnits(4)},
                                {"memory", Quantity::FromUnits(1000)}};
  const Result<std::string> value = ResourceField(Pod(), selector, "c", node);
  return value ? *value : "! " + value.error().message();
}

TEST(ResourceField, IsRoundedUpInUnitsOfTheDivisor) {
  EXPECT_EQ(Resource("requests.cpu", "", ""), "1");
  EXPECT_EQ(Resource("requests.cpu", "1m", ""), "250");
  EXPECT_EQ(Resource("limits.cpu", "0", "c"), "2");
  EXPECT_EQ(Resource("requests.memory", "1Mi", "c"), "64");
  EXPECT_EQ(Resource("requests.hugepages-2Mi", "1Mi", "c"), "4");
  EXPECT_EQ(Resource("limits.memory", "1Gi", "i"), "1");
}

TEST(ResourceField, ALimitThatIsNotThereIsTheNodes) {
  EXPECT_EQ(Resource("limits.memory", "", "c"), "1000");
  EXPECT_EQ(Resource("limits.cpu", "", "i"), "4");
  EXPECT_EQ(Resource("limits.ephemeral-storage", "", "c"), "0");
  EXPECT_EQ(Resource("requests.ephemeral-storage", "", "c"), "0");
}

TEST(ResourceField, WhatNobodyHasIsRefusedInUpstreamsWords) {
  EXPECT_EQ(Resource("limits.cpu", "", "x"), "! container x not found");
  EXPECT_EQ(Resource("limits.gpu", "", "c"), "! unsupported container resource : limits.gpu");
  EXPECT_EQ(Resource("cpu", "", "c"), "! unsupported container resource : cpu");
}

}  // namespace
}  // namespace denselet::kube
