// The core on virtual time with pods that a test tells of one by one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/fakes/capturing_log_sink.h"
#include "tests/sim/core/core_agent.h"
#include "tests/sim/core/sim_pods.h"

namespace denselet::sim {

class CoreTest : public testing::Test, public CoreAgentUser {
 protected:
  using RuntimeRequest = fakes::RuntimeRequest;
  using ContainerState = sync::ContainerState;
  using Phase = sync::Phase;
  using SourceKind = sync::SourceKind;

  explicit CoreTest(uint32_t shards = 2)
      : world_({.seed = 5, .shards = shards}),
        model_(world_.clock(),
               [this](Duration d, UniqueFunction<void()> t) { world_.Later(d, std::move(t)); }),
        host_(model_, world_.random(),
              [this](Duration d, UniqueFunction<void()> t) { world_.Later(d, std::move(t)); }),
        leaves_(host_) {
    model_.images() = {"image:1", "image:2"};
    model_.set_behave([this](const PodUid& uid, const std::string& name, uint32_t attempt) {
      leaves_.Logged({{"default", pods_[uid].name}, uid}, name, attempt);
      return BehaviourOf(pods_[uid], name, attempt);
    });
    model_.set_on_request([this](const fakes::SentRequest& r) { requests_.push_back(r); });
  }
  ~CoreTest() override { EXPECT_EQ(model_.violations(), std::vector<std::string>()); }

  void Start() {
    agent_ = std::make_unique<CoreAgent>(world_, host_, leaves_, Logger(output_), options_, *this);
  }
  void Run(Duration d) { world_.RunUntil(world_.clock().Now() + d); }
  SimPod& Pod(SimPodKind kind, const std::string& uid, const std::string& name = "") {
    SimPod& pod = pods_[PodUid(uid)];
    pod.kind = kind;
    pod.uid = PodUid(uid);
    pod.name = name.empty() ? "pod-" + uid : name;
    pod.wished = true;
    return pod;
  }
  SimPod& Static(const std::string& uid, const std::string& name = "") {
    SimPod& pod = Pod(SimPodKind::kServer, uid, name);
    pod.is_static = true;
    return pod;
  }
  void TellAll() {
    for (const SourceKind source : {SourceKind::kApi, SourceKind::kFile}) {
      std::vector<kube::PodRef> pods;
      for (const auto& [uid, pod] : pods_) {
        if (pod.wished && pod.is_static == (source == SourceKind::kFile)) {
          pods.push_back(pod.Build());
        }
      }
      agent_->OnSources([source, pods](sync::PodSources& s) { s.OnPods(source, pods); });
    }
  }
  void Tell(const SimPod& pod) {
    agent_->OnSources(
        [built = pod.Build()](sync::PodSources& s) { s.OnPod(SourceKind::kApi, built); });
  }
  std::optional<ContainerState> StateOf(const SimPod& pod, const std::string& name = "app") {
    for (const auto& container : model_.Read(pod.uid).containers) {
      if (container.name == name) return container.state;
    }
    return std::nullopt;
  }
  static sync::PodIdentity IdOf(const SimPod& pod) { return {{"default", pod.name}, pod.uid}; }
  // As an agent before left it.
  void LeaveDirectoriesOf(const SimPod& pod) {
    ASSERT_TRUE(leaves_.disk().MakeDirectories(
        std::string(PodLeaves::kRoot) + "/pods/" + pod.uid.value() + "/volumes", 0750));
    ASSERT_TRUE(leaves_.disk().MakeDirectories(
        std::string(PodLeaves::kLogs) + "/default_" + pod.name + "_" + pod.uid.value() + "/app",
        0755));
    leaves_.Logged(IdOf(pod), "app", 0);
  }
  bool HasDirectories(const SimPod& pod) {
    return leaves_.HasData(pod.uid) || leaves_.HasLogs(IdOf(pod));
  }
  size_t Dead(const SimPod& pod) {
    const sync::ObservedPod there = model_.Read(pod.uid);
    return static_cast<size_t>(std::ranges::count(there.containers, ContainerState::kExited,
                                                  &sync::ObservedContainer::state));
  }
  size_t Logs(const SimPod& pod) {
    const auto logs = leaves_.disk().List(
        std::string(PodLeaves::kLogs) + "/default_" + pod.name + "_" + pod.uid.value() + "/app",
        1000);
    return logs ? logs->size() : 0;
  }
  bool Runs(const SimPod& pod) { return StateOf(pod) == ContainerState::kRunning; }
  size_t Requests(RuntimeRequest request, const SimPod& pod) {
    return static_cast<size_t>(std::ranges::count_if(
        requests_, [&](const auto& r) { return r.request == request && r.pod == pod.uid; }));
  }

  void OnPodDecided(const sync::PodWorker&, const sync::Decision&) override {}
  void OnPodChanged(uint32_t, const sync::PodWorker&) override {}
  void OnPodGone(const sync::PodIdentity& pod) override { gone_.push_back(pod.uid); }
  void OnPodFault(const sync::PodWorker& worker, const Error&) override {
    faults_.push_back(worker.pod().uid);
  }
  void OnPodHeldBack(const sync::PodIdentity& pod) override { held_back_.push_back(pod.uid); }
  void OnPlegMode(const sync::PlegModeChange&) override {}
  void OnStatus(const sync::PodStatusUpdate& update) override {
    statuses_[PodUid(std::string(update.pod->hot().uid))] = update.status;
  }
  void OnStatusForgotten(const PodUid&) override {}
  void OnPodRejected(const kube::PodRef& pod, const sync::Rejection& rejection) override {
    ADD_FAILURE() << pod->hot().uid << ": " << rejection.message;
  }

  World world_;
  fakes::RuntimeModel model_;
  fakes::FakeRuntimeHost host_;
  PodLeaves leaves_;
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput output_{LogFormat{}, world_.clock(), verbosity_, sink_};
  CoreAgentOptions options_;
  std::map<PodUid, SimPod> pods_;
  std::vector<fakes::SentRequest> requests_;
  std::vector<PodUid> gone_;
  std::vector<PodUid> faults_;
  std::vector<PodUid> held_back_;
  std::map<PodUid, std::string> statuses_;  // as told last
  std::unique_ptr<CoreAgent> agent_;
};

}  // namespace denselet::sim
