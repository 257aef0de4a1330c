#include "managers/volume/volume_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "managers/volume/filling.h"
#include "tests/fakes/fake_disk.h"
#include "tests/managers/volume/pods_for_tests.h"

namespace denselet::managers {
namespace {

using reactor::PathInfo;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kPod = "/agent/pods/u-1";
constexpr const char* kAll = R"({"securityContext":{"fsGroup":9},"volumes":[
    {"name":"disk","emptyDir":{}},
    {"name":"mem","emptyDir":{"medium":"Memory","sizeLimit":"4Ki"}},
    {"name":"conf","configMap":{"name":"m","defaultMode":420}},
    {"name":"tell","downwardAPI":{"defaultMode":420,"items":[
      {"path":"name","fieldRef":{"fieldPath":"metadata.name"}}]}}],
    "containers":[{"name":"c","volumeMounts":[{"name":"conf","mountPath":"/x"},
      {"name":"disk","mountPath":"/x/inner"},{"name":"disk","mountPath":"/d","subPath":"s"}]}]})";

std::vector<FilledVolume> Volumes(const std::string& spec, const std::string& value = "1") {
  const kube::core::Pod pod = PodFrom(spec);
  SourceAnswers answers;
  answers.objects.emplace(ConfigMapKey("m"),
                          BytesOf<kube::core::ConfigMap>(R"({"data":{"k":")" + value + R"("}})"));
  Filling filling =
      FillVolumes(pod, nullptr, answers, {.root_folder = "/agent"}, {"..2026_01_02_15_04_05.", 5});
  EXPECT_TRUE(filling.failed.empty());
  return std::move(filling.volumes);
}

Status FirstOf(const std::vector<sync::VolumeFault>& failed) {
  if (failed.empty()) return Ok();
  return failed.front().why;
}

class VolumeSetUpTest : public testing::Test {
 protected:
  VolumeSetUpTest() {
    disk_.PutFolder(std::string(kPod) + "/volumes");
    disk_.PutFolder(std::string(kPod) + "/plugins");
  }
  std::string At(const std::string& path) {
    const auto tree = disk_.Tree(kPod + path);
    const auto found = tree.find(kPod + path);
    return found == tree.end() ? "-" : found->second;
  }
  Status SetUp(const std::string& spec) { return FirstOf(SetUpVolumes(disk_, Volumes(spec))); }
  std::string CheckHostPath(const std::string& type, const std::string& path) {
    const Status done = SetUp(R"({"volumes":[{"name":"h","hostPath":{"path":")" + path +
                              R"(","type":")" + type + "\"}}]}");
    return done ? "" : done.error().message();
  }

  fakes::FakeDisk disk_;
};

TEST_F(VolumeSetUpTest, EachKindHasItsPlaceItsMediumAndItsModes) {
  ASSERT_TRUE(SetUp(kAll));
  EXPECT_THAT(
      disk_.mounts(),
      ElementsAre(
          fakes::FakeDisk::Mounted{std::string(kPod) + "/volumes/kubernetes.io~empty-dir/mem",
                                   "tmpfs size=4096,noswap"},
          fakes::FakeDisk::Mounted{std::string(kPod) + "/volumes/kubernetes.io~downward-api/tell",
                                   "tmpfs noswap"}));
  EXPECT_EQ(At("/volumes/kubernetes.io~empty-dir"), "0755 0:0 dir");
  EXPECT_EQ(At("/volumes/kubernetes.io~empty-dir/disk"), "2777 0:9 dir");
  EXPECT_EQ(At("/volumes/kubernetes.io~empty-dir/mem"), "3777 0:9 dir");
  EXPECT_EQ(At("/volumes/kubernetes.io~configmap/conf"), "2777 0:9 dir");
  EXPECT_EQ(At("/volumes/kubernetes.io~configmap/conf/..data/k"), "-");  // links are not followed
  EXPECT_EQ(At("/volumes/kubernetes.io~configmap/conf/..2026_01_02_15_04_05.5/k"), "0644 0:9 1");
  EXPECT_EQ(At("/volumes/kubernetes.io~configmap/conf/inner"), "2755 0:9 dir");
  EXPECT_EQ(At("/plugins/kubernetes.io~empty-dir/disk/ready"), "0644 0:0 ");
  EXPECT_EQ(At("/plugins/kubernetes.io~empty-dir/wrapped_conf/ready"), "0644 0:0 ");
}

TEST_F(VolumeSetUpTest, WithoutAGroupModesAreThoseOfTheMedium) {
  ASSERT_TRUE(SetUp(R"({"volumes":[{"name":"disk","emptyDir":{}},
      {"name":"mem","emptyDir":{"medium":"Memory"}}]})"));
  EXPECT_EQ(At("/volumes/kubernetes.io~empty-dir/disk"), "0777 0:0 dir");
  EXPECT_EQ(At("/volumes/kubernetes.io~empty-dir/mem"), "1777 0:0 dir");
}

TEST_F(VolumeSetUpTest, AKernelWithoutNoswapGetsATmpfsWithout) {
  disk_.knows_noswap = false;
  ASSERT_TRUE(SetUp(kAll));
  EXPECT_EQ(disk_.mounts()[0].what, "tmpfs size=4096");
}

TEST_F(VolumeSetUpTest, AgainItMountsNothingAndLeavesTheContainersFilesAlone) {
  ASSERT_TRUE(SetUp(kAll));
  const std::string file = std::string(kPod) + "/volumes/kubernetes.io~empty-dir/disk/own";
  disk_.Put(file, "x");
  const auto before = disk_.Tree(kPod);
  const auto mounts = disk_.mounts();
  ASSERT_TRUE(SetUp(kAll));
  EXPECT_EQ(disk_.Tree(kPod), before);
  EXPECT_EQ(disk_.mounts(), mounts);
}

TEST_F(VolumeSetUpTest, HostPathsAreCheckedInUpstreamsWords) {
  disk_.PutFolder("/h/dir");
  disk_.Put("/h/file", "");
  disk_.PutLink("/h/link", "/h/dir");
  disk_.PutKind("/h/sock", PathInfo::Kind::kSocket);
  disk_.PutKind("/h/chr", PathInfo::Kind::kChar);
  disk_.PutKind("/h/blk", PathInfo::Kind::kBlock);
  for (const auto& [type, path] :
       std::vector<std::pair<std::string, std::string>>{{"", "/none"},
                                                        {"Directory", "/h/dir"},
                                                        {"Directory", "/h/link"},
                                                        {"File", "/h/file"},
                                                        {"Socket", "/h/sock"},
                                                        {"CharDevice", "/h/chr"},
                                                        {"BlockDevice", "/h/blk"},
                                                        {"DirectoryOrCreate", "/h/new/dir"},
                                                        {"FileOrCreate", "/h/new/file"}}) {
    EXPECT_EQ(CheckHostPath(type, path), "") << type << " " << path;
  }
  EXPECT_EQ(disk_.Tree("/h/new").at("/h/new/dir"), "0755 0:0 dir");
  EXPECT_EQ(disk_.Tree("/h/new").at("/h/new/file"), "0644 0:0 ");
  const std::string failed = "hostPath type check failed: ";
  EXPECT_EQ(CheckHostPath("Directory", "/none"), failed + "/none is not a directory");
  EXPECT_EQ(CheckHostPath("DirectoryOrCreate", "/h/file"), failed + "/h/file is not a directory");
  EXPECT_EQ(CheckHostPath("File", "/h/dir"), failed + "/h/dir is not a file");
  EXPECT_EQ(CheckHostPath("FileOrCreate", "/h/dir"), failed + "/h/dir is not a file");
  EXPECT_EQ(CheckHostPath("Socket", "/h/file"), failed + "/h/file is not a socket file");
  EXPECT_EQ(CheckHostPath("CharDevice", "/h/blk"), failed + "/h/blk is not a character device");
  EXPECT_EQ(CheckHostPath("BlockDevice", "/h/chr"), failed + "/h/chr is not a block device");
  EXPECT_EQ(CheckHostPath("Odd", "/h/dir"), "Odd is an invalid volume type");
}

TEST_F(VolumeSetUpTest, OneThatFailsHoldsUpNoOther) {
  disk_.set_fault([](const std::string& call, const std::string&) -> std::optional<Error> {
    if (call == "mount") return Error(ErrorCode::kIo, "no");
    return std::nullopt;
  });
  const Status done = SetUp(kAll);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "no");
  EXPECT_NE(At("/volumes/kubernetes.io~configmap/conf/..data"), "-");
}

TEST_F(VolumeSetUpTest, TakenDownNothingIsLeft) {
  ASSERT_TRUE(SetUp(kAll));
  const std::string disk = std::string(kPod) + "/volumes/kubernetes.io~empty-dir/disk";
  disk_.Put(disk + "/a/b", "x");
  ASSERT_TRUE(disk_.BindBelow({disk, "s"}, 0777, std::string(kPod) + "/volume-subpaths/disk/c/2"));
  ASSERT_TRUE(
      disk_.BindBelow({disk, "a/b"}, 0777, std::string(kPod) + "/volume-subpaths/disk/c/3"));
  ASSERT_TRUE(TearDownPod(disk_, "/agent", PodUid("u-1")));
  EXPECT_THAT(disk_.mounts(), IsEmpty());
  EXPECT_EQ(disk_.Tree(kPod).size(), 3u);  // the pod's own directories
}

TEST_F(VolumeSetUpTest, NothingIsRemovedBelowAMountOfSomebodyElse) {
  ASSERT_TRUE(SetUp(kAll));
  const std::string inner = std::string(kPod) + "/volumes/kubernetes.io~empty-dir/disk/inner";
  disk_.PutMount(inner);
  disk_.Put(inner + "/data", "precious");
  const Status gone = TearDownPod(disk_, "/agent", PodUid("u-1"));
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(disk_.Content(inner + "/data"), "precious");
  // The others are gone.
  EXPECT_EQ(disk_.mounts().size(), 1u);
  EXPECT_EQ(At("/volumes/kubernetes.io~configmap"), "-");
}

TEST_F(VolumeSetUpTest, VolumesThatAreNotOursAreLeft) {
  disk_.Put(std::string(kPod) + "/volumes/kubernetes.io~csi/pv/mount/data", "x");
  ASSERT_TRUE(TearDownPod(disk_, "/agent", PodUid("u-1")));
  EXPECT_EQ(At("/volumes/kubernetes.io~csi/pv/mount/data"), "0644 0:0 x");
}

// Killed before each call of set-up and take-down: done again, all is there once, or nothing.
TEST_F(VolumeSetUpTest, KilledAtAnyCallItConverges) {
  bool finished = false;
  for (uint64_t calls = 0; !finished; ++calls) {
    ASSERT_LT(calls, 1000u);
    fakes::FakeDisk disk;
    disk.PutFolder(std::string(kPod) + "/volumes");
    disk.PutFolder(std::string(kPod) + "/plugins");
    disk.Live(calls);
    const std::string from = std::string(kPod) + "/volumes/kubernetes.io~empty-dir/disk";
    finished = SetUpVolumes(disk, Volumes(kAll)).empty() &&
               disk.BindBelow({from, "s"}, 0777, std::string(kPod) + "/volume-subpaths/disk/c/2") &&
               TearDownPod(disk, "/agent", PodUid("u-1"));
    disk.Live();
    if (calls % 2 == 0) {
      ASSERT_TRUE(SetUpVolumes(disk, Volumes(kAll, "2")).empty()) << "killed after " << calls;
      std::set<std::string> points;
      for (const auto& mount : disk.mounts()) {
        EXPECT_TRUE(points.insert(mount.point).second) << "twice: " << mount.point;
      }
      EXPECT_EQ(disk.Content(std::string(kPod) + "/volumes/kubernetes.io~configmap/conf/k"), "2");
    }
    ASSERT_TRUE(TearDownPod(disk, "/agent", PodUid("u-1"))) << "killed after " << calls;
    EXPECT_THAT(disk.mounts(), IsEmpty()) << "killed after " << calls;
    EXPECT_EQ(disk.Tree(kPod).size(), 3u) << "killed after " << calls;
  }
}

}  // namespace
}  // namespace denselet::managers
