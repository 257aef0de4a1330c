#include "app/agent/runtime_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/api/types.h"
#include "managers/node/node_conditions.h"
#include "tests/fakes/scripted_images.h"
#include "tests/fakes/scripted_runtime.h"
#include "tests/managers/manager_fixture.h"

namespace denselet::app {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class RuntimeSideTest : public tests::ManagerTest {
 protected:
  RuntimeSideTest() {
    runtime_.version = sync::RuntimeVersion{.name = "containerd", .version = "1.7.24"};
    runtime_.status = Well();
  }
  static sync::RuntimeStatus Well() {
    return {.runtime_ready = sync::RuntimeCondition{.met = true},
            .network_ready = sync::RuntimeCondition{.met = true},
            .handlers = {{.name = "runc"}},
            .supplemental_groups_policy = true};
  }
  void NobodyThere() {
    runtime_.version = Error(ErrorCode::kUnavailable, "try " + std::to_string(++errors_));
    runtime_.status = Error(ErrorCode::kUnavailable, "try " + std::to_string(++errors_));
  }
  void Begin(UniqueFunction<void()> known = {}) {
    side_ = std::make_unique<RuntimeSide>(
        RuntimeSideSeams{loop(), log(), runtime_, images_},
        RuntimeSideOptions{.endpoint = "unix:///run/x.sock", .images_max = 50});
    side_->WhenKnown(std::move(known));
    side_->Start();
  }
  // The condition that the node would show now: "True", or why not.
  std::string Ready() {
    const node::NodeInputs inputs = side_->Collect();
    node::NodeConfig config;
    config.local_storage_isolation = false;
    kube::core::NodeStatus status;
    for (const char* resource : {"cpu", "memory", "pods"}) (*status.mutable_capacity())[resource];
    node::NodeNotes notes;
    node::SetConditions(config, inputs, {loop().Now(), loop().WallNow()}, status, notes);
    return node::IsReady(status) ? "True" : node::FindCondition(status, "Ready")->message();
  }

  int errors_ = 0;
  tests::ScriptedRuntime runtime_{loop()};
  tests::ScriptedImages images_{loop()};
  std::unique_ptr<RuntimeSide> side_;
};

TEST_F(RuntimeSideTest, AWellRuntimeMakesTheNodeReadySoon) {
  Begin();
  EXPECT_THAT(Ready(), HasSubstr("container runtime status check may not have completed yet"));
  RunFor(Milliseconds(500));
  EXPECT_EQ(Ready(), "True");
  ASSERT_TRUE(side_->facts());
  EXPECT_EQ(side_->facts()->version.name, "containerd");
  const node::NodeInputs inputs = side_->Collect();
  EXPECT_EQ(inputs.runtime.version, "1.7.24");
  EXPECT_EQ(inputs.runtime.handlers.size(), 1u);
  EXPECT_EQ(inputs.runtime.supplemental_groups_policy, true);
}

TEST_F(RuntimeSideTest, ImagesAreToldOnceTheRuntimeHasListedThem) {
  images_.list = std::vector{sync::ObservedImage{.id = ImageId("i"), .size_bytes = 7}};
  NobodyThere();
  Begin();
  RunFor(Seconds(1));
  EXPECT_FALSE(side_->Collect().images) << "not known";
  EXPECT_EQ(images_.listed, 0);
  runtime_.version = sync::RuntimeVersion{.name = "containerd", .version = "1.7.24"};
  runtime_.status = Well();
  RunFor(RuntimeSide::kPauseMax + Seconds(1));
  const node::NodeInputs inputs = side_->Collect();
  ASSERT_TRUE(inputs.images);
  ASSERT_EQ(inputs.images->size(), 1u);
  EXPECT_EQ(inputs.images->front().bytes, 7);
  side_->OnImagesChanged();
  RunFor(node::NodeImages::kAskedAgain + Seconds(1));
  EXPECT_EQ(images_.listed, 2);
}

TEST_F(RuntimeSideTest, ExtendedResourcesAreNoneWithoutPlugins) {
  Begin();
  EXPECT_TRUE(side_->Collect().devices.reset_extended);
}

TEST_F(RuntimeSideTest, PodsLearnThatTheyWaitForTheRuntimeOrItsNetworkAndWhenNoLonger) {
  std::vector<std::string> told;
  Begin();
  side_->WhenTroubled([&](const sync::RuntimeTrouble& trouble) {
    told.push_back(trouble.runtime + "|" + trouble.network);
  });
  RunFor(Seconds(6));
  EXPECT_THAT(told, ElementsAre("|"));
  sync::RuntimeStatus status = Well();
  status.network_ready = sync::RuntimeCondition{.reason = "NoCni", .message = "no config"};
  runtime_.status = status;
  RunFor(Seconds(12));
  EXPECT_THAT(told, ElementsAre("|",
                                "|container runtime network not ready: NetworkReady=false "
                                "reason:NoCni message:no config"));
  status.runtime_ready = sync::RuntimeCondition{.reason = "Starting", .message = "wait"};
  runtime_.status = status;
  RunFor(Seconds(2));
  EXPECT_THAT(told.back(), StartsWith("container runtime not ready: RuntimeReady=false"));
  NobodyThere();
  RunFor(Seconds(2));
  EXPECT_EQ(told.back(), "container runtime is down|");
  const size_t before = told.size();
  runtime_.status = Well();
  RunFor(Milliseconds(1100));  // nobody waits for the next quiet look
  EXPECT_EQ(told.size(), before + 1);
  EXPECT_EQ(told.back(), "|");
}

TEST_F(RuntimeSideTest, ARuntimeThatTakesItsTimeHoldsNobodyUp) {
  std::vector<sync::RuntimeTrouble> told;
  Begin();
  side_->WhenTroubled([&](const sync::RuntimeTrouble& trouble) { told.push_back(trouble); });
  RunFor(Seconds(6));
  runtime_.status = Error(ErrorCode::kDeadlineExceeded, "no answer");
  RunFor(Minutes(1));
  EXPECT_EQ(told, std::vector<sync::RuntimeTrouble>(2)) << "that it is well; then the node is not";
}

// Statuses of pods are made with its name; on a node that stands alone nothing else brings it.
TEST_F(RuntimeSideTest, WhoeverIsToldThatTheRuntimeIsKnownLearnsItsNameAndItsHandlers) {
  std::vector<std::string> told;
  Begin([&] {
    const node::RuntimeInput runtime = side_->Collect().runtime;
    told.push_back(runtime.name + " " + std::to_string(runtime.handlers.size()));
  });
  RunFor(Milliseconds(500));
  EXPECT_EQ(told, (std::vector<std::string>{"containerd 0", "containerd 1"}));
}

TEST_F(RuntimeSideTest, WithoutARuntimeTheNodeSaysSoAndRecoversByItself) {
  NobodyThere();
  Begin();
  RunFor(Minutes(10));
  EXPECT_NE(side_->stage(), RuntimeSide::Stage::kWatching);
  const std::string why = Ready();
  EXPECT_THAT(why, HasSubstr("nobody serves on unix:///run/x.sock"));
  NobodyThere();  // in other words
  RunFor(Seconds(10));
  EXPECT_EQ(Ready(), why) << "a status for each word of gRPC's";
  // Neither a busy loop nor a flood of the log.
  EXPECT_LE(runtime_.version_asked, 320);
  EXPECT_EQ(std::ranges::count_if(sink_.lines(),
                                  [](const CapturingLogSink::Line& line) {
                                    return line.text.find("runtime cannot be used") !=
                                           std::string::npos;
                                  }),
            1);

  runtime_.version = sync::RuntimeVersion{.name = "containerd", .version = "1.7.24"};
  runtime_.status = Well();
  RunFor(RuntimeSide::kPauseMax + Seconds(1));
  EXPECT_EQ(Ready(), "True");
}

TEST_F(RuntimeSideTest, ARuntimeThatGoesAwayIsMissedAfterAWhileAndFoundAgain) {
  Begin();
  RunFor(Seconds(10));
  EXPECT_EQ(Ready(), "True");
  NobodyThere();
  // A restart of the runtime is nobody's concern.
  RunFor(Seconds(20));
  EXPECT_EQ(Ready(), "True");
  RunFor(Seconds(20));
  EXPECT_THAT(Ready(), AllOf(HasSubstr("container runtime is down"),
                             HasSubstr("nobody serves on unix:///run/x.sock")));
  runtime_.version = sync::RuntimeVersion{.name = "containerd", .version = "2.0"};
  runtime_.status = Well();
  RunFor(Seconds(6));
  EXPECT_EQ(Ready(), "True");
  RunFor(Seconds(20));
  EXPECT_EQ(side_->Collect().runtime.version, "2.0");
}

TEST_F(RuntimeSideTest, ARuntimeThatHangsIsAsGoodAsGone) {
  runtime_.version.reset();
  Begin();
  RunFor(RuntimeSide::kCheckTimeMax + Seconds(1));
  EXPECT_THAT(Ready(), HasSubstr("cannot be used: no answer in time on unix:///run/x.sock"));
  runtime_.version = sync::RuntimeVersion{.name = "containerd", .version = "1.7.24"};
  RunFor(RuntimeSide::kCheckTimeMax + Seconds(5));
  EXPECT_EQ(Ready(), "True");
  runtime_.status.reset();
  RunFor(Minutes(1));
  EXPECT_THAT(Ready(), HasSubstr("does not answer: no answer in time on unix:///run/x.sock"));
  runtime_.status = Well();
  RunFor(node::RuntimeHealth::kAnswerTimeMax + Seconds(6));
  EXPECT_EQ(Ready(), "True");
}

TEST_F(RuntimeSideTest, ARuntimeWithoutImagesOrOfAnotherVersionCannotBeUsed) {
  images_.error = Error(ErrorCode::kIo, "rpc error: code = Unknown desc = no snapshotter");
  Begin();
  RunFor(Seconds(10));
  EXPECT_THAT(Ready(),
              HasSubstr("container runtime cannot be used: image service: rpc error: code = "
                        "Unknown desc = no snapshotter"));
  images_.error.reset();
  runtime_.version = Error(ErrorCode::kCorrupt, "the runtime speaks version \"0.2.0\"");
  RunFor(Seconds(10));
  EXPECT_THAT(Ready(), HasSubstr("speaks version"));
  runtime_.version = sync::RuntimeVersion{.name = "containerd", .version = "1.7.24"};
  RunFor(Seconds(10));
  EXPECT_EQ(Ready(), "True");
}

TEST_F(RuntimeSideTest, MayBeEndedAtAnyTime) {
  NobodyThere();
  Begin();
  RunFor(Seconds(1));
  side_.reset();
  RunFor(Seconds(60));
  const int asked = runtime_.version_asked;
  RunFor(Seconds(60));
  EXPECT_EQ(runtime_.version_asked, asked);
}

}  // namespace
}  // namespace denselet::app
