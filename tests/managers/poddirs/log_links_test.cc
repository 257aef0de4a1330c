#include "managers/poddirs/log_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "managers/poddirs/pod_directories.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/fakes/scripted_runtime.h"
#include "tests/sim/disk.h"
#include "tests/sim/sim_file_system.h"
#include "tests/sim/world.h"

namespace denselet::managers {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const sync::PodIdentity kPod{.ref = {"n", "p"}, .uid = PodUid("u-1")};
const sync::LoggedContainer kContainer{"c", 3, ContainerId("0123456789ab")};
constexpr const char* kLink = "/links/p_n_c-0123456789ab.log";
constexpr const char* kLog = "/logs/n_p_u-1/c/3.log";

class LogLinksTest : public testing::Test {
 protected:
  void Run() { world_.RunUntil(After(world_.clock().Now(), Minutes(1))); }
  // What the worker does, in a turn of the loop.
  void LinkLog(const sync::PodIdentity& pod, const sync::LoggedContainer& container) {
    world_.loop(0).Post([this, pod, container] { directories_.LinkLog(pod, container); });
  }
  void UnlinkLog(const sync::PodIdentity& pod, const sync::LoggedContainer& container) {
    world_.loop(0).Post([this, pod, container] { directories_.UnlinkLog(pod, container); });
  }
  void Write(const std::string& path) {
    const std::string folder = path.substr(0, path.rfind('/'));
    if (!folder.empty()) {
      ASSERT_TRUE(disk_.MakeDirectories(folder, 0755));
    }
    ASSERT_TRUE(disk_.ReplaceFile(path, "x", 0640, reactor::Durability::kCached, WallTime{}));
  }
  void Link(const std::string& target, const std::string& path) {
    ASSERT_TRUE(disk_.MakeDirectories("/links", 0755));
    ASSERT_TRUE(disk_.Symlink(target, path, WallTime{}));
  }
  bool Exists(const std::string& path) { return static_cast<bool>(disk_.Stat(path)); }
  std::string Target(const std::string& path) {
    const Result<std::string> target = disk_.ReadLink(path);
    return target ? *target : target.error().message();
  }
  Result<size_t> Sweep() {
    std::optional<Result<size_t>> answer;
    RemoveDeadLinks(files_, runtime_, {}, "/links",
                    [&answer](Result<size_t> removed) { answer = std::move(removed); });
    EXPECT_FALSE(answer) << "answered inside the call";
    Run();
    EXPECT_TRUE(answer);
    return answer ? *answer : Result<size_t>(Error(ErrorCode::kBug, "no answer"));
  }

  sim::World world_{{.seed = 1, .shards = 1}};
  sim::Disk disk_;
  sim::SimFileSystem files_{world_.loop(0), world_.random(), disk_};
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput output_{LogFormat{}, world_.clock(), verbosity_, sink_};
  tests::ScriptedRuntime runtime_{world_.loop(0)};
  LogLinks links_{world_.loop(0), files_, Logger(output_), "/links"};
  PodDirectories directories_{
      world_.loop(0), files_, {.root_folder = "/agent", .logs_folder = "/logs"}, nullptr, &links_};
};

TEST_F(LogLinksTest, AStartedContainersLogIsFoundByItsLink) {
  Write(kLog);
  LinkLog(kPod, kContainer);
  Run();
  EXPECT_EQ(Target(kLink), kLog);
  EXPECT_EQ(disk_.Stat("/links")->mode, 0755u);
  LinkLog(kPod, kContainer);
  Run();
  EXPECT_EQ(Target(kLink), kLog) << "again is as once";
  EXPECT_THAT(sink_.Take(), IsEmpty());
}

TEST_F(LogLinksTest, ARuntimeThatWritesNoLogGetsNoLink) {
  LinkLog(kPod, kContainer);
  Run();
  EXPECT_FALSE(Exists(kLink));
  EXPECT_THAT(sink_.Take(), IsEmpty());
}

TEST_F(LogLinksTest, TheFolderIsThereBeforeTheFirstContainer) {
  links_.Prepare();
  Run();
  EXPECT_EQ(disk_.Stat("/links")->kind, reactor::FileInfo::Kind::kDirectory);
}

TEST_F(LogLinksTest, ALinkGoesWithItsLogAndAlone) {
  Write(kLog);
  LinkLog(kPod, kContainer);
  Run();
  world_.loop(0).Post(
      [this] { directories_.RemoveContainerLogs({}, kPod, kContainer, [](const Status&) {}); });
  Run();
  EXPECT_FALSE(Exists(kLink));
  EXPECT_FALSE(Exists(kLog));
  Write(kLog);
  LinkLog(kPod, kContainer);
  Run();
  UnlinkLog(kPod, kContainer);
  UnlinkLog(kPod, {"other", 0, ContainerId("0123456789ab")});
  Run();
  EXPECT_FALSE(Exists(kLink));
  EXPECT_TRUE(Exists(kLog));
  EXPECT_THAT(sink_.Take(), IsEmpty()) << "what is not there is fine";
}

TEST_F(LogLinksTest, NoNameLeadsOutOfTheFolder) {
  LinkLog({.ref = {"n", ".."}, .uid = PodUid("u")}, kContainer);
  LinkLog(kPod, {"../c", 0, ContainerId("0123456789ab")});
  LinkLog(kPod, {"c", 0, ContainerId("../0123456789ab")});
  Run();
  EXPECT_FALSE(Exists("/links"));
}

TEST_F(LogLinksTest, WhatCannotBeMadeOrRemovedIsTold) {
  Write(kLog);
  Write("/links");  // no folder
  LinkLog(kPod, kContainer);
  Run();
  const std::string told = sink_.Take();
  EXPECT_THAT(told, HasSubstr("Could not make the link to a container's log"));
  EXPECT_THAT(told, HasSubstr(kLink));
  disk_.faults().error = 1;
  UnlinkLog(kPod, kContainer);
  Run();
  EXPECT_THAT(sink_.Take(), HasSubstr("Could not remove the link to a container's log"));
}

TEST_F(LogLinksTest, ASweepTakesWhatLeadsNowhere) {
  EXPECT_EQ(*Sweep(), 0u) << "there is no folder";
  Write(kLog);
  Link(kLog, kLink);
  Link("/logs/n_q_u-2/c/0.log", "/links/q_n_c-aaaaaaaaaaaa.log");
  Link("gone/0.log", "/links/relative-bbbbbbbbbbbb.log");
  Link("/logs/n_r_u-3/c/0.log", "/links/short-id.log");
  Link("/nowhere", "/links/of-somebody-else.txt");
  Write("/links/file.log");
  EXPECT_EQ(*Sweep(), 3u);
  EXPECT_TRUE(Exists(kLink));
  EXPECT_TRUE(Exists("/links/of-somebody-else.txt"));
  EXPECT_TRUE(Exists("/links/file.log"));
  EXPECT_EQ(*Sweep(), 0u);
}

// While a log is rotated there is none for a moment.
TEST_F(LogLinksTest, ASweepLeavesTheLinkOfAContainerThatHasNotEnded) {
  Link(kLog, kLink);
  sync::ObservedContainer container;
  container.id = kContainer.id;
  container.state = sync::ContainerState::kRunning;
  runtime_.pod.containers = {container};
  EXPECT_EQ(*Sweep(), 0u);
  runtime_.pod.containers[0].state = sync::ContainerState::kExited;
  EXPECT_EQ(*Sweep(), 1u);
}

TEST_F(LogLinksTest, ASweepLeavesWhatTheRuntimeCannotTell) {
  Link(kLog, kLink);
  runtime_.container_failure = Error(ErrorCode::kUnavailable, "the runtime is down");
  EXPECT_EQ(*Sweep(), 0u);
  EXPECT_TRUE(Exists(kLink));
}

TEST(LogLinkName, IsCutAtWhatAFileMayBeCalled) {
  const std::string pod(253, 'p');
  const std::string name = LogLinkName({.ref = {"n", pod}, .uid = PodUid("u")}, kContainer);
  EXPECT_EQ(name, pod.substr(0, 251) + ".log");
  EXPECT_EQ(name.size(), 255u);
}

TEST(ContainerOfLogLink, ReadsWhatIsBehindTheLastDash) {
  EXPECT_EQ(ContainerOfLogLink("p-1_n_c-x-0123456789ab.log"), ContainerId("0123456789ab"));
  EXPECT_EQ(ContainerOfLogLink("p_n_c-012345.log"), ContainerId("012345"));
  for (const char* name : {"p_n_c-01234.log", "p_n_c-.log", "p_n_c-0123456789ab", ".log", ""}) {
    EXPECT_FALSE(ContainerOfLogLink(name)) << name;
  }
}

}  // namespace
}  // namespace denselet::managers
