// The agent behind its ports, on virtual time: the API server crashes and returns, loses requests
// and answers, forgets old versions; pods come, change and go; the node is deleted; the agent
// itself is killed. Whatever happened: no update of a pod is lost, nobody is asked in a busy loop,
// and the lease holds while there is a server to hold it.
#include "app/agent/node_side.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kube/api/types.h"
#include "managers/node/node_conditions.h"
#include "tests/fakes/api_object.h"
#include "tests/fakes/api_objects_for_tests.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/fakes/fake_api_server.h"
#include "tests/managers/node/fake_node_seams.h"
#include "tests/managers/source/manifests.h"
#include "tests/sim/seeds.h"
#include "tests/sim/sim_file_system.h"
#include "tests/sim/sim_path_watcher.h"
#include "tests/sim/world.h"

namespace denselet::app {
namespace {

using fakes::AnyObject;
using kube::core::Node;
using sync::ApiVerb;

constexpr Duration kTrouble = Minutes(15);
constexpr uint64_t kRequestsPerMinuteMax = 200;
constexpr Duration kLeaseDuration = Seconds(40);

// Counts what the agent asks, also of a server that is down.
class CountedServer final : public sync::ApiServer {
 public:
  explicit CountedServer(fakes::FakeApiServer& below) : below_(below) {}

  void Send(const Context& context, sync::ApiRequest request,
            reactor::Done<sync::ApiObject> done) override {
    ++requests;
    below_.Send(context, std::move(request), std::move(done));
  }
  std::unique_ptr<sync::ListWatch> Follow(sync::ListWatchSpec spec,
                                          sync::ListWatchUser& user) override {
    ++requests;
    if (spec.resource.plural == "pods") ++pod_watches;
    return below_.Follow(std::move(spec), user);
  }

  uint64_t requests = 0;
  int pod_watches = 0;

 private:
  fakes::FakeApiServer& below_;
};

class Story {
 public:
  explicit Story(uint64_t seed) : world_({.seed = seed, .shards = 1}) {
    EXPECT_TRUE(disk_.MakeDirectories("/m", 0755));
    Begin();
  }

  void Begin() {
    NodeSideOptions options;
    options.node.flags = {.node_name = "n1", .hostname = "n1"};
    options.pod_files = managers::FileSourceOptions{.path = "/m", .node_name = "n1"};
    side_ =
        std::make_unique<NodeSide>(NodeSideSeams{world_.loop(0), world_.random(), Logger(output_),
                                                 files_, watcher_, nullptr, facts_, inputs_},
                                   options);
    side_->Join(counted_);
  }

  // Steps of up to a second, with anything between them.
  void Trouble() {
    server_.faults().delay_max = Milliseconds(500);
    server_.faults().lost_request = 0.05;
    server_.faults().lost_answer = 0.05;
    server_.faults().broken_watch = 0.05;
    server_.faults().repeated_list = 0.5;
    const TimePoint end = After(now(), kTrouble);
    while (now() < end) {
      Something();
      RunFor(Milliseconds(static_cast<int64_t>(Below(1000))));
      CheckRequests();
      CheckLease();
    }
  }

  void Quiet() {
    server_.faults() = {};
    if (!server_.up()) server_.Start();
    RunFor(Minutes(3));
  }

  void CheckEnd() {
    EXPECT_EQ(PodsOfAgent(), PodsOfServer());
    EXPECT_EQ(FilePodsOfAgent(), manifests_.size());
    EXPECT_TRUE(side_->pods().Ready(sync::SourceSet::All()));
    EXPECT_TRUE(side_->pods().Troubles().empty());
    EXPECT_LE(now() - side_->node()->Snapshot().lease_renewed_at, Milliseconds(10'500));
    const std::optional<Node> node = FindNode();
    ASSERT_TRUE(node);
    const auto* ready = node::FindCondition(node->status(), "Ready");
    ASSERT_NE(ready, nullptr);
    EXPECT_EQ(ready->status(), "False");
    EXPECT_NE(ready->message().find("runtime status check may not have completed"),
              std::string::npos)
        << ready->message();
    EXPECT_EQ(side_->event_sender()->waiting(), 0u);
    // At rest: a lease every ten seconds, a status every five minutes.
    const uint64_t before = counted_.requests;
    RunFor(Minutes(10));
    EXPECT_LE(counted_.requests - before, 10 * 6 + 10);
    EXPECT_GE(counted_.requests - before, 10 * 5);
  }

  uint64_t crashes = 0, kills = 0, changes = 0;

 private:
  TimePoint now() { return world_.clock().Now(); }
  uint64_t Below(uint64_t bound) { return world_.random().Below(bound); }
  void RunFor(Duration time) { world_.RunUntil(After(now(), time)); }

  void Something() {
    switch (Below(24)) {
      case 0:
        if (Below(4) == 0) return Kill();
        return;
      case 1:
        if (server_.up()) {
          ++crashes;
          server_.Crash();
        }
        return;
      case 2:
      case 3:
        if (!server_.up()) {
          server_.Start();
          up_since_ = now();
        }
        return;
      case 4:
        return model_.Compact(model_.version());
      case 5:
        if (Below(8) != 0) return;
        // Whoever deletes a node has to start its agent again.
        model_.Serve(fakes::RequestOf(ApiVerb::kDelete, kube::kNodes, {"", "n1"}), {});
        return Kill();
      case 6:
      case 7:
        return ChangeManifest();
      default:
        return ChangePod();
    }
  }

  void Kill() {
    ++kills;
    side_.reset();
    RunFor(Milliseconds(static_cast<int64_t>(Below(20'000))));
    Begin();
    up_since_ = now();
  }

  void ChangePod() {
    ++changes;
    const std::string name = "p" + std::to_string(Below(12));
    const ObjectRef ref{"default", name};
    if (model_.Find(kube::kPods, ref).empty()) {
      const std::string node = Below(4) == 0 ? "another" : "n1";
      model_.Serve(fakes::CreateRequest(kube::kPods, fakes::MakePod(name, node)), {});
    } else if (Below(3) == 0) {
      sync::ApiRequest request = fakes::RequestOf(ApiVerb::kDelete, kube::kPods, ref);
      if (Below(2) == 0) request.grace_seconds = 0;
      model_.Serve(request, {});
    } else {
      const std::string label = std::to_string(changes);
      model_.Edit(kube::kPods, ref,
                  [&](AnyObject& object) { (*object.meta().mutable_labels())["change"] = label; });
    }
  }

  void ChangeManifest() {
    const std::string name = "s" + std::to_string(Below(4));
    const std::string path = "/m/" + name + ".yaml";
    if (manifests_.contains(name) && Below(3) == 0) {
      manifests_.erase(name);
      EXPECT_TRUE(disk_.Unlink(path));
    } else {
      manifests_[name] = "app:" + std::to_string(Below(100));
      EXPECT_TRUE(disk_.ReplaceFile(path, managers::PodYaml(name, manifests_[name]), 0644,
                                    reactor::Durability::kSynced, world_.loop(0).WallNow()));
    }
    watcher_.Changed("/m");
  }

  // Of any minute.
  void CheckRequests() {
    asked_.emplace_back(now(), counted_.requests);
    while (now() - asked_.front().first > Minutes(1)) asked_.pop_front();
    EXPECT_LE(counted_.requests - asked_.front().second, kRequestsPerMinuteMax);
  }

  // A server that has been there for as long as a lease lasts, with the node in it, has seen it
  // renewed: or others would take the node for dead.
  void CheckLease() {
    if (!server_.up() || now() - up_since_ < kLeaseDuration) return;
    EXPECT_LT(now() - side_->node()->Snapshot().lease_renewed_at, kLeaseDuration);
  }

  // By name: uid and the last change.
  using Pods = std::map<std::string, std::string>;

  static void Add(const kube::core::Pod& pod, Pods& to) {
    const auto& labels = pod.metadata().labels();
    const auto change = labels.find("change");
    to[pod.metadata().name()] = pod.metadata().uid() + " " +
                                (change == labels.end() ? "" : change->second) +
                                (pod.metadata().has_deletiontimestamp() ? " deleted" : "");
  }

  Pods PodsOfServer() {
    Pods pods;
    const fakes::ListQuery query{.resource = kube::kPods, .field_selector = "spec.nodeName=n1"};
    for (const std::string& wire : model_.List(query).items) {
      kube::core::Pod pod;
      EXPECT_TRUE(pod.ParseFromString(wire));
      Add(pod, pods);
    }
    return pods;
  }
  Pods PodsOfAgent() {
    Pods pods;
    for (const kube::PodRef& ref : side_->pods().pods().All()) {
      if (ref->hot().config_source != "api") continue;
      Add(**ref->Parse(), pods);
    }
    return pods;
  }
  size_t FilePodsOfAgent() {
    size_t count = 0;
    for (const kube::PodRef& ref : side_->pods().pods().All()) {
      if (ref->hot().config_source == "file") ++count;
    }
    return count;
  }
  std::optional<Node> FindNode() {
    const std::string wire = model_.Find(kube::kNodes, {"", "n1"});
    Node node;
    if (wire.empty() || !node.ParseFromString(wire)) return std::nullopt;
    return node;
  }

  sim::World world_;
  fakes::ApiModel model_;
  fakes::FakeApiServer server_{world_.loop(0), world_.random(), model_};
  CountedServer counted_{server_};
  sim::Disk disk_;
  sim::SimFileSystem files_{world_.loop(0), world_.random(), disk_};
  sim::SimPathWatcher watcher_{world_.loop(0), world_.random()};
  node::FakeFacts facts_{world_.loop(0)};
  node::FakeInputs inputs_{world_.loop(0)};
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_{.format = {}, .clock = world_.clock(), .verbosity = verbosity_, .sink = sink_};
  std::unique_ptr<NodeSide> side_;

  TimePoint up_since_ = world_.clock().Now();
  std::deque<std::pair<TimePoint, uint64_t>> asked_;
  std::map<std::string, std::string> manifests_;
};

TEST(NodeSideSim, NothingIsLostAndNobodySpinsWhateverTheServerDoes) {
  uint64_t crashes = 0, kills = 0, changes = 0;
  for (const uint64_t seed : sim::Seeds(20)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Story story(seed);
    story.Trouble();
    story.Quiet();
    story.CheckEnd();
    crashes += story.crashes;
    kills += story.kills;
    changes += story.changes;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(crashes, 0u);
  EXPECT_GT(changes, 100u);
  RecordProperty("kills", static_cast<int>(kills));
}

// One world, step by step.
class NodeSideTest : public testing::Test {
 protected:
  NodeSideTest() { options_.node.flags = {.node_name = "n1", .hostname = "n1"}; }

  void Begin() {
    side_ =
        std::make_unique<NodeSide>(NodeSideSeams{world_.loop(0), world_.random(), Logger(output_),
                                                 files_, watcher_, nullptr, facts_, inputs_},
                                   options_);
  }
  void RunFor(Duration time) { world_.RunUntil(After(world_.clock().Now(), time)); }
  // Events that the server has: "object: message" by reason.
  std::map<std::string, std::string> Told() {
    std::map<std::string, std::string> told;
    for (const std::string& wire : model_.List({.resource = kube::kEvents}).items) {
      kube::core::Event event;
      EXPECT_TRUE(event.ParseFromString(wire));
      told[event.reason()] = event.involvedobject().name() + ": " + event.message();
    }
    return told;
  }

  sim::World world_{{.seed = 1, .shards = 1}};
  fakes::ApiModel model_;
  fakes::FakeApiServer server_{world_.loop(0), world_.random(), model_};
  CountedServer counted_{server_};
  sim::Disk disk_;
  sim::SimFileSystem files_{world_.loop(0), world_.random(), disk_};
  sim::SimPathWatcher watcher_{world_.loop(0), world_.random()};
  node::FakeFacts facts_{world_.loop(0)};
  node::FakeInputs inputs_{world_.loop(0)};
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_{.format = {}, .clock = world_.clock(), .verbosity = verbosity_, .sink = sink_};
  NodeSideOptions options_;
  std::unique_ptr<NodeSide> side_;
};

TEST_F(NodeSideTest, PodsAreWatchedOnceTheNodesWatchHasSpoken) {
  server_.Crash();
  Begin();
  side_->Join(counted_);
  RunFor(Minutes(2));
  EXPECT_EQ(counted_.pod_watches, 0);
  server_.Start();
  RunFor(Minutes(1));
  EXPECT_EQ(counted_.pod_watches, 1);
  EXPECT_TRUE(side_->pods().Ready({sync::SourceKind::kApi}));
}

TEST_F(NodeSideTest, AloneItHasItsFilesAndWaitsForNobody) {
  ASSERT_TRUE(disk_.MakeDirectories("/m", 0755));
  ASSERT_TRUE(disk_.ReplaceFile("/m/a.yaml", managers::PodYaml("a", "app:1"), 0644,
                                reactor::Durability::kSynced, world_.loop(0).WallNow()));
  options_.has_api_server = false;
  options_.pod_files = managers::FileSourceOptions{.path = "/m", .node_name = "n1"};
  Begin();
  RunFor(Seconds(5));
  EXPECT_TRUE(side_->pods().Ready(sync::SourceSet::All()));
  ASSERT_EQ(side_->pods().pods().size(), 1u);
  EXPECT_EQ(side_->pods().pods().All()[0]->hot().name, "a-n1");
  EXPECT_EQ(counted_.requests, 0u);
  RunFor(Minutes(5));
  EXPECT_TRUE(side_->pods().late().empty());
}

TEST_F(NodeSideTest, LocalPodsAreThereBeforeTheServerIs) {
  ASSERT_TRUE(disk_.MakeDirectories("/m", 0755));
  options_.pod_files = managers::FileSourceOptions{.path = "/m", .node_name = "n1"};
  Begin();
  RunFor(Seconds(5));
  EXPECT_TRUE(side_->pods().Ready({sync::SourceKind::kFile}));
  EXPECT_FALSE(side_->pods().Ready({sync::SourceKind::kApi}));
  EXPECT_EQ(side_->node(), nullptr);
}

TEST_F(NodeSideTest, TellsOfItsStart) {
  Begin();
  side_->Join(counted_);
  RunFor(Minutes(1));
  EXPECT_EQ(Told()["Starting"], "n1: Starting kubelet.");
}

TEST_F(NodeSideTest, HasJoinedWhenTheServerHasAnswered) {
  const auto joined = [&] {
    return sink_.Take().find("Joined the API server") != std::string::npos;
  };
  server_.Crash();
  Begin();
  side_->Join(counted_);
  RunFor(Minutes(2));
  EXPECT_FALSE(joined());
  server_.Start();
  RunFor(Minutes(1));
  EXPECT_TRUE(joined());
}

TEST_F(NodeSideTest, APodInTwoFilesIsToldAsAnEventOfTheOneThatDoesNotCount) {
  ASSERT_TRUE(disk_.MakeDirectories("/m", 0755));
  for (const char* path : {"/m/a.yaml", "/m/b.yaml"}) {
    ASSERT_TRUE(disk_.ReplaceFile(path, managers::PodYaml("twice", path), 0644,
                                  reactor::Durability::kSynced, world_.loop(0).WallNow()));
  }
  options_.pod_files = managers::FileSourceOptions{.path = "/m", .node_name = "n1"};
  Begin();
  side_->Join(counted_);
  RunFor(Minutes(1));
  ASSERT_EQ(side_->pods().pods().size(), 1u);
  const std::string told = Told()["FailedValidation"];
  EXPECT_TRUE(told.starts_with("twice-n1: Error validating pod twice-n1_default(")) << told;
  EXPECT_TRUE(told.ends_with(
      ") from file due to duplicate pod name \"twice-n1\" (\"/m/a.yaml\" has the same pod as "
      "\"/m/b.yaml\", which counts because its name comes last), ignoring"))
      << told;
}

}  // namespace
}  // namespace denselet::app
