// One shard of pods over a model of the runtime. Unless a test says otherwise, nothing of a start
// is ever answered, so that pods that start stay so; what ends a pod is.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/api/types.h"
#include "sync/shard/pod_shard.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/fakes/fake_runtime.h"
#include "tests/sim/world.h"

namespace denselet::sync {

inline constexpr const char* kImage = "sha256:1";  // of all containers

class HalfLeaves final : public PodResources, public PodImages, public PodHooks, public PodSpecs {
 public:
  explicit HalfLeaves(reactor::Loop& loop) : loop_(loop) {}

  void Prepare(const Context&, const kube::PodRef&, reactor::Done<PreparedPod> done) override {
    if (let_start) return loop_.Post([done = std::move(done)]() mutable { done(PreparedPod{}); });
    preparing.push_back(std::move(done));
  }
  void Mount(const Context&, const kube::PodRef&, reactor::Done<MountedVolumes> done) override {
    if (let_start) loop_.Post([done = std::move(done)]() mutable { done(MountedVolumes{}); });
  }
  void Release(const Context&, const PodIdentity&, reactor::Done<Unit> done) override {
    Answer(std::move(done));
  }
  void RemoveContainerLogs(const Context&, const PodIdentity&, const LoggedContainer&,
                           reactor::Done<Unit> done) override {
    Answer(std::move(done));
  }
  void RemoveLogs(const Context&, const PodIdentity&, reactor::Done<Unit> done) override {
    Answer(std::move(done));
  }
  void Ensure(const Context&, ImageWish, UniqueFunction<void(ImageOutcome)> done) override {
    if (!let_start) return;
    loop_.Post([done = std::move(done)]() mutable { done({.image_ref = kImage}); });
  }
  void Forget(const PodUid&) override {}
  void Run(const Context&, HookKind, const kube::PodRef&, const std::string&, const ContainerId&,
           const std::vector<std::string>&, reactor::Done<HookOutcome>) override {}
  Result<SandboxSpec> Sandbox(const kube::PodRef& pod, uint32_t attempt) override {
    return SandboxSpec{.pod = IdentityOf(pod), .attempt = attempt};
  }
  void Container(const Context&, const kube::PodRef& pod, const ContainerWish& wish,
                 reactor::Done<ContainerSpec> done) override {
    if (!let_start) return;
    loop_.Post([this, uid = IdentityOf(pod).uid, wish, done = std::move(done)]() mutable {
      done(ContainerSpec{
          .pod = uid, .name = wish.name, .attempt = wish.attempt, .image = wish.image_ref});
    });
  }
  PullPolicy Policy(const kube::PodRef&, const std::string&) override {
    return PullPolicy::kIfNotPresent;
  }
  void FetchPullSecrets(const Context&, const std::string&, const std::vector<std::string>&,
                        UniqueFunction<void(PullSecrets)>) override {}

  bool let_start = false;
  std::vector<reactor::Done<PreparedPod>> preparing;

 private:
  void Answer(reactor::Done<Unit> done) {
    loop_.Post([done = std::move(done)]() mutable { done(Unit{}); });
  }

  reactor::Loop& loop_;
};

inline kube::core::Pod ObjectOf(const std::string& uid) {
  kube::core::Pod pod;
  pod.mutable_metadata()->set_name("pod-" + uid);
  pod.mutable_metadata()->set_namespace_("ns");
  pod.mutable_metadata()->set_uid(uid);
  pod.mutable_spec()->set_restartpolicy("Always");
  auto& container = *pod.mutable_spec()->add_containers();
  container.set_name("app");
  container.set_image("image:1");
  return pod;
}

inline kube::PodRef RefOf(const kube::core::Pod& pod) {
  const auto at_rest = kube::PodAtRest::FromPod(pod);
  CHECK(at_rest);
  return *at_rest;
}

inline PodWish WishOf(const std::string& uid) {
  return {.kind = WishKind::kAdd, .pod = RefOf(ObjectOf(uid))};
}

inline PodWish StaticWish(const std::string& uid) {
  kube::core::Pod pod = ObjectOf(uid);
  (*pod.mutable_metadata()->mutable_annotations())["kubernetes.io/config.source"] = "file";
  return {.kind = WishKind::kAdd, .pod = RefOf(pod)};
}

class PodShardTest : public testing::Test, public PodShardUser {
 protected:
  PodShardTest()
      : world_({.shards = 1}),
        model_(world_.clock(),
               [this](Duration d, UniqueFunction<void()> t) { world_.Later(d, std::move(t)); }),
        host_(model_, world_.random(),
              [this](Duration d, UniqueFunction<void()> t) { world_.Later(d, std::move(t)); }),
        runtime_(world_.loop(0), host_) {}

  void Make(const PodShardOptions& options = {}) {
    shard_ =
        std::make_unique<PodShard>(PodShardPorts{world_.loop(0), world_.random(), log_, runtime_,
                                                 epochs_, leaves_, leaves_, leaves_, leaves_},
                                   options, *this);
  }
  // On the shard, in one turn.
  void Do(UniqueFunction<void(PodShard&)> what) {
    world_.loop(0).Post([this, what = std::move(what)]() mutable { what(*shard_); });
  }
  void Run(Duration d) { world_.RunUntil(world_.clock().Now() + d); }
  std::vector<std::string> Lines(std::string_view with) {
    std::vector<std::string> found;
    for (const auto& line : sink_.lines()) {
      if (line.text.find(with) != line.text.npos) found.push_back(line.text);
    }
    return found;
  }

  void OnPodChanged(const PodWorker&) override {}
  void OnPodGone(const PodIdentity& pod) override { gone_.push_back(pod.uid.value()); }
  void OnPodFault(const PodWorker&, const Error& error) override {
    faults_.push_back(error.message());
  }
  void OnPodHeldBack(const PodIdentity& pod, const kube::PodRef&) override {
    held_back_.push_back(pod.uid.value());
  }
  // One entry for each step, however much is decided in it.
  void OnPodDecided(const PodWorker& worker, const Decision&) override {
    const std::string& uid = worker.pod().uid.value();
    if (stepped_.empty() || stepped_.back() != uid) stepped_.push_back(uid);
  }

  sim::World world_;
  fakes::RuntimeModel model_;
  fakes::FakeRuntimeHost host_;
  fakes::FakeRuntime runtime_;
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput output_{LogFormat{}, world_.clock(), verbosity_, sink_};
  const Logger log_{output_};
  EpochCounter epochs_;
  HalfLeaves leaves_{world_.loop(0)};
  std::vector<std::string> gone_, faults_, held_back_, stepped_;
  std::unique_ptr<PodShard> shard_;
};

}  // namespace denselet::sync
