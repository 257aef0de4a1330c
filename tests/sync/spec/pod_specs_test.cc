#include "sync/spec/pod_specs.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "sync/spec/environment.h"

namespace denselet::sync {
namespace {

kube::PodRef Pod(const std::string& spec) {
  kube::core::Pod pod;
  const std::string json =
      R"({"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":)" + spec + "}";
  EXPECT_TRUE(kube::DecodeJson(json, pod).ok()) << json;
  return *kube::PodAtRest::FromPod(pod);
}

Result<KeyValues> Environment(const std::string& container) {
  kube::core::Container parsed;
  EXPECT_TRUE(kube::DecodeJson(container, parsed).ok()) << container;
  return EnvironmentOf(parsed);
}

const char* const kPod = R"j({"hostname":"h",
  "initContainers":[{"name":"i","image":"init:1","imagePullPolicy":"Never"}],
  "containers":[{"name":"c","image":"app:1","imagePullPolicy":"Always",
                 "command":["run","$(A)"],"env":[{"name":"A","value":"1"}]}],
  "ephemeralContainers":[{"name":"e","image":"debug:1","imagePullPolicy":"IfNotPresent",
                          "workingDir":"/w","targetContainerName":"c"}]})j";

TEST(PodSpecBuilder, FindsEveryKindOfContainer) {
  PodSpecBuilder specs({});
  const kube::PodRef pod = Pod(kPod);
  const auto image = [&](const std::string& name) {
    const auto spec = specs.Container(pod, {.name = name, .attempt = 2, .image_ref = "ref"});
    return spec ? spec->image_user_specified : spec.error().message();
  };
  EXPECT_EQ(image("i"), "init:1");
  EXPECT_EQ(image("c"), "app:1");
  EXPECT_EQ(image("e"), "debug:1");
  EXPECT_EQ(specs.Container(pod, {.name = "x"}).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(specs.Policy(pod, "i"), PullPolicy::kNever);
  EXPECT_EQ(specs.Policy(pod, "c"), PullPolicy::kAlways);
  EXPECT_EQ(specs.Policy(pod, "e"), PullPolicy::kIfNotPresent);
}

TEST(PodSpecBuilder, PassesOnWhatTheWorkerKnows) {
  PodSpecBuilder specs({});
  const kube::PodRef pod = Pod(kPod);
  const auto container = specs.Container(pod, {.name = "c", .attempt = 2, .image_ref = "sha:1"});
  ASSERT_TRUE(container);
  EXPECT_EQ(container->attempt, 2u);
  EXPECT_EQ(container->image, "sha:1");
  EXPECT_EQ(container->command, (std::vector<std::string>{"run", "1"}));
  EXPECT_EQ(container->env, (KeyValues{{"A", "1"}}));
  const auto debug = specs.Container(pod, {.name = "e", .pid_target = ContainerId("id-of-c")});
  ASSERT_TRUE(debug);
  EXPECT_EQ(debug->working_dir, "/w");
  EXPECT_EQ(debug->namespaces.pid_target, ContainerId("id-of-c"));
  const auto sandbox = specs.Sandbox(pod, 4);
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(sandbox->attempt, 4u);
  EXPECT_EQ(sandbox->hostname, "h");
}

TEST(PodSpecBuilder, PodsWithoutACgroupOfTheirOwnAreBelowTheRoot) {
  PodSpecBuilder specs({.cgroup_root = "/node"});
  const auto sandbox = specs.Sandbox(Pod(kPod), 0);
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(sandbox->cgroup_parent, "/node");
}

// PodSpecBuilder reads the one as the other.
TEST(PodSpecBuilder, EphemeralContainersHaveTheFieldsOfContainers) {
  const auto* common = kube::core::EphemeralContainerCommon::descriptor();
  const auto* container = kube::core::Container::descriptor();
  for (int i = 0; i < common->field_count(); ++i) {
    const auto* field = common->field(i);
    const auto* twin = container->FindFieldByNumber(field->number());
    ASSERT_NE(twin, nullptr) << field->name();
    EXPECT_EQ(twin->name(), field->name());
    EXPECT_EQ(twin->type(), field->type()) << field->name();
    EXPECT_EQ(twin->is_repeated(), field->is_repeated()) << field->name();
  }
}

TEST(Environment, AVariableSeesThoseBeforeIt) {
  const auto variables = Environment(R"j({"env":[{"name":"B","value":"b$(A)$(C)"},
      {"name":"C","value":"c"},{"name":"A","value":"$(C)$$(B)"},{"name":"C","value":"last"}]})j");
  ASSERT_TRUE(variables);
  EXPECT_EQ(*variables, (KeyValues{{"A", "c$(B)"}, {"B", "b$(A)$(C)"}, {"C", "last"}}));
}

TEST(Environment, WhatComesFromElsewhereIsRefusedByName) {
  const auto value_from = Environment(
      R"({"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]})");
  ASSERT_FALSE(value_from);
  EXPECT_EQ(value_from.error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(value_from.error().message(),
            "environment variable \"A\": valueFrom is not supported yet");
  EXPECT_FALSE(Environment(R"({"envFrom":[{"configMapRef":{"name":"x"}}]})"));
}

}  // namespace
}  // namespace denselet::sync
