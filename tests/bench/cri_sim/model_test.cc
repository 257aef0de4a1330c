#include "bench/cri_sim/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace denselet::cri_sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr WallTime kNow = WallTime(Hours(490'000));

class ModelTest : public testing::Test, private ModelObserver {
 protected:
  static SandboxSpec Pod(const std::string& name, uint32_t attempt = 0) {
    SandboxSpec spec;
    spec.name = name;
    spec.pod_namespace = "default";
    spec.uid = "uid-of-" + name;
    spec.attempt = attempt;
    return spec;
  }
  static ContainerSpec Named(const std::string& name, uint32_t attempt = 0) {
    ContainerSpec spec;
    spec.name = name;
    spec.attempt = attempt;
    return spec;
  }
  Sandbox& Run(const std::string& name) { return **model_.RunSandbox(Pod(name), kNow); }
  Container& Create(Sandbox& sandbox, const std::string& name) {
    return **model_.CreateContainer(sandbox.id, Named(name), kNow);
  }
  Container& Started(Sandbox& sandbox, const std::string& name) {
    Container& container = Create(sandbox, name);
    EXPECT_TRUE(model_.StartContainer(container, kNow));
    return container;
  }
  std::vector<std::string> Rules() const {
    std::vector<std::string> rules;
    for (const Violation& one : violations_.kept()) rules.push_back(one.rule);
    return rules;
  }

  SeededRandom random_{1};
  Violations violations_;
  std::vector<std::string> told_;
  Model model_{random_, violations_, *this};

 private:
  void OnEvent(EventKind kind, const Sandbox& sandbox, const std::string& id) override {
    static constexpr const char* kNames[] = {"created", "started", "stopped", "deleted"};
    told_.push_back(std::string(kNames[static_cast<size_t>(kind)]) +
                    (id == sandbox.id ? " sandbox" : " container"));
  }
  void OnContainerStopped(Container&) override { told_.emplace_back("process over"); }
  void OnSandboxStopped(Sandbox&) override { told_.emplace_back("network over"); }
};

TEST_F(ModelTest, EventsComeAsContainerdSendsThem) {
  Sandbox& sandbox = Run("web");
  Container& container = Started(sandbox, "main");
  model_.Exit(container, 1, "Error", kNow);
  model_.RemoveContainer(container, kNow);
  model_.StopSandbox(sandbox, kNow);
  model_.RemoveSandbox(sandbox, kNow);
  EXPECT_THAT(told_, ElementsAre("created sandbox", "started sandbox", "created container",
                                 "started container", "process over", "stopped container",
                                 "deleted container", "stopped sandbox", "network over",
                                 "deleted sandbox"));
  EXPECT_THAT(Rules(), ElementsAre());
}

TEST_F(ModelTest, ANameIsReservedUntilItsOwnerIsRemoved) {
  Sandbox& sandbox = Run("web");
  const auto again = model_.RunSandbox(Pod("web"), kNow);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message(),
            "failed to reserve sandbox name \"web_default_uid-of-web_0\": name "
            "\"web_default_uid-of-web_0\" is reserved for \"" +
                sandbox.id + "\"");
  EXPECT_THAT(Rules(), ElementsAre("name-reserved"));
  model_.StopSandbox(sandbox, kNow);
  EXPECT_TRUE(model_.RunSandbox(Pod("web", 1), kNow));
  model_.RemoveSandbox(sandbox, kNow);
  EXPECT_TRUE(model_.RunSandbox(Pod("web"), kNow));
}

TEST_F(ModelTest, AContainersNameIsReservedWithItsAttempt) {
  Sandbox& sandbox = Run("web");
  Container& first = Create(sandbox, "main");
  const auto again = model_.CreateContainer(sandbox.id, Named("main"), kNow);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message(), HasSubstr("is reserved for \"" + first.id + "\""));
  EXPECT_TRUE(model_.CreateContainer(sandbox.id, Named("main", 1), kNow));
}

TEST_F(ModelTest, MissingMetadataIsRefusedAsInvalid) {
  SandboxSpec nameless = Pod("web");
  nameless.name.clear();
  const auto refused = model_.RunSandbox(std::move(nameless), kNow);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kInvalid);
  const auto container = model_.CreateContainer(Run("web").id, Named(""), kNow);
  ASSERT_FALSE(container);
  EXPECT_EQ(container.error().code(), ErrorCode::kInvalid);
  EXPECT_THAT(Rules(), ElementsAre("sandbox-metadata", "container-metadata"));
}

TEST_F(ModelTest, CreateInASandboxThatIsNotReadyFailsAndIsNoFaultOfTheClient) {
  Sandbox& sandbox = Run("web");
  model_.StopSandbox(sandbox, kNow);
  const auto created = model_.CreateContainer(sandbox.id, Named("main"), kNow);
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(Rules(), ElementsAre());
}

TEST_F(ModelTest, CreateInAnUnknownSandboxIsAFaultOfTheClient) {
  const auto created = model_.CreateContainer("nobody", Named("main"), kNow);
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(Rules(), ElementsAre("create-in-unknown-sandbox"));
}

TEST_F(ModelTest, StartTwiceFailsInContainerdsWords) {
  Container& container = Started(Run("web"), "main");
  const Status again = model_.StartContainer(container, kNow);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message(), "failed to set starting state for container \"" +
                                         container.id +
                                         "\": container is in CONTAINER_RUNNING state");
  EXPECT_THAT(Rules(), ElementsAre("start-twice"));
}

TEST_F(ModelTest, StoppingASandboxKillsWhatRunsAndIsIdempotent) {
  Sandbox& sandbox = Run("web");
  Container& running = Started(sandbox, "main");
  const Container& created = Create(sandbox, "other");
  const Ipv4 ip = sandbox.ip;
  model_.StopSandbox(sandbox, kNow);
  EXPECT_EQ(running.state, ContainerState::kExited);
  EXPECT_EQ(running.exit_code, 137);
  EXPECT_EQ(created.state, ContainerState::kCreated);
  EXPECT_EQ(model_.FindByAddress(ip), nullptr);
  told_.clear();
  model_.StopSandbox(sandbox, kNow);
  EXPECT_THAT(told_, ElementsAre());
}

TEST_F(ModelTest, RemovingARunningContainerStopsIt) {
  Container& container = Started(Run("web"), "main");
  told_.clear();
  model_.RemoveContainer(container, kNow);
  EXPECT_THAT(told_, ElementsAre("process over", "stopped container", "deleted container"));
  EXPECT_TRUE(model_.containers().empty());
}

TEST_F(ModelTest, RemovingAReadySandboxTakesItsContainersAndIsTold) {
  Sandbox& sandbox = Run("web");
  Started(sandbox, "main");
  model_.RemoveSandbox(sandbox, kNow);
  EXPECT_TRUE(model_.containers().empty());
  EXPECT_TRUE(model_.sandboxes().empty());
  EXPECT_THAT(Rules(), ElementsAre("remove-ready-sandbox"));
}

TEST_F(ModelTest, TwoReadySandboxesOfAPodAreTold) {
  Run("web");
  EXPECT_TRUE(model_.RunSandbox(Pod("web", 1), kNow));
  EXPECT_THAT(Rules(), ElementsAre("second-ready-sandbox"));
  EXPECT_EQ(model_.SandboxesOfPod("uid-of-web").size(), 2u);
}

TEST_F(ModelTest, EveryPodHasItsOwnAddress) {
  const Sandbox& first = Run("a");
  const Sandbox& second = Run("b");
  EXPECT_EQ(first.ip.ToString(), "127.1.0.1");
  EXPECT_EQ(second.ip.ToString(), "127.1.0.2");
  EXPECT_EQ(model_.FindByAddress(second.ip), &second);
  SandboxSpec host = Pod("c");
  host.host_network = true;
  EXPECT_FALSE((*model_.RunSandbox(std::move(host), kNow))->ip.any());
}

TEST_F(ModelTest, ClearedItHasNothingAndAllNamesAreFree) {
  Started(Run("web"), "main");
  model_.Clear();
  EXPECT_TRUE(model_.containers().empty());
  EXPECT_TRUE(model_.SandboxesOfPod("uid-of-web").empty());
  EXPECT_TRUE(model_.RunSandbox(Pod("web"), kNow));
  EXPECT_THAT(Rules(), ElementsAre());
}

}  // namespace
}  // namespace denselet::cri_sim
