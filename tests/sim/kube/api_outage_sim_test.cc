// The server goes away and comes back: how soon everybody hears of it again, how seldom they ask
// meanwhile, and what people are told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fakes/api_object.h"
#include "tests/fakes/api_objects_for_tests.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/fakes/http_api_pair.h"
#include "tests/sim/seeds.h"
#include "tests/sim/world.h"

namespace denselet::fakes {
namespace {

using sync::ApiVerb;
using testing::Contains;
using testing::HasSubstr;

// What a lease runs on: every ten seconds, and again at once when it was in vain.
class Heartbeat {
 public:
  Heartbeat(reactor::Loop& loop, sync::ApiServer& api) : loop_(loop), api_(api) { Beat(); }

  bool BeatSince(TimePoint when) const { return last_ >= when; }

 private:
  void Beat() {
    sync::ApiRequest request = RequestOf(ApiVerb::kGet, kube::kConfigMaps, {"default", "lease"});
    request.traffic = sync::ApiTraffic::kHeartbeat;
    api_.Send(Context{}.WithTimeout(loop_.Now(), Seconds(10)), request,
              [this](const Result<sync::ApiObject>& answer) {
                const bool ok = answer || answer.error().code() == ErrorCode::kNotFound;
                if (ok) last_ = loop_.Now();
                loop_.Arm(After(loop_.Now(), ok ? Seconds(10) : Seconds(0)), [this] { Beat(); });
              });
  }

  reactor::Loop& loop_;
  sync::ApiServer& api_;
  TimePoint last_ = TimePoint::min();
};

// Credentials that a test replaces.
class GivenCredentials final : public kube::Credentials {
 public:
  const std::string* Authorization() override { return &value; }
  void WhenReady(const Context&, reactor::Done<Unit>) override {}
  bool Refused() override { return false; }

  std::string value;
};

class ApiOutageSim : public testing::Test {
 protected:
  void Make(uint64_t seed, HttpApiPairOptions options = {}) {
    watches_.clear();
    users_.clear();
    pair_.reset();
    heartbeat_.reset();
    world_.emplace(sim::WorldOptions{.seed = seed, .shards = 2});
    output_.emplace(LogOutput{LogFormat{}, world_->clock(), verbosity_, sink_});
    options.transport.contact = {
        .log = Logger(*output_), .server = "https://api.test", .kubeconfig = "/etc/node.conf"};
    pair_.emplace(world_->loop(0), world_->loop(1), world_->random(), address_, options);
  }
  ~ApiOutageSim() override {
    watches_.clear();
    pair_.reset();
  }

  void StartHeartbeat() { heartbeat_.emplace(world_->loop(1), *pair_->client); }
  void Follow(int count) {
    for (int i = 0; i < count; ++i) {
      users_.push_back(std::make_unique<FollowedObjects>());
      watches_.push_back(
          pair_->client->Follow({.resource = kube::kPods, .ns = "default"}, *users_.back()));
    }
  }
  bool AllSynced(int times) const {
    return std::ranges::all_of(users_, [=](const auto& user) { return user->synced >= times; });
  }
  bool AllLive() const {
    return AllSynced(1) &&
           std::ranges::none_of(users_, [](const auto& user) { return user->in_trouble; });
  }

  TimePoint Now() { return world_->clock().Now(); }
  void RunFor(Duration time) { world_->RunUntil(After(Now(), time)); }
  bool Run(const std::function<bool()>& done, Duration limit = Minutes(10)) {
    const TimePoint end = After(Now(), limit);
    while (!done() && Now() < end && world_->Step()) {
    }
    return done();
  }
  void Outage(Duration time) {
    pair_->server.Crash();
    RunFor(time);
    pair_->server.Start(address_);
  }
  // Lines with this in them, since the last question.
  int Told(std::string_view text) {
    const std::string all = sink_.Take();
    int count = 0;
    for (size_t at = all.find(text); at != std::string::npos; at = all.find(text, at + 1)) ++count;
    last_lines_ = all;
    return count;
  }

  const net::Address address_ = *net::Address::Ip("127.0.0.1", 6443);
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  std::string last_lines_;
  GivenCredentials credentials_;
  std::optional<sim::World> world_;
  std::optional<LogOutput> output_;
  std::optional<HttpApiPair> pair_;
  std::optional<Heartbeat> heartbeat_;
  std::vector<std::unique_ptr<FollowedObjects>> users_;
  std::vector<std::unique_ptr<sync::ListWatch>> watches_;
};

TEST_F(ApiOutageSim, HeartbeatsAreBackSecondsAfterTheServer) {
  for (const uint64_t seed : sim::Seeds(10)) {
    for (const Duration outage : {Seconds(4), Seconds(50), Seconds(600)}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " " + FormatDuration(outage));
      Make(seed);
      StartHeartbeat();
      RunFor(Seconds(15));
      const uint64_t dials = pair_->dials;
      Outage(outage);
      const TimePoint back = Now();
      EXPECT_TRUE(Run([&] { return heartbeat_->BeatSince(back); }, Seconds(4)));
      EXPECT_LE(pair_->dials - dials, static_cast<uint64_t>(outage / Seconds(2)) + 10);
    }
  }
}

TEST_F(ApiOutageSim, WhoeverIsAnsweredFirstWakesTheOthers) {
  for (const uint64_t seed : sim::Seeds(10)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Make(seed);
    StartHeartbeat();
    pair_->server.Crash();
    bool answered = false;
    pair_->client->Send(Context{}.WithTimeout(Now(), Hours(1)),
                        RequestOf(ApiVerb::kGet, kube::kConfigMaps, {"default", "a"}),
                        [&](const Result<sync::ApiObject>&) { answered = true; });
    RunFor(Minutes(10));
    EXPECT_FALSE(answered);
    pair_->server.Start(address_);
    EXPECT_TRUE(Run([&] { return answered; }, Seconds(4)));
  }
}

TEST_F(ApiOutageSim, WatchesAreBackSecondsAfterTheServer) {
  for (const uint64_t seed : sim::Seeds(10)) {
    for (const Duration outage : {Seconds(4), Seconds(50), Seconds(600)}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " " + FormatDuration(outage));
      Make(seed);
      StartHeartbeat();
      Follow(30);
      ASSERT_TRUE(Run([&] { return AllLive(); }));
      Outage(outage);
      const uint64_t requests = pair_->server.counters().requests;
      EXPECT_TRUE(Run([&] { return AllLive(); }, Seconds(6)));
      RunFor(Seconds(60));
      EXPECT_LE(pair_->server.counters().requests - requests, 30u * 2 + 10);
    }
  }
}

TEST_F(ApiOutageSim, AVersionThatIsTooOldIsListedAnewAtOnceAfterTroubleToo) {
  for (const uint64_t seed : sim::Seeds(10)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Make(seed);
    Follow(1);
    ASSERT_TRUE(Run([&] { return AllLive(); }));
    pair_->model.faults().internal_errors = 1000;
    pair_->server.EndWatches();
    RunFor(Minutes(5));  // pauses have grown
    pair_->model.faults().internal_errors = 0;
    pair_->model.Serve(CreateRequest(kube::kPods, MakePod("new")), {});
    pair_->model.Compact(pair_->model.version());
    const size_t troubles = users_[0]->troubles.size();
    ASSERT_TRUE(Run([&] { return pair_->server.counters().expired_watches > 0; }, Minutes(2)));
    EXPECT_TRUE(Run([&] { return AllSynced(2); }, Seconds(1)));
    EXPECT_EQ(users_[0]->Versions().size(), 1u);
    EXPECT_EQ(users_[0]->troubles.size(), troubles) << "it is no trouble to tell people of";
  }
}

TEST_F(ApiOutageSim, WhatAWatchBringsAndNobodyCanReadIsPassedByAList) {
  for (const uint64_t seed : sim::Seeds(10)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Make(seed);
    Follow(1);
    ASSERT_TRUE(Run([&] { return AllLive(); }));
    pair_->server.faults().watch_junk = 1;
    pair_->server.EndWatches();
    pair_->model.Serve(CreateRequest(kube::kPods, MakePod("new")), {});
    EXPECT_TRUE(Run([&] { return users_[0]->Versions().size() == 1; }, Seconds(30)));
    const uint64_t requests = pair_->server.counters().requests;
    RunFor(Minutes(10));
    EXPECT_LE(pair_->server.counters().requests - requests, 100u) << "it is not asked in a loop";
  }
}

// The mark of a list's end is an annotation, and whoever makes a pod may write it there.
TEST_F(ApiOutageSim, NobodysObjectEndsAList) {
  for (const uint64_t seed : sim::Seeds(10)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Make(seed);
    kube::core::Pod marked = MakePod("b");
    (*marked.mutable_metadata()->mutable_annotations())["k8s.io/initial-events-end"] = "true";
    for (const kube::core::Pod& pod : {MakePod("a"), marked, MakePod("c"), MakePod("d")}) {
      pair_->model.Serve(CreateRequest(kube::kPods, pod), {});
    }
    Follow(1);
    ASSERT_TRUE(Run([&] { return AllLive(); }));
    EXPECT_EQ(users_[0]->Versions().size(), 4u);
    pair_->model.Serve(CreateRequest(kube::kPods, MakePod("e")), {});
    pair_->model.Compact(pair_->model.version());
    pair_->server.EndWatches();
    ASSERT_TRUE(Run([&] { return AllSynced(2); }));
    RunFor(Minutes(1));
    EXPECT_EQ(users_[0]->synced, 2);
    EXPECT_EQ(users_[0]->gone, 0);
    EXPECT_EQ(users_[0]->Versions().size(), 5u);
  }
}

// Another server than the one of the watch may be behind it: what is gone would come back.
TEST_F(ApiOutageSim, AListIsNotOlderThanWhatTheWatchBroughtBeforeIt) {
  for (const bool initial_events : {true, false}) {
    Make(1);
    pair_->model.faults().refuses_initial_events = !initial_events;
    Follow(1);
    ASSERT_TRUE(Run([&] { return AllLive(); }));
    pair_->model.Serve(CreateRequest(kube::kPods, MakePod("new")), {});
    ASSERT_TRUE(Run([&] { return users_[0]->Versions().size() == 1; }, Seconds(30)));
    const std::string newest = users_[0]->Versions().begin()->second;
    pair_->server.faults().watch_junk = 1;
    pair_->server.EndWatches();
    pair_->model.Serve(CreateRequest(kube::kPods, MakePod("newer")), {});
    ASSERT_TRUE(Run([&, before = pair_->server.last_target()] {
      const std::string& target = pair_->server.last_target();
      const bool lists = target.find("sendInitialEvents") != std::string::npos ||
                         target.find("watch=true") == std::string::npos;
      return lists && target != before;
    }));
    EXPECT_THAT(pair_->server.last_target() + "&", HasSubstr("resourceVersion=" + newest + "&"));
  }
}

TEST_F(ApiOutageSim, AServerThatWasRestoredFromABackupIsListedAsItIsNow) {
  for (const bool initial_events : {true, false}) {
    Make(1);
    pair_->model.faults().refuses_initial_events = !initial_events;
    pair_->model.Serve(CreateRequest(kube::kPods, MakePod("old")), {});
    const uint64_t backup = pair_->model.version();
    pair_->model.Serve(CreateRequest(kube::kPods, MakePod("lost")), {});
    Follow(1);
    ASSERT_TRUE(Run([&] { return AllLive(); }));
    ASSERT_EQ(users_[0]->Versions().size(), 2u);
    pair_->server.faults().watch_junk = 1;  // so that it has to be listed
    Outage(Seconds(5));
    pair_->model.Restore(backup);
    ASSERT_TRUE(Run([&] { return users_[0]->Versions().size() == 1; }, Minutes(2)));
    EXPECT_EQ(users_[0]->gone, 1);
    EXPECT_TRUE(users_[0]->faults.empty()) << users_[0]->faults[0];
  }
}

TEST_F(ApiOutageSim, AVersionThatIsTooOldTwiceIsNoTroubleYet) {
  for (const uint64_t seed : sim::Seeds(10)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Make(seed);
    Follow(1);
    ASSERT_TRUE(Run([&] { return AllLive(); }));
    for (int i = 2; i <= 3; ++i) {
      // As by a server that restarts, and once more soon after.
      RunFor(Seconds(2));
      pair_->model.Serve(CreateRequest(kube::kConfigMaps, MakeConfigMap(std::to_string(i))), {});
      pair_->model.Compact(pair_->model.version());
      pair_->server.EndWatches();
      ASSERT_TRUE(Run([&] { return AllSynced(i); }, Seconds(5)));
    }
    EXPECT_GE(pair_->server.counters().expired_watches, 2u);
    EXPECT_TRUE(users_[0]->troubles.empty()) << users_[0]->troubles[0];
  }
}

// Each time it has forgotten the version: that is not a list that does not help.
TEST_F(ApiOutageSim, AServerThatRestartsAgainAndAgainIsFollowedSoonEachTime) {
  for (const uint64_t seed : sim::Seeds(10)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Make(seed);
    StartHeartbeat();
    Follow(3);
    ASSERT_TRUE(Run([&] { return AllLive(); }));
    for (int i = 2; i <= 7; ++i) {
      RunFor(Seconds(2));
      pair_->model.Serve(CreateRequest(kube::kConfigMaps, MakeConfigMap(std::to_string(i))), {});
      pair_->model.Compact(pair_->model.version());
      Outage(Seconds(3));
      ASSERT_TRUE(Run([&] { return AllSynced(i); }, Seconds(5))) << "restart " << i - 1;
    }
    EXPECT_GE(pair_->server.counters().expired_watches, 3u * 6);
  }
}

TEST_F(ApiOutageSim, AServerThatCallsEveryVersionTooOldIsNotAskedInATightLoop) {
  Make(1);
  pair_->server.faults().watch_error = 1;
  Follow(1);
  RunFor(Minutes(10));
  EXPECT_LE(pair_->server.counters().requests, 60u);
  EXPECT_THAT(users_[0]->troubles, Contains(HasSubstr("410")));
  pair_->server.faults() = {};
  EXPECT_TRUE(Run([&] { return AllLive(); }, Minutes(2)));
}

TEST_F(ApiOutageSim, AnOutageIsToldAtOnceThenNowAndThenAndItsEndOnce) {
  Make(1);
  StartHeartbeat();
  Follow(10);
  ASSERT_TRUE(Run([&] { return AllLive(); }));
  EXPECT_EQ(Told("Connected to the API server"), 1);
  pair_->server.Crash();
  RunFor(Seconds(15));
  EXPECT_EQ(Told("Could not connect to the API server"), 1);
  EXPECT_THAT(last_lines_, HasSubstr("server=\"https://api.test\""));
  EXPECT_THAT(last_lines_, HasSubstr("kubeconfig=\"/etc/node.conf\""));
  RunFor(Minutes(15));
  const int later = Told("Could not connect to the API server");
  EXPECT_GE(later, 3);
  EXPECT_LE(later, 6);
  pair_->server.Start(address_);
  ASSERT_TRUE(Run([&] { return AllLive(); }, Seconds(5)));
  EXPECT_EQ(Told("Connected to the API server"), 1);
  EXPECT_THAT(last_lines_, HasSubstr("away=\"15m"));
}

TEST_F(ApiOutageSim, AwayIsFromTheLastAnswerOnNotFromWhenItWasNoticed) {
  Make(1);
  bool answered = false;
  const auto ask = [&] {
    answered = false;
    pair_->client->Send(Context{}.WithTimeout(Now(), Minutes(10)),
                        RequestOf(ApiVerb::kGet, kube::kConfigMaps, {"default", "a"}),
                        [&](const Result<sync::ApiObject>&) { answered = true; });
  };
  ask();
  ASSERT_TRUE(Run([&] { return answered; }));
  pair_->server.Crash();
  RunFor(Minutes(4));  // nobody asks
  ask();
  RunFor(Seconds(20));
  Told("");
  pair_->server.Start(address_);
  ASSERT_TRUE(Run([&] { return answered; }));
  EXPECT_EQ(Told("Connected to the API server"), 1);
  EXPECT_THAT(last_lines_, HasSubstr("away=\"4m"));
}

TEST_F(ApiOutageSim, CredentialsThatAreRefusedAreToldWithTheirKubeconfigAndTakenUpAgain) {
  credentials_.value = "Bearer old";
  HttpApiPairOptions options;
  options.credentials = &credentials_;
  options.server.token = "Bearer old";
  Make(1, options);
  StartHeartbeat();
  Follow(3);
  ASSERT_TRUE(Run([&] { return AllLive(); }));
  Told("");
  pair_->server.options().token = "Bearer new";
  pair_->server.EndWatches();
  const uint64_t requests = pair_->server.counters().requests;
  RunFor(Seconds(25));
  EXPECT_EQ(Told("The API server refused our credentials"), 1);
  EXPECT_THAT(last_lines_, HasSubstr("kubeconfig=\"/etc/node.conf\""));
  EXPECT_THAT(last_lines_, HasSubstr("401"));
  EXPECT_LE(pair_->server.counters().requests - requests, 50u);
  RunFor(Minutes(10));
  credentials_.value = "Bearer new";
  const TimePoint back = Now();
  EXPECT_TRUE(Run([&] { return heartbeat_->BeatSince(back) && AllLive(); }, Seconds(5)));
  EXPECT_EQ(Told("The API server accepted our credentials again"), 1);
}

TEST_F(ApiOutageSim, AServerThatTakesConnectionsAndDropsThemIsNotDialledInATightLoop) {
  Make(1);
  StartHeartbeat();
  Follow(3);
  ASSERT_TRUE(Run([&] { return AllLive(); }));
  pair_->server.faults().lost_request = 1;
  pair_->server.DropConnections();
  const uint64_t dials = pair_->dials;
  RunFor(Minutes(5));
  EXPECT_LE(pair_->dials - dials, 400u);
  pair_->server.faults() = {};
  EXPECT_TRUE(Run([&] { return AllLive(); }, Seconds(10)));
}

TEST_F(ApiOutageSim, AWatchWithoutAnswerSaysWhyTheServerCannotBeReached) {
  Make(1);
  Follow(1);
  ASSERT_TRUE(Run([&] { return AllLive(); }));
  pair_->server.Crash();
  RunFor(Minutes(3));
  EXPECT_THAT(users_[0]->troubles,
              Contains(HasSubstr("no answer to the watch in time: connect to")));
}

TEST_F(ApiOutageSim, AWatchSaysWhyItHasNoConnectionAlsoWhereOthersHave) {
  HttpApiPairOptions options;
  options.dial_hangs = [](uint64_t dial) { return dial > 1; };
  Make(1, options);
  StartHeartbeat();
  RunFor(Seconds(5));
  Follow(1);
  RunFor(Minutes(1));
  ASSERT_FALSE(users_[0]->troubles.empty());
  EXPECT_THAT(users_[0]->troubles[0],
              HasSubstr("no answer to the watch in time: a connection was begun and neither made"));
}

TEST_F(ApiOutageSim, IdleConnectionsAreDroppedAndWatchesKeepTheirs) {
  Make(1);
  Follow(1);
  StartHeartbeat();
  bool answered = false;
  pair_->client->Send({}, RequestOf(ApiVerb::kGet, kube::kConfigMaps, {"default", "a"}),
                      [&](const Result<sync::ApiObject>&) { answered = true; });
  ASSERT_TRUE(Run([&] { return AllLive() && answered; }));
  RunFor(Seconds(1));
  EXPECT_EQ(pair_->server.connections(), 3u);
  pair_->client->DropIdleConnections();
  RunFor(Seconds(1));
  EXPECT_EQ(pair_->server.connections(), 1u);
  EXPECT_EQ(pair_->server.open_watches(), 1u);
  EXPECT_TRUE(users_[0]->troubles.empty());
  const TimePoint dropped = Now();
  EXPECT_TRUE(Run([&] { return heartbeat_->BeatSince(dropped); }, Seconds(15)));
  EXPECT_EQ(pair_->server.connections(), 2u) << "the next heartbeat has a new one";
}

TEST_F(ApiOutageSim, HeartbeatsTellTheServerHowLongItMayTake) {
  Make(1);
  StartHeartbeat();
  RunFor(Seconds(5));
  EXPECT_EQ(pair_->server.last_target(), "/api/v1/namespaces/default/configmaps/lease?timeout=10s");
  pair_->client->Send(Context{}.WithTimeout(Now(), Seconds(7)),
                      RequestOf(ApiVerb::kGet, kube::kConfigMaps, {"default", "a"}),
                      [](const Result<sync::ApiObject>&) {});
  RunFor(Seconds(1));
  EXPECT_EQ(pair_->server.last_target(), "/api/v1/namespaces/default/configmaps/a");
}

TEST_F(ApiOutageSim, WatchesThatWereTurnedAwayDoNotComeBackTogether) {
  Make(1);
  pair_->model.faults().too_many_requests = 100;
  pair_->model.faults().retry_after_seconds = 5;
  Follow(100);
  ASSERT_TRUE(Run([&] { return pair_->server.counters().watches == 100; }));
  const TimePoint turned_away = Now();
  uint64_t most = 0, soonest = 0;
  while (!AllSynced(1) && Now() < After(turned_away, Seconds(20))) {
    const uint64_t before = pair_->server.counters().watches;
    RunFor(Milliseconds(100));
    const uint64_t came = pair_->server.counters().watches - before;
    most = std::max(most, came);
    if (Now() < After(turned_away, Seconds(5))) soonest += came;
  }
  EXPECT_TRUE(AllSynced(1));
  EXPECT_EQ(soonest, 0u) << "sooner than they were told";
  EXPECT_LE(most, 30u) << "within a tenth of a second";
}

TEST_F(ApiOutageSim, RenewedCredentialsAreNoTroubleOfAWatch) {
  Make(1);
  Follow(10);
  ASSERT_TRUE(Run([&] { return AllSynced(1); }));
  const uint64_t before = pair_->server.counters().watches;
  const TimePoint renewed = Now();
  pair_->transport->Renew();
  ASSERT_TRUE(Run([&] { return pair_->server.counters().watches == before + 10; }));
  EXPECT_LE(Now() - renewed, Milliseconds(300));
  for (const auto& user : users_) EXPECT_TRUE(user->troubles.empty());
  // What breaks after that is trouble again.
  RunFor(Seconds(5));
  pair_->server.DropConnections();
  RunFor(Seconds(5));
  EXPECT_EQ(pair_->server.open_watches(), 10u);
  for (const auto& user : users_) EXPECT_EQ(user->troubles.size(), 1u);
}

}  // namespace
}  // namespace denselet::fakes
