#include "managers/poddirs/termination_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "managers/poddirs/last_words.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/fakes/scripted_runtime.h"
#include "tests/sim/disk.h"
#include "tests/sim/sim_file_system.h"
#include "tests/sim/world.h"

namespace denselet::managers {
namespace {

using sync::ContainerState;
using sync::ObservedContainer;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kFile = "/agent/pods/u/containers/c/00000003";
constexpr const char* kLog = "/logs/c/3.log";

class TerminationMessagesTest : public testing::Test {
 protected:
  static sync::ContainerSpec Spec(const std::string& path = "/dev/termination-log") {
    sync::ContainerSpec spec;
    spec.pod = PodUid("u");
    spec.name = "c";
    spec.attempt = 3;
    spec.annotations = {{"io.kubernetes.container.terminationMessagePath", path}};
    return spec;
  }
  static ObservedContainer Exited(int32_t code, const std::string& policy = "File") {
    ObservedContainer container;
    container.id = ContainerId("id");
    container.name = "c";
    container.state = ContainerState::kExited;
    container.termination_message_path = "/dev/termination-log";
    container.termination_message_policy = policy;
    container.exit_code = code;
    container.log_path = kLog;
    container.mounts = {{.container_path = "/dev/termination-log", .host_path = kFile}};
    return container;
  }
  template <class T, class Begin>
  Result<T> Await(Begin begin) {
    std::optional<Result<T>> answer;
    begin([&answer](Result<T> result) { answer = std::move(result); });
    EXPECT_FALSE(answer) << "answered inside the call";
    world_.RunUntil(After(world_.clock().Now(), Seconds(5)));
    EXPECT_TRUE(answer);
    return answer ? std::move(*answer) : Result<T>(Error(ErrorCode::kBug, "no answer"));
  }
  // Of the only container that there is.
  std::string Message(ObservedContainer container) {
    runtime_.pod.containers = {std::move(container)};
    const auto pod = Await<sync::ObservedPod>(
        [&](auto done) { messages_.ReadPod({}, PodUid("u"), std::move(done)); });
    EXPECT_THAT(pod->containers, SizeIs(1));
    const auto alone = Await<ObservedContainer>([&](auto done) {
      messages_.ReadContainer({}, ContainerId("id"), SandboxId(), std::move(done));
    });
    EXPECT_EQ(alone->message, pod->containers[0].message);
    return pod->containers[0].message;
  }
  Result<ContainerId> Create(const sync::ContainerSpec& spec) {
    return Await<ContainerId>(
        [&](auto done) { messages_.CreateContainer({}, SandboxId(), spec, {}, std::move(done)); });
  }
  void Write(const std::string& path, const std::string& content) {
    ASSERT_TRUE(disk_.MakeDirectories(path.substr(0, path.rfind('/')), 0755));
    ASSERT_TRUE(disk_.ReplaceFile(path, content, 0666, reactor::Durability::kCached, WallTime{}));
  }

  sim::World world_{{.seed = 1, .shards = 1}};
  sim::Disk disk_;
  sim::SimFileSystem files_{world_.loop(0), world_.random(), disk_};
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_{LogFormat{}, world_.clock(), verbosity_, sink_};
  tests::ScriptedRuntime runtime_{world_.loop(0)};
  TerminationMessages messages_{world_.loop(0), files_, runtime_, Logger(output_), {"/agent"}};
};

TEST_F(TerminationMessagesTest, AContainerGetsAFileOfItsOwnForAllToWrite) {
  ASSERT_TRUE(Create(Spec("/tmp/words")));
  ASSERT_THAT(runtime_.created, SizeIs(1));
  ASSERT_THAT(runtime_.created[0].mounts, SizeIs(1));
  EXPECT_EQ(runtime_.created[0].mounts[0].container_path, "/tmp/words");
  EXPECT_EQ(runtime_.created[0].mounts[0].host_path, kFile);
  EXPECT_FALSE(runtime_.created[0].mounts[0].read_only);
  EXPECT_EQ(disk_.Stat(kFile)->mode, 0666u);
  EXPECT_EQ(disk_.Stat("/agent/pods/u/containers/c")->mode, 0750u);
}

TEST_F(TerminationMessagesTest, WithoutAPathOrAFileTheContainerIsMadeAllTheSame) {
  ASSERT_TRUE(Create(Spec("")));
  disk_.faults().full = true;
  ASSERT_TRUE(Create(Spec()));
  disk_.faults().full = false;
  sync::ContainerSpec elsewhere = Spec();
  elsewhere.name = "..";
  ASSERT_TRUE(Create(elsewhere));
  ASSERT_THAT(runtime_.created, SizeIs(3));
  for (const sync::ContainerSpec& spec : runtime_.created) EXPECT_THAT(spec.mounts, IsEmpty());
}

TEST_F(TerminationMessagesTest, TheEndOfTheFileIsTheMessageOfWhoHasExited) {
  Write(kFile, "farewell");
  EXPECT_EQ(Message(Exited(0)), "farewell");
  ObservedContainer runs = Exited(0);
  runs.id = ContainerId("id");
  runs.state = ContainerState::kRunning;
  EXPECT_EQ(Message(runs), "");
}

TEST_F(TerminationMessagesTest, ItComesAfterWhatTheRuntimeSays) {
  Write(kFile, "farewell");
  ObservedContainer container = Exited(1);
  container.message = "killed";
  EXPECT_EQ(Message(container), "killed: farewell");
}

TEST_F(TerminationMessagesTest, OfALongFileTheLastBytesAreTold) {
  Write(kFile, "start" + std::string(kMessageBytesMax, 'x'));
  EXPECT_EQ(Message(Exited(1)), std::string(kMessageBytesMax, 'x'));
}

TEST_F(TerminationMessagesTest, AFailureTellsOfItsLogWhereThePolicySaysSo) {
  Write(kLog, "2026-01-02T15:04:05Z stdout F last words\n");
  EXPECT_EQ(Message(Exited(1)), "") << "the policy is File";
  ASSERT_TRUE(Await<Unit>(
      [&](auto done) { messages_.RemoveContainer({}, ContainerId("id"), std::move(done)); }));
  EXPECT_EQ(Message(Exited(0, "FallbackToLogsOnError")), "") << "it has not failed";
  ASSERT_TRUE(Await<Unit>(
      [&](auto done) { messages_.RemoveContainer({}, ContainerId("id"), std::move(done)); }));
  EXPECT_EQ(Message(Exited(1, "FallbackToLogsOnError")), "last words\n");
}

TEST_F(TerminationMessagesTest, TheFileWinsOverTheLogUnlessItIsEmpty) {
  Write(kLog, "2026-01-02T15:04:05Z stdout F last words\n");
  Write(kFile, "farewell");
  EXPECT_EQ(Message(Exited(1, "FallbackToLogsOnError")), "farewell");
  Write(kFile, "");
  ObservedContainer next = Exited(1, "FallbackToLogsOnError");
  ASSERT_TRUE(Await<Unit>(
      [&](auto done) { messages_.RemoveContainer({}, ContainerId("id"), std::move(done)); }));
  EXPECT_EQ(Message(next), "last words\n");
}

TEST_F(TerminationMessagesTest, WhatWasReadStaysThoughTheFileGoes) {
  Write(kFile, "farewell");
  EXPECT_EQ(Message(Exited(0)), "farewell");
  ASSERT_TRUE(disk_.Unlink(kFile));
  EXPECT_EQ(Message(Exited(0)), "farewell");
  ASSERT_TRUE(Await<Unit>(
      [&](auto done) { messages_.RemoveContainer({}, ContainerId("id"), std::move(done)); }));
  EXPECT_EQ(messages_.kept(), 0u);
}

TEST_F(TerminationMessagesTest, WhatIsNoFileIsToldAndNotOpened) {
  ASSERT_TRUE(disk_.MakeDirectories(kFile, 0755));
  EXPECT_THAT(Message(Exited(0)),
              HasSubstr("Error on reading termination log " + std::string(kFile) + ": "));
  EXPECT_EQ(messages_.kept(), 0u) << "the next read may do better";
}

TEST_F(TerminationMessagesTest, ADiskThatHangsDelaysTheAnswerForAMomentOnly) {
  Write(kFile, "farewell");
  disk_.faults().hang = 1;
  runtime_.pod.containers = {Exited(0)};
  std::optional<TimePoint> answered;
  const TimePoint began = world_.clock().Now();
  messages_.ReadPod({}, PodUid("u"), [&](const Result<sync::ObservedPod>& pod) {
    ASSERT_TRUE(pod);
    EXPECT_EQ(pod->containers[0].message, "");
    answered = world_.clock().Now();
  });
  world_.RunUntil(After(began, Seconds(5)));
  ASSERT_TRUE(answered);
  EXPECT_LE(*answered - began, TerminationMessages::kWaitMax + Milliseconds(10));
  disk_.faults().hang = 0;
  EXPECT_EQ(Message(Exited(0)), "farewell");
}

}  // namespace
}  // namespace denselet::managers
