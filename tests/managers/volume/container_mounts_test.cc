#include "managers/volume/container_mounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/managers/volume/pods_for_tests.h"

namespace denselet::managers {
namespace {

constexpr const char* kVolumes = R"("volumes":[{"name":"e","emptyDir":{}},
    {"name":"h","hostPath":{"path":"/srv"}},{"name":"m","configMap":{"name":"m"}},
    {"name":"c","csi":{"driver":"d"}},{"name":"i","image":{"reference":"example.org/data:1"}}])";

Result<std::vector<PlannedMount>> Plan(const std::string& mounts, const sync::KeyValues& env = {},
                                       bool recursive = false) {
  const kube::core::Pod pod =
      PodFrom(R"({"containers":[{"name":"a","volumeMounts":[)" + mounts + "]}]," + kVolumes + "}");
  return PlanMounts(pod, {.name = "a", .image_volumes = {{"i", "sha256:1"}}}, env,
                    {.root_folder = "/agent", .recursive_read_only = recursive});
}

std::string FaultOf(const Result<std::vector<PlannedMount>>& plan) {
  return plan ? "none" : plan.error().message();
}

TEST(ContainerMounts, ShowTheVolumeWithItsFlags) {
  const auto mounts = Plan(R"({"name":"h","mountPath":"rel"},
      {"name":"e","mountPath":"/e","readOnly":true,"mountPropagation":"HostToContainer"},
      {"name":"m","mountPath":"/m"},
      {"name":"h","mountPath":"/h","mountPropagation":"Bidirectional"})");
  ASSERT_TRUE(mounts);
  ASSERT_EQ(mounts->size(), 4u);
  const sync::MountSpec& host = (*mounts)[0].spec;
  EXPECT_EQ(host.container_path, "/rel");
  EXPECT_EQ(host.host_path, "/srv");
  EXPECT_FALSE(host.read_only);
  EXPECT_EQ(host.propagation, sync::MountPropagation::kPrivate);
  const sync::MountSpec& empty = (*mounts)[1].spec;
  EXPECT_EQ(empty.host_path, "/agent/pods/u-1/volumes/kubernetes.io~empty-dir/e");
  EXPECT_TRUE(empty.read_only);
  EXPECT_EQ(empty.propagation, sync::MountPropagation::kHostToContainer);
  // What we write nobody else does.
  EXPECT_TRUE((*mounts)[2].spec.read_only);
  EXPECT_EQ((*mounts)[3].spec.propagation, sync::MountPropagation::kBidirectional);
  for (const PlannedMount& mount : *mounts) EXPECT_FALSE(mount.part);
}

TEST(ContainerMounts, APartOfAVolumeIsAMountOfItsOwn) {
  const auto mounts = Plan(R"({"name":"e","mountPath":"/e"},
      {"name":"e","mountPath":"/l","subPathExpr":"logs/$(POD)/$$x"})",
                           {{"POD", "web-1"}});
  ASSERT_TRUE(mounts) << FaultOf(mounts);
  ASSERT_TRUE((*mounts)[1].part);
  EXPECT_EQ((*mounts)[1].part->folder, "/agent/pods/u-1/volumes/kubernetes.io~empty-dir/e");
  EXPECT_EQ((*mounts)[1].part->relative, "logs/web-1/$x");
  EXPECT_EQ((*mounts)[1].spec.host_path, "/agent/pods/u-1/volume-subpaths/e/a/1");
}

TEST(ContainerMounts, WhatCannotBeIsRefusedInUpstreamsWords) {
  EXPECT_EQ(FaultOf(Plan(R"({"name":"x","mountPath":"/x"})")),
            "cannot find volume \"x\" to mount into container \"a\"");
  EXPECT_EQ(FaultOf(Plan(R"({"name":"e","mountPath":"/x","subPath":"/a"})")),
            "error SubPath `/a` must not be an absolute path");
  EXPECT_EQ(FaultOf(Plan(R"({"name":"e","mountPath":"/x","subPath":"a/../b"})")),
            "unable to provision SubPath `a/../b`: must not contain '..'");
  EXPECT_EQ(FaultOf(Plan(R"j({"name":"e","mountPath":"/x","subPathExpr":"$(B)/$(A)/$(E)"})j",
                         {{"E", ""}})),
            "missing value for A, B, E");
  EXPECT_EQ(FaultOf(Plan(R"j({"name":"e","mountPath":"/x","subPathExpr":"$(A)"})j",
                         {{"A", "../../etc"}})),
            "unable to provision SubPath `../../etc`: must not contain '..'");
  EXPECT_EQ(FaultOf(Plan(R"({"name":"e","mountPath":"/x","mountPropagation":"Odd"})")),
            "invalid MountPropagation mode: \"Odd\"");
  EXPECT_EQ(FaultOf(Plan(R"({"name":"c","mountPath":"/x"})")), "csi volumes are not supported yet");
}

TEST(ContainerMounts, RecursiveReadOnlyIsWhatTheRuntimeCanDo) {
  const std::string wanted =
      R"({"name":"e","mountPath":"/x","readOnly":true,"recursiveReadOnly":")";
  EXPECT_FALSE(Plan(wanted + "IfPossible\"}")->at(0).spec.recursive_read_only);
  EXPECT_TRUE(Plan(wanted + "IfPossible\"}", {}, true)->at(0).spec.recursive_read_only);
  EXPECT_TRUE(Plan(wanted + "Enabled\"}", {}, true)->at(0).spec.recursive_read_only);
  EXPECT_FALSE(Plan(wanted + "Disabled\"}", {}, true)->at(0).spec.recursive_read_only);
  const std::string failed = "failed to resolve recursive read-only mode: ";
  EXPECT_EQ(FaultOf(Plan(wanted + "Enabled\"}")),
            failed +
                "volume \"e\" requested recursive read-only mode, but it is not supported by "
                "the runtime");
  EXPECT_EQ(FaultOf(Plan(R"({"name":"e","mountPath":"/x","recursiveReadOnly":"Enabled"})")),
            failed + "volume \"e\" requested recursive read-only mode, but it is not read-only");
  EXPECT_EQ(FaultOf(Plan(wanted + R"(Enabled","mountPropagation":"HostToContainer"})", {}, true)),
            failed +
                "volume \"e\" requested recursive read-only mode, but it is not compatible "
                "with propagation \"HostToContainer\"");
}

TEST(ContainerMounts, OfAnEphemeralContainerToo) {
  const kube::core::Pod pod =
      PodFrom(std::string(R"({"ephemeralContainers":[{"name":"d","volumeMounts":[
      {"name":"e","mountPath":"/e"}]}],)") +
              kVolumes + "}");
  EXPECT_EQ(PlanMounts(pod, {.name = "d"}, {}, {.root_folder = "/agent"})->size(), 1u);
  EXPECT_EQ(PlanMounts(pod, {.name = "none"}, {}, {}).error().code(), ErrorCode::kNotFound);
}

TEST(ContainerMounts, AnImageIsMountedByTheRuntime) {
  const auto mounts = Plan(R"j({"name":"i","mountPath":"/i"},
      {"name":"i","mountPath":"/part","subPathExpr":"of/$(WHO)"})j",
                           {{"WHO", "me"}});
  ASSERT_TRUE(mounts) << FaultOf(mounts);
  const sync::MountSpec whole{.container_path = "/i",
                              .read_only = true,
                              .image = "sha256:1",
                              .image_user_specified = "example.org/data:1"};
  EXPECT_EQ(mounts->at(0).spec, whole);
  sync::MountSpec part = whole;
  part.container_path = "/part";
  part.image_sub_path = "of/me";
  EXPECT_EQ(mounts->at(1).spec, part);
  EXPECT_FALSE(mounts->at(1).part) << "the runtime looks for it";
  EXPECT_EQ(FaultOf(Plan(R"({"name":"i","mountPath":"/i","subPath":"../x"})")),
            "unable to provision SubPath `../x`: must not contain '..'");
  const kube::core::Pod pod = PodFrom(std::string(R"({"containers":[{"name":"a","volumeMounts":[
      {"name":"i","mountPath":"/i"}]}],)") +
                                      kVolumes + "}");
  EXPECT_EQ(FaultOf(PlanMounts(pod, {.name = "a"}, {}, {})),
            "the image of volume \"i\" was not asked for");
}

TEST(ContainerMounts, VolumesOfOursAreRelabelledWhereThereIsSelinux) {
  const kube::core::Pod pod = PodFrom(std::string(R"({"containers":[{"name":"a","volumeMounts":[
      {"name":"e","mountPath":"/e"},{"name":"m","mountPath":"/m"},{"name":"h","mountPath":"/h"},
      {"name":"i","mountPath":"/i"}]}],)") +
                                      kVolumes + "}");
  const sync::ContainerWish wish{.name = "a", .image_volumes = {{"i", "sha256:1"}}};
  const auto flags = [&](bool selinux) {
    std::vector<bool> relabelled;
    const auto mounts = PlanMounts(pod, wish, {}, {.root_folder = "/agent", .selinux = selinux});
    for (const PlannedMount& mount : *mounts) relabelled.push_back(mount.spec.selinux_relabel);
    return relabelled;
  };
  EXPECT_EQ(flags(true), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(flags(false), (std::vector<bool>{false, false, false, false}));
}

}  // namespace
}  // namespace denselet::managers
