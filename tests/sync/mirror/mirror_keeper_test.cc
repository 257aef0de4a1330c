#include "sync/mirror/mirror_keeper.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "kube/api/types.h"
#include "sync/ports/api_typed.h"
#include "tests/fakes/api_objects_for_tests.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/fakes/fake_api_server.h"
#include "tests/sim/world.h"

namespace denselet::sync {
namespace {

using kube::core::Pod;

struct Sources final : SourceReadiness {
  bool Ready(SourceSet) const override { return ready; }
  bool ready = true;
};
struct Ending final : EndingStaticPods {
  bool StillEnds(const ObjectRef& pod) const override { return names.contains(pod); }
  std::set<ObjectRef> names;
};

class CountingApi final : public ApiServer {
 public:
  explicit CountingApi(ApiServer& server) : server_(server) {}
  void Send(const Context& context, ApiRequest request, reactor::Done<ApiObject> done) override {
    ++requests[request.verb];
    server_.Send(context, std::move(request), std::move(done));
  }
  std::unique_ptr<ListWatch> Follow(ListWatchSpec spec, ListWatchUser& user) override {
    return server_.Follow(std::move(spec), user);
  }
  std::map<ApiVerb, int> requests;

 private:
  ApiServer& server_;
};

class MirrorTest : public testing::Test {
 protected:
  struct Watcher final : ListWatchUser {
    explicit Watcher(MirrorKeeper& to) : keeper(to) {}
    void OnObject(std::string_view wire) override {
      const kube::PodRef pod = *kube::PodAtRest::FromWire(wire);
      pods[{std::string(pod->hot().ns), std::string(pod->hot().name)}] = pod;
      const PodChange change{PodOp::kUpdate, pod};
      keeper.OnPodChanges({&change, 1});
    }
    void OnGone(const ObjectRef& object, std::string_view) override {
      const auto found = pods.find(object);
      if (found == pods.end()) return;
      const PodChange change{PodOp::kRemove, found->second};
      pods.erase(found);
      keeper.OnPodChanges({&change, 1});
    }
    void OnSynced() override {}
    void OnTrouble(const Error&) override {}

    MirrorKeeper& keeper;
    std::map<ObjectRef, kube::PodRef> pods;
  };

  ~MirrorTest() override { Stop(); }

  reactor::Loop& loop() { return world_.loop(0); }
  void RunFor(Duration time) { world_.RunUntil(After(world_.clock().Now(), time)); }

  // After a long rest the simulated loop's first turn still has the time of the one before.
  void WakeUp() {
    loop().Post([] {});
    RunFor(Milliseconds(1));
  }

  void MakeKeeper() {
    keeper_ = std::make_unique<MirrorKeeper>(loop(), random_, Logger(output_), api_, sources_,
                                             ending_, MirrorKeeperOptions{.node_name = "n1"});
  }
  void Start() {
    MakeKeeper();
    Watch();
  }
  void Watch() {
    watcher_ = std::make_unique<Watcher>(*keeper_);
    watch_ = fake_.Follow({.resource = kube::kPods}, *watcher_);
    RunFor(Milliseconds(100));
  }
  void Stop() {
    watch_.reset();
    watcher_.reset();
    keeper_.reset();
  }

  static kube::PodRef Static(const std::string& name, const std::string& hash) {
    Pod pod = fakes::MakePod(name, "n1");
    pod.mutable_metadata()->set_uid(hash);
    auto& annotations = *pod.mutable_metadata()->mutable_annotations();
    annotations["kubernetes.io/config.source"] = "file";
    annotations["kubernetes.io/config.hash"] = hash;
    return *kube::PodAtRest::FromPod(pod);
  }
  void Wish(PodOp op, const kube::PodRef& pod) {
    // In a turn of the shard, as everything that happens there.
    On([this, op, pod] {
      const PodChange change{op, pod};
      keeper_->OnPodChanges({&change, 1});
    });
  }
  void SetNode() {
    On([this] { keeper_->SetNode("node-uid"); });
  }
  void On(UniqueFunction<void()> work) {
    loop().Post([this, work = std::move(work)]() mutable {
      if (keeper_) work();
    });
  }
  std::optional<Pod> Find(const std::string& name) const {
    const std::string wire = model_.Find(kube::kPods, {"default", name});
    if (wire.empty()) return std::nullopt;
    return *ParseObject<Pod>(wire);
  }
  std::string HashOf(const std::string& name) const {
    const auto pod = Find(name);
    if (!pod) return "none";
    return pod->metadata().annotations().at("kubernetes.io/config.mirror");
  }
  void Delete(const std::string& name, std::optional<int64_t> grace = {}) {
    ApiRequest request = fakes::RequestOf(ApiVerb::kDelete, kube::kPods, {"default", name});
    request.grace_seconds = grace;
    model_.Serve(request, loop().WallNow());
  }

  sim::World world_{{.seed = 1, .shards = 1}};
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_{.format = {}, .clock = world_.clock(), .verbosity = verbosity_, .sink = sink_};
  SeededRandom random_{7};
  fakes::ApiModel model_;
  fakes::FakeApiServer fake_{world_.loop(0), random_, model_};
  CountingApi api_{fake_};
  Sources sources_;
  Ending ending_;
  std::unique_ptr<MirrorKeeper> keeper_;
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<ListWatch> watch_;
};

TEST_F(MirrorTest, OneThatAnAgentBeforeMadeIsNoTroubleUntilItIsNotShown) {
  Start();
  SetNode();
  Wish(PodOp::kAdd, Static("web", "h1"));
  RunFor(Seconds(1));
  ASSERT_EQ(HashOf("web"), "h1");
  const auto troubles = [this] { return sink_.Take().find("Could not bring a mirror pod"); };
  for (const bool shown : {true, false}) {
    SCOPED_TRACE(shown);
    Stop();
    MakeKeeper();
    SetNode();
    Wish(PodOp::kAdd, Static("web", "h1"));
    RunFor(Milliseconds(150));
    EXPECT_EQ(api_.requests[ApiVerb::kCreate], shown ? 2 : 3);
    if (shown) Watch();
    RunFor(Seconds(5));
    EXPECT_EQ(troubles() == std::string::npos, shown);
  }
}

TEST_F(MirrorTest, IsMadeOnceTheNodeIsRegisteredAndOwnedByIt) {
  Start();
  Wish(PodOp::kAdd, Static("web", "h1"));
  RunFor(Minutes(1));
  EXPECT_FALSE(Find("web"));
  WakeUp();
  SetNode();
  RunFor(Milliseconds(50));
  const auto mirror = Find("web");
  ASSERT_TRUE(mirror);
  EXPECT_EQ(HashOf("web"), "h1");
  ASSERT_EQ(mirror->metadata().ownerreferences_size(), 1);
  const auto& owner = mirror->metadata().ownerreferences(0);
  EXPECT_EQ(owner.apiversion() + " " + owner.kind() + " " + owner.name() + " " + owner.uid(),
            "v1 Node n1 node-uid");
  EXPECT_TRUE(owner.controller());
  EXPECT_FALSE(owner.has_blockownerdeletion());
  RunFor(Minutes(5));
  EXPECT_EQ(api_.requests[ApiVerb::kCreate], 1);
}

TEST_F(MirrorTest, IsReplacedWhenTheStaticPodChanged) {
  Start();
  SetNode();
  Wish(PodOp::kAdd, Static("web", "h1"));
  RunFor(Seconds(1));
  ending_.names = {{"default", "web"}};  // the old one still ends
  Wish(PodOp::kRemove, Static("web", "h1"));
  Wish(PodOp::kAdd, Static("web", "h2"));
  RunFor(Seconds(5));
  EXPECT_EQ(HashOf("web"), "h1");
  ending_.names.clear();
  On([this] { keeper_->OnStaticPodEnded({"default", "web"}); });
  RunFor(Seconds(1));
  EXPECT_EQ(HashOf("web"), "h2");
}

TEST_F(MirrorTest, IsDeletedWithItsStaticPodWhenAllSourcesHaveSpoken) {
  Start();
  SetNode();
  Wish(PodOp::kAdd, Static("web", "h1"));
  RunFor(Seconds(1));
  sources_.ready = false;
  Wish(PodOp::kRemove, Static("web", "h1"));
  RunFor(Minutes(1));
  EXPECT_TRUE(Find("web"));
  sources_.ready = true;
  On([this] { keeper_->OnSourceReady(); });
  RunFor(Seconds(1));
  EXPECT_FALSE(Find("web"));
}

TEST_F(MirrorTest, IsMadeAgainWhenSomebodyDeletesIt) {
  Start();
  SetNode();
  Wish(PodOp::kAdd, Static("web", "h1"));
  RunFor(Seconds(1));
  const std::string uid = Find("web")->metadata().uid();
  Delete("web");
  RunFor(Seconds(1));
  ASSERT_TRUE(Find("web"));
  EXPECT_NE(Find("web")->metadata().uid(), uid);
  EXPECT_FALSE(Find("web")->metadata().has_deletiontimestamp());
}

TEST_F(MirrorTest, IsFoundAgainAfterARestart) {
  Start();
  SetNode();
  Wish(PodOp::kAdd, Static("web", "h1"));
  RunFor(Seconds(1));
  Stop();
  api_.requests.clear();
  sources_.ready = false;  // no orphans before the files were read
  Start();
  Wish(PodOp::kAdd, Static("web", "h1"));
  RunFor(Milliseconds(10));
  sources_.ready = true;
  SetNode();
  RunFor(Minutes(1));
  EXPECT_TRUE(api_.requests.empty());
}

TEST_F(MirrorTest, ServerThatIsAwayIsTriedUntilItIsBack) {
  Start();
  SetNode();
  fake_.Crash();
  for (int i = 0; i < 20; ++i) Wish(PodOp::kAdd, Static("s" + std::to_string(i), "h"));
  RunFor(Minutes(2));
  EXPECT_LE(keeper_->requests(), 8U);
  fake_.Start();
  RunFor(Minutes(1));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(Find("s" + std::to_string(i)));
}

TEST_F(MirrorTest, PodOfAnotherWithThatNameIsLeftAlone) {
  model_.Serve(fakes::CreateRequest(kube::kPods, fakes::MakePod("web", "n1")), loop().WallNow());
  Start();
  SetNode();
  Wish(PodOp::kAdd, Static("web", "h1"));
  RunFor(Minutes(10));
  EXPECT_TRUE(Find("web")->metadata().annotations().empty());
  EXPECT_LE(api_.requests[ApiVerb::kCreate], 30);
  Delete("web", 0);
  RunFor(Minutes(1));
  EXPECT_EQ(HashOf("web"), "h1");
}

// Changes, deletions, crashes of both sides; then calm, and each static pod has its one mirror.
TEST_F(MirrorTest, EachStaticPodHasItsMirrorWhateverHappenedBefore) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    random_ = SeededRandom(seed);
    fake_.faults() = {.delay_max = Milliseconds(200),
                      .lost_request = 0.15,
                      .lost_answer = 0.15,
                      .broken_watch = 0.1,
                      .repeated_list = 0.5};
    Start();
    SetNode();
    std::map<std::string, kube::PodRef> wished;
    for (int step = 0; step < 60; ++step) {
      RunFor(Milliseconds(static_cast<int64_t>(random_.Below(300))));
      const std::string name = "s" + std::to_string(random_.Below(5));
      const auto remove = [&] {
        const auto found = wished.find(name);
        if (found == wished.end()) return;
        Wish(PodOp::kRemove, found->second);
        wished.erase(found);
      };
      switch (random_.Below(8)) {
        case 0:
          remove();
          break;
        case 1:
          Delete(name);
          break;
        case 2:
          if (random_.Below(3) == 0) fake_.up() ? fake_.Crash() : fake_.Start();
          break;
        case 3:
          if (random_.Below(3) == 0) {
            Stop();
            Start();
            for (const auto& [each, pod] : wished) Wish(PodOp::kAdd, pod);
            SetNode();
          }
          break;
        default:
          remove();
          wished[name] = Static(name, "h" + std::to_string(random_.Below(3)));
          Wish(PodOp::kAdd, wished[name]);
      }
    }
    if (!fake_.up()) fake_.Start();
    fake_.faults() = {};
    RunFor(Minutes(3));
    for (int i = 0; i < 5; ++i) {
      const std::string name = "s" + std::to_string(i);
      const auto found = wished.find(name);
      EXPECT_EQ(HashOf(name),
                found == wished.end() ? "none" : std::string(found->second->hot().config_hash));
    }
    Stop();
    for (int i = 0; i < 5; ++i) Delete("s" + std::to_string(i), 0);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace denselet::sync
