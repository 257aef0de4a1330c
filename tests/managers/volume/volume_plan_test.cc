#include "managers/volume/volume_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/managers/volume/pods_for_tests.h"

namespace denselet::managers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

VolumeNode Node() {
  return {.root_folder = "/agent",
          .allocatable = {{"memory", kube::Quantity::FromUnits(1'000'000)}}};
}

Result<VolumePlan> Plan(const std::string& source, const std::string& more = "") {
  const kube::core::Pod pod =
      PodFrom(R"({"volumes":[{"name":"v")" + (source.empty() ? "" : "," + source) + "}]" +
              (more.empty() ? "" : "," + more) + "}");
  return PlanVolume(pod, pod.spec().volumes(0), Node());
}

std::string FaultOf(const Result<VolumePlan>& plan) {
  return plan ? "none" : plan.error().message();
}

TEST(VolumePlan, PlacesAndMediaAreUpstreams) {
  struct Row {
    const char* source;
    const char* folder;
    VolumeMedium medium;
    const char* ready;
  };
  const Row rows[] = {
      {R"("emptyDir":{})", "kubernetes.io~empty-dir", VolumeMedium::kDisk, "v"},
      {"", "kubernetes.io~empty-dir", VolumeMedium::kDisk, "v"},
      {R"("emptyDir":{"medium":"Memory"})", "kubernetes.io~empty-dir", VolumeMedium::kMemory, "v"},
      {R"("configMap":{"name":"m"})", "kubernetes.io~configmap", VolumeMedium::kDisk, "wrapped_v"},
      {R"("secret":{"secretName":"s"})", "kubernetes.io~secret", VolumeMedium::kMemory,
       "wrapped_v"},
      {R"("downwardAPI":{"items":[]})", "kubernetes.io~downward-api", VolumeMedium::kMemory,
       "wrapped_v"},
      {R"("projected":{"sources":[]})", "kubernetes.io~projected", VolumeMedium::kMemory,
       "wrapped_v"},
  };
  for (const Row& row : rows) {
    const Result<VolumePlan> plan = Plan(row.source);
    ASSERT_TRUE(plan) << row.source;
    EXPECT_EQ(plan->path, std::string("/agent/pods/u-1/volumes/") + row.folder + "/v");
    EXPECT_EQ(plan->ready_folder,
              std::string("/agent/pods/u-1/plugins/kubernetes.io~empty-dir/") + row.ready);
    EXPECT_EQ(plan->medium, row.medium) << row.source;
  }
}

TEST(VolumePlan, ATmpfsIsAsLargeAsTheSmallestOfNodePodAndVolume) {
  const char* const kLimited =
      R"("containers":[{"name":"a","resources":{"limits":{"memory":"1000"}}},
                       {"name":"b","resources":{"limits":{"memory":"500"}}}])";
  const char* const kHalfLimited =
      R"("containers":[{"name":"a","resources":{"limits":{"memory":"1000"}}},{"name":"b"}])";
  struct Row {
    const char* source;
    const char* more;
    const char* options;
  };
  const Row rows[] = {
      {R"("emptyDir":{"medium":"Memory"})", kHalfLimited, "size=1000000"},
      {R"("emptyDir":{"medium":"Memory"})", kLimited, "size=1500"},
      {R"("emptyDir":{"medium":"Memory","sizeLimit":"1Ki"})", kLimited, "size=1024"},
      {R"("emptyDir":{"medium":"Memory","sizeLimit":"4Ki"})", kLimited, "size=1500"},
      {R"("emptyDir":{"medium":"Memory","sizeLimit":"4Ki"})", kHalfLimited, "size=4096"},
      {R"("secret":{"secretName":"s"})", kLimited, "size=1500"},
      {R"("emptyDir":{"sizeLimit":"4Ki"})", kLimited, ""},
  };
  for (const Row& row : rows) {
    const Result<VolumePlan> plan = Plan(row.source, row.more);
    ASSERT_TRUE(plan) << row.source;
    EXPECT_EQ(plan->mount_options, row.options) << row.source << " " << row.more;
  }
}

TEST(PodMemoryLimit, CountsInitContainersSidecarsAndOverheadAsTheyRun) {
  const auto limit = [](const std::string& spec) { return PodMemoryLimit(PodFrom(spec)); };
  EXPECT_EQ(limit(R"({"containers":[{"name":"a"}]})"), std::nullopt);
  EXPECT_EQ(limit(R"({"initContainers":[
      {"name":"s","restartPolicy":"Always","resources":{"limits":{"memory":"10"}}},
      {"name":"i","resources":{"limits":{"memory":"95"}}}],
    "containers":[{"name":"a","resources":{"limits":{"memory":"50"}}}],
    "overhead":{"memory":"7"}})"),
            112);
  EXPECT_EQ(limit(R"({"initContainers":[{"name":"i"}],
    "containers":[{"name":"a","resources":{"limits":{"memory":"50"}}}]})"),
            std::nullopt);
  EXPECT_EQ(limit(R"({"resources":{"limits":{"memory":"77"}},"containers":[{"name":"a"}]})"), 77);
}

TEST(VolumePlan, HugePagesAreThoseThatThePodAskedFor) {
  const char* const kOne =
      R"("containers":[{"name":"a","resources":{"requests":{"hugepages-2Mi":"4Mi"}}}])";
  const char* const kTwo = R"("containers":[{"name":"a","resources":{"requests":{
      "hugepages-2Mi":"4Mi","hugepages-1Gi":"1Gi"}}}])";
  EXPECT_EQ(Plan(R"("emptyDir":{"medium":"HugePages"})", kOne)->mount_options, "pagesize=2Mi");
  EXPECT_EQ(Plan(R"("emptyDir":{"medium":"HugePages-1Gi"})", kTwo)->mount_options, "pagesize=1Gi");
  EXPECT_EQ(FaultOf(Plan(R"("emptyDir":{"medium":"HugePages"})", kTwo)),
            "medium: HugePages can't be used if container requests multiple huge page sizes");
  EXPECT_EQ(FaultOf(Plan(R"("emptyDir":{"medium":"HugePages-1Gi"})", kOne)),
            "medium HugePages-1Gi: hugePages storage requested, but there is no resource request "
            "for huge pages");
  EXPECT_EQ(FaultOf(Plan(R"("emptyDir":{"medium":"Paper"})")), "unknown storage medium \"Paper\"");
}

TEST(VolumePlan, AHostPathIsTakenAsItIsAndNeverWithDots) {
  const Result<VolumePlan> plan = Plan(R"("hostPath":{"path":"/a/b","type":"Directory"})");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->path, "/a/b");
  EXPECT_EQ(plan->host_path_type, "Directory");
  EXPECT_EQ(plan->ready_folder, "");
  EXPECT_EQ(FaultOf(Plan(R"("hostPath":{"path":"/a/../b"})")),
            "invalid HostPath `/a/../b`: must not contain '..'");
}

TEST(VolumePlan, AKindThatNobodyCanDoIsNamed) {
  EXPECT_EQ(FaultOf(Plan(R"("persistentVolumeClaim":{"claimName":"c"})")),
            "persistentVolumeClaim volumes are not supported yet");
  EXPECT_EQ(Plan(R"("csi":{"driver":"d"})").error().code(), ErrorCode::kUnsupported);
}

TEST(NestedMountPoints, AreMadeOnceAndOnlyTheOutermost) {
  const auto points = [](const std::string& mounts) {
    const auto found = NestedMountPoints(
        PodFrom(R"({"containers":[{"name":"a","volumeMounts":[)" + mounts + "]}]}"), "v");
    return found ? *found : std::vector<std::string>{"! " + found.error().message()};
  };
  EXPECT_THAT(points(R"({"name":"v","mountPath":"/dir"},{"name":"w","mountPath":"/dir2/x"})"),
              IsEmpty());
  EXPECT_THAT(points(R"({"name":"v","mountPath":"/dir/"},{"name":"w","mountPath":"/dir/nested"},
      {"name":"x","mountPath":"/dir/nested/other"},{"name":"y","mountPath":"/dir/nested2"})"),
              ElementsAre("nested", "nested2"));
  EXPECT_THAT(points(R"({"name":"v","mountPath":"/dir"},{"name":"w","mountPath":"/dir/../../x"},
      {"name":"x","mountPath":"/dir/a/../b"})"),
              ElementsAre("b"));
  EXPECT_THAT(points(R"({"name":"v","mountPath":"../dir"})"),
              ElementsAre("! invalid container mount point ../dir"));
}

TEST(CleanPath, IsTheShortestWayToSayIt) {
  EXPECT_EQ(CleanPath("a//b/./c/"), "a/b/c");
  EXPECT_EQ(CleanPath("/../a/../b"), "/b");
  EXPECT_EQ(CleanPath("../a/../../b"), "../../b");
  EXPECT_EQ(CleanPath("/"), "/");
  EXPECT_EQ(CleanPath("./."), "");
}

TEST(FsUser, IsTheOneThatAllRunAs) {
  const auto user = [](const std::string& spec) { return FsUser(PodFrom(spec)); };
  EXPECT_EQ(user(R"({"containers":[{"name":"a"}]})"), std::nullopt);
  EXPECT_EQ(user(R"({"securityContext":{"runAsUser":7},"containers":[{"name":"a"}]})"), 7u);
  EXPECT_EQ(user(R"({"securityContext":{"runAsUser":7},"containers":[{"name":"a"},
      {"name":"b","securityContext":{"runAsUser":8}}]})"),
            std::nullopt);
  EXPECT_EQ(user(R"({"containers":[{"name":"a","securityContext":{"runAsUser":8}},
      {"name":"b","securityContext":{"runAsUser":8}}],"initContainers":[{"name":"i"}]})"),
            std::nullopt);
}

}  // namespace
}  // namespace denselet::managers
