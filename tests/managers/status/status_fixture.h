// A status manager beside a model of the API server that it follows by a watch; between them
// somebody who can refuse, hang, lose and delay requests, and who remembers them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "kube/api/types.h"
#include "managers/status/status_manager.h"
#include "sync/ports/api_typed.h"
#include "tests/fakes/api_objects_for_tests.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/fakes/fake_api_server.h"
#include "tests/sim/world.h"

namespace denselet::managers::tests {

class GatedApi final : public sync::ApiServer {
 public:
  struct Fate {
    enum class Kind : uint8_t {
      kServe,
      kRefuse,
      kHang,          // until its time is over
      kNoTurn,        // until then it waits in a line of ours
      kServeAndLose,  // done, but nobody hears
      kServeLate,     // given up on, and done after `late`
    };
    Kind kind = Kind::kServe;
    ErrorCode code = ErrorCode::kUnavailable;  // of kRefuse
    Duration late = {};
  };

  GatedApi(reactor::Loop& loop, sync::ApiServer& server) : loop_(loop), server_(server) {}

  // Asked for every request; by default all are served.
  std::function<Fate(const sync::ApiRequest&)> fate = [](const auto&) { return Fate{}; };

  struct Seen {
    TimePoint at;
    Context context;
    sync::ApiRequest request;
  };
  std::vector<Seen> seen;
  size_t Count(sync::ApiVerb verb) const {
    return static_cast<size_t>(std::ranges::count_if(
        seen, [verb](const Seen& each) { return each.request.verb == verb; }));
  }

  void Send(const Context& context, sync::ApiRequest request,
            reactor::Done<sync::ApiObject> done) override {
    seen.push_back({loop_.Now(), context, request});
    const Fate what = fate(request);
    const Error lost(ErrorCode::kUnknownOutcome, "nobody knows");
    switch (what.kind) {
      case Fate::Kind::kServe:
        return server_.Send(context, std::move(request), std::move(done));
      case Fate::Kind::kRefuse:
        return Answer(Milliseconds(1), Error(what.code, "refused").AsAnswer(), std::move(done));
      case Fate::Kind::kNoTurn:
        return Answer(context.deadline - loop_.Now(), Error(ErrorCode::kOverloaded, "no turn"),
                      std::move(done));
      case Fate::Kind::kHang:
        return Answer(context.deadline - loop_.Now(), lost, std::move(done));
      case Fate::Kind::kServeAndLose:
        return server_.Send(context, std::move(request),
                            [lost, done = std::move(done)](const auto&) mutable { done(lost); });
      case Fate::Kind::kServeLate:
        loop_.Arm(After(loop_.Now(), what.late), [this, request] {
          server_.Send({}, request, [](const Result<sync::ApiObject>&) {});
        });
        return Answer(Milliseconds(5), lost, std::move(done));
    }
  }
  std::unique_ptr<sync::ListWatch> Follow(sync::ListWatchSpec spec,
                                          sync::ListWatchUser& user) override {
    return server_.Follow(std::move(spec), user);
  }
  bool busy = false;
  bool IsBusy(sync::ApiTraffic) const override { return busy; }

 private:
  void Answer(Duration after, const Error& error, reactor::Done<sync::ApiObject> done) {
    loop_.Arm(After(loop_.Now(), after),
              [error, done = std::move(done)]() mutable { done(error); });
  }

  reactor::Loop& loop_;
  sync::ApiServer& server_;
};

// Statuses with a number in them, so that it can be seen which one has arrived: how often the
// container was started.
inline kube::core::PodStatus MakeStatus(const std::string& phase, int32_t number, bool ready) {
  kube::core::PodStatus status;
  status.set_phase(phase);
  auto& container = *status.add_containerstatuses();
  container.set_name("main");
  container.set_restartcount(number);
  container.set_ready(ready);
  if (phase == "Pending") {
    container.mutable_state()->mutable_waiting()->set_reason("ContainerCreating");
  } else if (phase == "Running") {
    container.mutable_state()->mutable_running()->mutable_startedat()->set_seconds(1'700'000'000);
  } else {
    container.mutable_state()->mutable_terminated()->set_exitcode(phase == "Failed" ? 1 : 0);
  }
  auto& condition = *status.add_conditions();
  condition.set_type("Ready");
  condition.set_status(ready ? "True" : "False");
  return status;
}

class StatusTest : public testing::Test {
 protected:
  using Fate = GatedApi::Fate;
  using Stage = StatusManager::Stage;

  struct Settled final : sync::PodStatusUser {
    void OnStatusSettled(const PodUid& pod, uint64_t version) override {
      EXPECT_GT(version, versions[pod]);
      versions[pod] = version;
      if (told) told(pod, version);
    }
    std::map<PodUid, uint64_t> versions;
    std::function<void(const PodUid&, uint64_t)> told;
  };

  struct Watcher final : sync::ListWatchUser {
    explicit Watcher(StatusManager& to) : manager(to) {}
    void OnObject(std::string_view wire) override {
      const kube::PodRef pod = *kube::PodAtRest::FromWire(wire);
      pods[{std::string(pod->hot().ns), std::string(pod->hot().name)}] = pod;
      manager.OnApiPod(pod);
    }
    void OnGone(const ObjectRef& object, std::string_view) override {
      const auto found = pods.find(object);
      if (found == pods.end()) return;
      manager.OnApiPodGone(found->second);
      pods.erase(found);
    }
    void OnSynced() override {}
    void OnTrouble(const Error&) override {}

    StatusManager& manager;
    std::map<ObjectRef, kube::PodRef> pods;
  };

  ~StatusTest() override { Stop(); }

  reactor::Loop& loop() { return world_.loop(0); }
  TimePoint now() { return world_.clock().Now(); }
  void RunFor(Duration time) { world_.RunUntil(After(now(), time)); }
  // After a long rest the simulated loop's first turn still has the time of the one before.
  void WakeUp() {
    loop().Post([] {});
    RunFor(Milliseconds(1));
  }

  void Start() {
    manager_ =
        std::make_unique<StatusManager>(loop(), random_, Logger(output_), api_, settled_, options_);
    watcher_ = std::make_unique<Watcher>(*manager_);
    watch_ = fake_.Follow({.resource = kube::kPods}, *watcher_);
    RunFor(Milliseconds(100));
  }
  // As a process that is killed: what is under way may still arrive.
  void Stop() {
    watch_.reset();
    watcher_.reset();
    manager_.reset();
    settled_.versions.clear();
  }

  // ---- what others do at the API server

  kube::core::Pod Create(const std::string& name,
                         const std::map<std::string, std::string>& annotations = {}) {
    kube::core::Pod pod = fakes::MakePod(name, "n1");
    for (const auto& [key, value] : annotations) {
      (*pod.mutable_metadata()->mutable_annotations())[key] = value;
    }
    const auto answer = model_.Serve(fakes::CreateRequest(kube::kPods, pod), loop().WallNow());
    EXPECT_TRUE(answer.ok());
    RunFor(Milliseconds(20));
    return *Find(name);
  }
  std::optional<kube::core::Pod> Find(const std::string& name) const {
    const std::string wire = model_.Find(kube::kPods, {"default", name});
    if (wire.empty()) return std::nullopt;
    return *sync::ParseObject<kube::core::Pod>(wire);
  }
  void Delete(const std::string& name, std::optional<int64_t> grace = {}) {
    sync::ApiRequest request =
        fakes::RequestOf(sync::ApiVerb::kDelete, kube::kPods, {"default", name});
    request.grace_seconds = grace;
    model_.Serve(request, loop().WallNow());
    RunFor(Milliseconds(20));
  }
  void PatchStatus(const std::string& name, std::string patch) {
    sync::ApiRequest request =
        fakes::RequestOf(sync::ApiVerb::kPatch, kube::kPods, {"default", name}, std::move(patch));
    request.subresource = "status";
    EXPECT_TRUE(model_.Serve(request, loop().WallNow()).ok());
  }

  // ---- what the core does

  void Set(const kube::core::Pod& pod, const kube::core::PodStatus& status,
           sync::MayRun may_run = sync::MayRun::kYes, sync::Finished finished = sync::Finished::kNo,
           const std::string& mirror = "") {
    // In a turn of the shard, as everything that happens there.
    loop().Post([this, update = sync::PodStatusUpdate{.pod = *kube::PodAtRest::FromPod(pod),
                                                      .status = status.SerializeAsString(),
                                                      .version = ++version_,
                                                      .may_run = may_run,
                                                      .finished = finished,
                                                      .mirror = mirror}]() mutable {
      if (manager_) manager_->SetStatus(std::move(update));
    });
  }
  bool IsSettled(const kube::core::Pod& pod) {
    return settled_.versions[PodUid(pod.metadata().uid())] == version_;
  }
  int32_t NumberOf(const std::string& name) const {
    const auto pod = Find(name);
    if (!pod || pod->status().containerstatuses().empty()) return -1;
    return pod->status().containerstatuses(0).restartcount();
  }

  sim::World world_{{.seed = 1, .shards = 1}};
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_{.format = {}, .clock = world_.clock(), .verbosity = verbosity_, .sink = sink_};
  SeededRandom random_{7};
  fakes::ApiModel model_;
  fakes::FakeApiServer fake_{world_.loop(0), random_, model_};
  GatedApi api_{world_.loop(0), fake_};
  Settled settled_;
  StatusManagerOptions options_;
  uint64_t version_ = 0;
  std::unique_ptr<StatusManager> manager_;
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<sync::ListWatch> watch_;
};

inline GatedApi::Fate Refuse(ErrorCode code) { return {GatedApi::Fate::Kind::kRefuse, code}; }
inline GatedApi::Fate NoTurn() { return {GatedApi::Fate::Kind::kNoTurn}; }
inline GatedApi::Fate Hang() { return {GatedApi::Fate::Kind::kHang}; }
inline GatedApi::Fate ServeAndLose() { return {GatedApi::Fate::Kind::kServeAndLose}; }
inline GatedApi::Fate ServeLate(Duration late) {
  return {GatedApi::Fate::Kind::kServeLate, ErrorCode::kUnavailable, late};
}

}  // namespace denselet::managers::tests
