// Many requests of the agent under kubeAPIQPS, over the real client: what people wait for arrives.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/api/types.h"
#include "kube/client/pod_source.h"
#include "managers/status/status_manager.h"
#include "sync/ports/api_typed.h"
#include "tests/fakes/api_objects_for_tests.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/fakes/http_api_pair.h"
#include "tests/sim/world.h"

namespace denselet::fakes {
namespace {

class CrowdedSim : public testing::Test, private sync::PodStatusUser {
 protected:
  void Make(double per_second, uint32_t burst) {
    HttpApiPairOptions options;
    options.client.requests_per_second = per_second;
    options.client.requests_burst = burst;
    Make(options);
  }
  void Make(const HttpApiPairOptions& options) {
    pair_.emplace(world_.loop(0), world_.loop(1), world_.random(),
                  *net::Address::Ip("127.0.0.1", 6443), options);
    manager_.emplace(loop(), world_.random(), Logger(output_), *pair_->client,
                     static_cast<sync::PodStatusUser&>(*this), managers::StatusManagerOptions{});
  }
  void End() {
    manager_.reset();
    pair_.reset();
    RunFor(Seconds(1));  // the listener goes
  }
  ~CrowdedSim() override {
    manager_.reset();
    pair_.reset();
  }
  reactor::Loop& loop() { return world_.loop(1); }
  TimePoint Now() { return world_.clock().Now(); }
  void RunFor(Duration time) { world_.RunUntil(After(Now(), time)); }

  void Create(const std::string& name) {
    ASSERT_TRUE(
        pair_->model.Serve(CreateRequest(kube::kPods, MakePod(name, "n1")), loop().WallNow()).ok());
  }
  kube::core::Pod Find(const std::string& name) {
    return *sync::ParseObject<kube::core::Pod>(pair_->model.Find(kube::kPods, {"default", name}));
  }
  void Tell(const std::string& name, const std::string& phase, bool ready) {
    kube::core::PodStatus status;
    status.set_phase(phase);
    auto& condition = *status.add_conditions();
    condition.set_type("Ready");
    condition.set_status(ready ? "True" : "False");
    loop().Post([this, update = sync::PodStatusUpdate{.pod = *kube::PodAtRest::FromPod(Find(name)),
                                                      .status = status.SerializeAsString(),
                                                      .version = ++version_}]() mutable {
      manager_->SetStatus(std::move(update));
    });
  }
  // As a pod that starts asks for its token.
  void AskForToken() {
    pair_->client->Send(
        Context{}.WithTimeout(Now(), Seconds(30)),
        {.verb = sync::ApiVerb::kGet, .resource = kube::kConfigMaps, .object = {"default", "t"}},
        [this](const Result<sync::ApiObject>& answer) {
          const bool served = !answer && answer.error().code() == ErrorCode::kNotFound;
          ++(served ? tokens_served_ : tokens_late_);
        });
  }
  size_t Count(const std::string& phase) {
    size_t count = 0;
    for (const std::string& name : names_) count += Find(name).status().phase() == phase ? 1 : 0;
    return count;
  }

  sim::World world_{{.seed = 1, .shards = 2}};
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_{.format = {}, .clock = world_.clock(), .verbosity = verbosity_, .sink = sink_};
  std::optional<HttpApiPair> pair_;
  std::optional<managers::StatusManager> manager_;
  std::vector<std::string> names_;
  uint64_t version_ = 0;
  int tokens_served_ = 0, tokens_late_ = 0;

 private:
  void OnStatusSettled(const PodUid&, uint64_t) override {}
};

TEST_F(CrowdedSim, StatusesArriveBesideTheTokensOfManyPods) {
  Make(20, 20);
  for (int i = 0; i < 100; ++i) {
    names_.push_back("p" + std::to_string(i));
    Create(names_.back());
  }
  for (int i = 0; i < 400; ++i) AskForToken();
  RunFor(Seconds(1));
  for (const std::string& name : names_) Tell(name, "Running", false);
  RunFor(Seconds(10));
  EXPECT_EQ(Count("Running"), 100u);
  EXPECT_FALSE(manager_->counts().server_in_trouble);
  for (int i = 0; i < 10; ++i) Tell(names_[static_cast<size_t>(i)], "Running", true);
  RunFor(Seconds(3));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Find(names_[static_cast<size_t>(i)]).status().conditions(0).status(), "True") << i;
  }
  RunFor(Minutes(1));
  EXPECT_EQ(tokens_served_, 400 - tokens_late_);
  EXPECT_GE(tokens_served_, 350) << "those for whom 30 s were enough";
  EXPECT_EQ(sink_.Take(), "");
}

// As in client-go: a list is a request, a watch is none.
TEST_F(CrowdedSim, PagesOfListsTakeATurnAndWatchesTakeNone) {
  constexpr size_t kFollowersMax = 30;
  for (const bool initial_events : {true, false}) {
    SCOPED_TRACE(initial_events ? "initial events" : "pages");
    HttpApiPairOptions options;
    options.client.requests_per_second = 5;
    options.client.requests_burst = 1;
    options.client.list_watch.initial_events = initial_events;
    Make(options);
    std::vector<FollowedObjects> users(kFollowersMax);
    std::vector<std::unique_ptr<sync::ListWatch>> watches;
    for (FollowedObjects& user : users) {
      watches.push_back(pair_->client->Follow({.resource = kube::kPods}, user));
    }
    const auto synced = [&] {
      return std::ranges::count_if(users, [](const auto& user) { return user.synced > 0; });
    };
    RunFor(Seconds(2));
    if (initial_events) {
      EXPECT_EQ(synced(), kFollowersMax);
    } else {
      EXPECT_GE(synced(), 8);
      EXPECT_LE(synced(), 12);
      // One that goes while it waits holds up nobody.
      watches.resize(kFollowersMax - 10);
      RunFor(Seconds(3));
      EXPECT_EQ(synced(), kFollowersMax - 10);
    }
    for (const FollowedObjects& user : users) EXPECT_TRUE(user.troubles.empty());
    watches.clear();
    End();
  }
}

TEST_F(CrowdedSim, TheListOfPodsDoesNotWaitBehindTokens) {
  HttpApiPairOptions options;
  options.client.requests_per_second = 5;
  options.client.requests_burst = 1;
  options.client.list_watch.initial_events = false;
  Make(options);
  for (int i = 0; i < 200; ++i) AskForToken();
  struct Told final : sync::PodSourceUser {
    void OnPods(sync::SourceKind, std::vector<kube::PodRef>) override { ++sets; }
    void OnPod(sync::SourceKind, kube::PodRef) override {}
    void OnPodGone(sync::SourceKind, std::string_view) override {}
    void OnTrouble(sync::SourceKind, const std::string&, const Error&) override { ++troubles; }
    void OnTroubleOver(sync::SourceKind, const std::string&) override {}
    int sets = 0, troubles = 0;
  } told;
  auto source = std::make_unique<kube::ApiPodSource>(*pair_->client, NodeName("n1"), told);
  RunFor(Seconds(1));
  EXPECT_EQ(told.sets, 1);
  EXPECT_EQ(told.troubles, 0);
  source.reset();
}

// So slow a limit that statuses are late whatever is done: it takes long, and nobody is blamed.
TEST_F(CrowdedSim, ALimitThatIsTooLowMakesStatusesLateAndBlamesNobodyElse) {
  Make(1, 1);
  for (int i = 0; i < 40; ++i) {
    names_.push_back("p" + std::to_string(i));
    Create(names_.back());
  }
  for (int i = 0; i < 100; ++i) AskForToken();
  for (const std::string& name : names_) Tell(name, "Running", true);
  for (int i = 0; i < 200; ++i) {
    RunFor(Seconds(1));
    ASSERT_FALSE(manager_->counts().server_in_trouble) << "after " << i << " s";
  }
  EXPECT_EQ(Count("Running"), 40u);
  const std::string told = sink_.Take();
  EXPECT_NE(told.find("kubeAPIQPS (1 a second)"), std::string::npos) << told;
  EXPECT_EQ(told.find("does not take statuses"), std::string::npos) << told;
}

}  // namespace
}  // namespace denselet::fakes
