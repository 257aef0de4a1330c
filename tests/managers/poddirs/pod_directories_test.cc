#include "managers/poddirs/pod_directories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "managers/poddirs/mount_table.h"
#include "managers/poddirs/pod_leftovers.h"
#include "tests/fakes/scripted_runtime.h"
#include "tests/sim/disk.h"
#include "tests/sim/sim_file_system.h"
#include "tests/sim/world.h"

namespace denselet::managers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class PodDirectoriesTest : public testing::Test {
 protected:
  static kube::PodRef Pod(const std::string& spec, const std::string& uid = "u-1") {
    kube::core::Pod pod;
    const std::string json =
        R"({"metadata":{"name":"p","namespace":"n","uid":")" + uid + R"("},"spec":)" + spec + "}";
    EXPECT_TRUE(kube::DecodeJson(json, pod).ok()) << json;
    return *kube::PodAtRest::FromPod(pod);
  }
  static kube::PodRef PlainPod(const std::string& uid = "u-1") {
    return Pod(R"({"initContainers":[{"name":"i"}],"containers":[{"name":"c"}]})", uid);
  }
  template <class T, class Begin>
  Result<T> Await(Begin begin) {
    std::optional<Result<T>> answer;
    begin([&answer](Result<T> result) { answer = std::move(result); });
    EXPECT_FALSE(answer) << "answered inside the call";
    world_.RunUntil(After(world_.clock().Now(), Seconds(10)));
    EXPECT_TRUE(answer);
    return answer ? std::move(*answer) : Result<T>(Error(ErrorCode::kBug, "no answer"));
  }
  Result<sync::PreparedPod> Prepare(const kube::PodRef& pod) {
    return Await<sync::PreparedPod>(
        [&](auto done) { directories_.Prepare({}, pod, std::move(done)); });
  }
  Status Mount(const kube::PodRef& pod) {
    const auto mounted = Await<sync::MountedVolumes>(
        [&](auto done) { directories_.Mount({}, pod, std::move(done)); });
    if (!mounted) return mounted.error();
    if (mounted->missing.empty()) return Ok();
    return mounted->missing.front().why.With("volume", mounted->missing.front().volume);
  }
  Status Release(const std::string& uid) {
    const sync::PodIdentity pod{.ref = {"n", "p"}, .uid = PodUid(uid)};
    return Await<Unit>([&](auto done) { directories_.Release({}, pod, std::move(done)); });
  }
  Status RemoveLogs(const std::string& uid = "u-1", const std::string& name = "p") {
    const sync::PodIdentity pod{.ref = {"n", name}, .uid = PodUid(uid)};
    return Await<Unit>([&](auto done) { directories_.RemoveLogs({}, pod, std::move(done)); });
  }
  Status RemoveContainerLogs(const std::string& container, uint32_t attempt) {
    const sync::PodIdentity pod{.ref = {"n", "p"}, .uid = PodUid("u-1")};
    return Await<Unit>([&](auto done) {
      directories_.RemoveContainerLogs({}, pod, {container, attempt, ContainerId("id")},
                                       std::move(done));
    });
  }
  void SetMounts(const std::vector<std::string>& points) {
    std::string table = "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n";
    for (const std::string& point : points) {
      table += "36 22 0:30 / " + point + " rw shared:1 - tmpfs tmpfs rw\n";
    }
    ASSERT_TRUE(disk_.MakeDirectories("/proc/self", 0755));
    ASSERT_TRUE(disk_.ReplaceFile("/proc/self/mountinfo", table, 0444, reactor::Durability::kCached,
                                  WallTime{}));
  }
  void MakeFolder(const std::string& path) { ASSERT_TRUE(disk_.MakeDirectories(path, 0755)); }
  uint32_t Mode(const std::string& path) {
    const Result<reactor::FileInfo> info = disk_.Stat(path);
    return info ? info->mode : 0;
  }
  bool Exists(const std::string& path) { return static_cast<bool>(disk_.Stat(path)); }
  void Write(const std::string& path) {
    ASSERT_TRUE(disk_.ReplaceFile(path, "x", 0640, reactor::Durability::kCached, WallTime{}));
  }

  sim::World world_{{.seed = 1, .shards = 1}};
  sim::Disk disk_;
  sim::SimFileSystem files_{world_.loop(0), world_.random(), disk_};
  PodDirectories directories_{
      world_.loop(0), files_, {.root_folder = "/agent", .logs_folder = "/logs"}};
};

TEST_F(PodDirectoriesTest, APodGetsItsDirectories) {
  const Result<sync::PreparedPod> prepared = Prepare(PlainPod());
  ASSERT_TRUE(prepared) << prepared.error().message();
  EXPECT_THAT(prepared->logged_attempts, IsEmpty());
  EXPECT_EQ(Mode("/agent/pods/u-1"), 0750u);
  EXPECT_EQ(Mode("/agent/pods/u-1/volumes"), 0750u);
  EXPECT_EQ(Mode("/agent/pods/u-1/plugins"), 0750u);
  EXPECT_EQ(Mode("/logs/n_p_u-1/i"), 0755u);
  EXPECT_EQ(Mode("/logs/n_p_u-1/c"), 0755u);
}

TEST_F(PodDirectoriesTest, WhatIsThereAlreadyIsFineAndItsLogsAreCounted) {
  ASSERT_TRUE(Prepare(PlainPod()));
  for (const char* name : {"0.log", "3.log", "12.log.20260102-150405.gz", "x.log", "99.txt"}) {
    Write("/logs/n_p_u-1/c/" + std::string(name));
  }
  const Result<sync::PreparedPod> again = Prepare(PlainPod());
  ASSERT_TRUE(again);
  EXPECT_THAT(again->logged_attempts, ElementsAre(Pair("c", 13)));
}

TEST_F(PodDirectoriesTest, AFullDiskIsTheAnswer) {
  disk_.faults().error = 1;
  const Result<sync::PreparedPod> prepared = Prepare(PlainPod());
  ASSERT_FALSE(prepared);
  EXPECT_THAT(prepared.error().message(), HasSubstr("prepare the pod's directories"));
  disk_.faults().error = 0;
  EXPECT_TRUE(Prepare(PlainPod()));
}

TEST_F(PodDirectoriesTest, NoNameLeadsOutOfTheRoot) {
  EXPECT_EQ(Prepare(PlainPod("../../etc")).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(Prepare(Pod(R"({"containers":[{"name":".."}]})")).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(Release("..").error().code(), ErrorCode::kInvalid);
}

TEST_F(PodDirectoriesTest, VolumesAreRefusedByName) {
  EXPECT_TRUE(Mount(PlainPod()));
  const Status mounted =
      Mount(Pod(R"({"containers":[{"name":"c"}],"volumes":[{"name":"data","emptyDir":{}}]})"));
  ASSERT_FALSE(mounted);
  EXPECT_EQ(mounted.error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(mounted.error().message(), "volume \"data\": volumes are not supported yet");
}

TEST_F(PodDirectoriesTest, ReleaseRemovesTheDataAndLeavesTheLogs) {
  ASSERT_TRUE(Prepare(PlainPod()));
  ASSERT_TRUE(Release("u-1"));
  EXPECT_FALSE(Exists("/agent/pods/u-1"));
  EXPECT_TRUE(Exists("/logs/n_p_u-1/c"));
  EXPECT_TRUE(Release("u-1")) << "what is gone is fine";
}

TEST_F(PodDirectoriesTest, AVolumeThatIsInUseIsNotRemoved) {
  ASSERT_TRUE(Prepare(PlainPod()));
  Write("/agent/pods/u-1/volumes/file");
  EXPECT_FALSE(Release("u-1"));
  EXPECT_TRUE(Exists("/agent/pods/u-1/volumes/file"));
}

TEST_F(PodDirectoriesTest, WhatABeforeLeftBesideVolumesGoesWithThem) {
  ASSERT_TRUE(Prepare(PlainPod()));
  SetMounts({"/agent/pods/u-10/volumes/x", "/agent/pods"});
  MakeFolder("/agent/pods/u-1/volumes/kubernetes.io~empty-dir/v");
  MakeFolder("/agent/pods/u-1/containers/c");
  Write("/agent/pods/u-1/containers/c/0a1b2c3d");
  Write("/agent/pods/u-1/etc-hosts");
  ASSERT_TRUE(Release("u-1"));
  EXPECT_FALSE(Exists("/agent/pods/u-1"));
  EXPECT_TRUE(Exists("/agent/pods"));
}

TEST_F(PodDirectoriesTest, NothingIsRemovedWhileSomethingIsMountedBelow) {
  ASSERT_TRUE(Prepare(PlainPod()));
  SetMounts({"/agent/pods/u-1/plugins/m"});
  MakeFolder("/agent/pods/u-1/plugins/m");
  Write("/agent/pods/u-1/plugins/m/precious");
  Write("/agent/pods/u-1/somebodys");
  const Status released = Release("u-1");
  ASSERT_FALSE(released);
  EXPECT_THAT(released.error().message(), HasSubstr("still mounted"));
  EXPECT_THAT(released.error().message(), HasSubstr("/agent/pods/u-1/plugins/m"));
  EXPECT_TRUE(Exists("/agent/pods/u-1/plugins/m/precious"));
  EXPECT_TRUE(Exists("/agent/pods/u-1/somebodys"));
}

TEST_F(PodDirectoriesTest, NothingIsRemovedWhenNobodyCanTellWhatIsMounted) {
  ASSERT_TRUE(Prepare(PlainPod()));
  Write("/agent/pods/u-1/somebodys");
  EXPECT_FALSE(Release("u-1"));
  EXPECT_TRUE(Exists("/agent/pods/u-1/somebodys"));
}

// Also of every pod, and also without a look at the mount table.
TEST_F(PodDirectoriesTest, TheHostsFileGoesWithThePod) {
  ASSERT_TRUE(Prepare(PlainPod()));
  Write("/agent/pods/u-1/etc-hosts");
  ASSERT_TRUE(Release("u-1"));
  EXPECT_FALSE(Exists("/agent/pods/u-1"));
}

// Every pod has them: no mount table is read for these, and here there is none.
TEST_F(PodDirectoriesTest, FilesOfTerminationMessagesGoWithThePod) {
  ASSERT_TRUE(Prepare(PlainPod()));
  for (const char* container : {"c", "i"}) {
    MakeFolder("/agent/pods/u-1/containers/" + std::string(container));
    Write("/agent/pods/u-1/containers/" + std::string(container) + "/00000000");
    Write("/agent/pods/u-1/containers/" + std::string(container) + "/9f3bc01e");
  }
  ASSERT_TRUE(Release("u-1"));
  EXPECT_FALSE(Exists("/agent/pods/u-1"));
}

TEST_F(PodDirectoriesTest, WhatIsNoTerminationMessageWaitsForALookAtTheMounts) {
  ASSERT_TRUE(Prepare(PlainPod()));
  MakeFolder("/agent/pods/u-1/containers/c/0000000a");
  Write("/agent/pods/u-1/containers/c/0000000a/data");
  Write("/agent/pods/u-1/containers/c/0000000b");
  Write("/agent/pods/u-1/containers/c/other");
  EXPECT_FALSE(Release("u-1"));
  EXPECT_TRUE(Exists("/agent/pods/u-1/containers/c/0000000a/data"));
  EXPECT_TRUE(Exists("/agent/pods/u-1/containers/c/other"));
  EXPECT_FALSE(Exists("/agent/pods/u-1/containers/c/0000000b"));
  SetMounts({});
  EXPECT_TRUE(Release("u-1"));
  EXPECT_FALSE(Exists("/agent/pods/u-1"));
}

TEST_F(PodDirectoriesTest, DataInAVolumeStaysThoughNothingIsMounted) {
  ASSERT_TRUE(Prepare(PlainPod()));
  SetMounts({});
  MakeFolder("/agent/pods/u-1/volumes/plugin/v");
  Write("/agent/pods/u-1/volumes/plugin/v/data");
  Write("/agent/pods/u-1/somebodys");
  EXPECT_FALSE(Release("u-1"));
  EXPECT_TRUE(Exists("/agent/pods/u-1/volumes/plugin/v/data"));
  EXPECT_TRUE(Exists("/agent/pods/u-1/somebodys"));
}

TEST_F(PodDirectoriesTest, LinksAreRemovedAndNotFollowed) {
  ASSERT_TRUE(Prepare(PlainPod()));
  SetMounts({});
  MakeFolder("/elsewhere");
  Write("/elsewhere/file");
  ASSERT_TRUE(disk_.Symlink("/elsewhere", "/agent/pods/u-1/link", WallTime{}));
  ASSERT_TRUE(disk_.Symlink("/elsewhere", "/logs/n_p_u-1/link", WallTime{}));
  ASSERT_TRUE(Release("u-1"));
  ASSERT_TRUE(RemoveLogs());
  EXPECT_FALSE(Exists("/agent/pods/u-1"));
  EXPECT_FALSE(Exists("/logs/n_p_u-1"));
  EXPECT_TRUE(Exists("/elsewhere/file"));
}

TEST_F(PodDirectoriesTest, APodsLogsGoAltogether) {
  ASSERT_TRUE(Prepare(PlainPod()));
  for (const char* name : {"i/0.log", "c/0.log", "c/1.log", "c/1.log.20260102-150405.gz"}) {
    Write("/logs/n_p_u-1/" + std::string(name));
  }
  ASSERT_TRUE(Prepare(PlainPod("u-2")));
  ASSERT_TRUE(RemoveLogs());
  EXPECT_FALSE(Exists("/logs/n_p_u-1"));
  EXPECT_TRUE(Exists("/logs/n_p_u-2/c"));
  EXPECT_TRUE(Exists("/agent/pods/u-1"));
  EXPECT_TRUE(RemoveLogs()) << "what is gone is fine";
}

TEST_F(PodDirectoriesTest, WhatIsTooDeepForLogsIsNotOurs) {
  ASSERT_TRUE(Prepare(PlainPod()));
  MakeFolder("/logs/n_p_u-1/c/deeper");
  Write("/logs/n_p_u-1/c/deeper/file");
  EXPECT_EQ(RemoveLogs().error().code(), ErrorCode::kInvalid);
  EXPECT_TRUE(Exists("/logs/n_p_u-1/c/deeper/file"));
}

TEST_F(PodDirectoriesTest, LogsOfAPodWithoutANameAreNobodys) {
  MakeFolder("/logs/x__u-1");
  EXPECT_TRUE(RemoveLogs("u-1", ""));
  EXPECT_EQ(RemoveLogs("..").error().code(), ErrorCode::kInvalid);
  EXPECT_TRUE(Exists("/logs/x__u-1"));
}

TEST_F(PodDirectoriesTest, LogsOfOneInstanceGoWithTheirRotatedParts) {
  ASSERT_TRUE(Prepare(PlainPod()));
  for (const char* name : {"1.log", "1.log.20260102-150405", "10.log", "11.log", "1.logs"}) {
    Write("/logs/n_p_u-1/c/" + std::string(name));
  }
  ASSERT_TRUE(RemoveContainerLogs("c", 1));
  EXPECT_FALSE(Exists("/logs/n_p_u-1/c/1.log"));
  EXPECT_FALSE(Exists("/logs/n_p_u-1/c/1.log.20260102-150405"));
  EXPECT_TRUE(Exists("/logs/n_p_u-1/c/10.log"));
  EXPECT_TRUE(Exists("/logs/n_p_u-1/c/11.log"));
  EXPECT_TRUE(Exists("/logs/n_p_u-1/c/1.logs"));
  EXPECT_TRUE(RemoveContainerLogs("nobody", 1)) << "what is not there is fine";
  EXPECT_EQ(RemoveContainerLogs("..", 1).error().code(), ErrorCode::kInvalid);
}

TEST_F(PodDirectoriesTest, LeftoversAreFoundByDataAndByLogs) {
  tests::ScriptedRuntime runtime(world_.loop(0));
  PodLeftoverFinder finder(world_.loop(0), files_, runtime,
                           {.root_folder = "/agent", .logs_folder = "/logs"});
  const auto find = [&] {
    return Await<std::vector<sync::PodIdentity>>(
        [&](auto done) { finder.Find({}, std::move(done)); });
  };
  EXPECT_THAT(*find(), IsEmpty()) << "there are no directories yet";
  ASSERT_TRUE(Prepare(PlainPod("u-2")));
  MakeFolder("/agent/pods/u-1");
  MakeFolder("/logs/n_q_u-3");
  MakeFolder("/logs/somebody-elses");
  MakeFolder("/logs/more_than_three_parts");
  Write("/logs/n_q_file");
  Write("/agent/pods/file");
  using Pod = sync::PodIdentity;
  EXPECT_THAT(*find(), ElementsAre(Pod{.uid = PodUid("u-1")}, Pod{{"n", "p"}, PodUid("u-2")},
                                   Pod{{"n", "q"}, PodUid("u-3")}));
}

TEST(PodOfLogFolder, ReadsThreePartsAndNoOther) {
  const auto pod = PodOfLogFolder("kube-system_coredns-1_abc");
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->ref.ToString(), "kube-system/coredns-1");
  EXPECT_EQ(pod->uid, PodUid("abc"));
  for (const char* name : {"", "a", "a_b", "a_b_c_d", "_b_c", "a__c", "a_b_", "__"}) {
    EXPECT_FALSE(PodOfLogFolder(name)) << name;
  }
}

TEST(MountBelow, KnowsWhatIsBelowAndWhatOnlyBeginsSo) {
  const auto line = [](const std::string& point) {
    return "36 22 0:30 / " + point + " rw,noatime master:1 - ext3 /dev/root rw\n";
  };
  EXPECT_EQ(MountBelow(line("/a/b/c"), "/a/b"), "/a/b/c");
  EXPECT_EQ(MountBelow(line("/x") + line("/a/b"), "/a/b"), "/a/b");
  EXPECT_FALSE(MountBelow(line("/a/bc") + line("/a") + line("/"), "/a/b"));
  EXPECT_EQ(MountBelow(line("/with\\040space/b"), "/with space"), "/with space/b");
  EXPECT_FALSE(MountBelow("", "/a"));
  EXPECT_FALSE(MountBelow("short line\n\n36 22", "/a"));
}

TEST(NextLoggedAttempt, ReadsNamesOfLogsOnly) {
  const auto next = [](const std::vector<std::string>& names) {
    std::vector<reactor::DirectoryEntry> entries;
    for (const std::string& name : names) entries.push_back({.name = name});
    return NextLoggedAttempt(entries);
  };
  EXPECT_EQ(next({}), 0u);
  EXPECT_EQ(next({"0.log"}), 1u);
  EXPECT_EQ(next({"7.log", "10.log", "9.log.1"}), 11u);
  EXPECT_EQ(next({"7.logs", "7", ".log", "-1.log", "4294967295.log", "99999999999.log"}), 0u);
}

}  // namespace
}  // namespace denselet::managers
