#include "managers/poddirs/pod_directories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
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
    return Await<Unit>([&](auto done) { directories_.Mount({}, pod, std::move(done)); });
  }
  Status Release(const std::string& uid) {
    const sync::PodIdentity pod{.ref = {"n", "p"}, .uid = PodUid(uid)};
    return Await<Unit>([&](auto done) { directories_.Release({}, pod, std::move(done)); });
  }
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
  EXPECT_THAT(mounted.error().message(), HasSubstr("\"data\""));
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
