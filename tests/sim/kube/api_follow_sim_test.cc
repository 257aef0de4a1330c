// List-watches of the real client over a network and a server that do everything wrong that they
// can: when the faults stop, every follower has what the server has; it was told in order, nothing
// twice, and nobody asked in a tight loop.
#include <gtest/gtest.h>

#include "tests/fakes/api_object.h"
#include "tests/fakes/api_objects_for_tests.h"
#include "tests/fakes/http_api_pair.h"
#include "tests/sim/seeds.h"
#include "tests/sim/world.h"

namespace denselet::fakes {
namespace {

constexpr int kNames = 12;
// Of one follower in a minute: pauses grow from 0.8 s, and what is renewed at once is few.
constexpr uint64_t kRequestsPerMinuteMax = 100;
constexpr Duration kTrouble = Minutes(5);
constexpr Duration kQuiet = Minutes(6);

class Story {
 public:
  explicit Story(uint64_t seed)
      : world_({.seed = seed, .shards = 2}),
        pair_(world_.loop(0), world_.loop(1), world_.random(), address_, Options()) {
    Follow({.resource = kube::kPods, .field_selector = "spec.nodeName=n"});
    Follow({.resource = kube::kPods, .ns = "default"});
    Follow({.resource = kube::kConfigMaps, .ns = "default"});
  }

  void Run() {
    SetFaults();
    const TimePoint end = After(Now(), kTrouble);
    Act(end);
    CountRequests();
    world_.RunUntil(end);
    pair_.server.faults() = {};
    world_.network().faults() = {};
    pair_.model.faults() = {};
    if (!pair_.server.running()) pair_.server.Start(address_);
    world_.RunUntil(After(Now(), kQuiet));
  }

  void Check() {
    for (size_t i = 0; i < users_.size(); ++i) {
      const FollowedObjects& user = *users_[i];
      SCOPED_TRACE("follower " + std::to_string(i));
      EXPECT_EQ(user.Versions(), pair_.model.Versions(queries_[i]))
          << "up to version " << watches_[i]->resource_version() << " of " << pair_.model.version();
      EXPECT_GE(user.synced, 1);
      for (const std::string& fault : user.faults) ADD_FAILURE() << fault;
    }
    EXPECT_LE(requests_in_a_minute_, kRequestsPerMinuteMax * users_.size());
    EXPECT_EQ(answered_, sent_);
    EXPECT_EQ(pair_.client->calls(), 0u);
  }

  std::string Text() const {
    std::string text;
    for (const auto& user : users_) {
      text += std::to_string(user->told) + " " + std::to_string(user->gone) + " " +
              std::to_string(user->synced) + " " + std::to_string(user->troubles.size()) + "; ";
    }
    return text + std::to_string(pair_.server.counters().requests);
  }
  uint64_t troubles() const {
    uint64_t count = 0;
    for (const auto& user : users_) count += user->troubles.size();
    return count;
  }

 private:
  HttpApiPairOptions Options() {
    HttpApiPairOptions options;
    options.server.streams_max = world_.random().Below(4) == 0 ? 1 : 100;
    options.client.list_watch.initial_events = world_.random().Below(3) != 0;
    options.client.list_watch.page_items_max = 3;
    options.server.bookmark_period = Seconds(20);
    return options;
  }

  TimePoint Now() { return world_.clock().Now(); }
  double Small(double most) { return most * world_.random().Unit(); }

  void SetFaults() {
    HttpFaults& faults = pair_.server.faults();
    faults.delay_max = Milliseconds(1 + world_.random().Below(800));
    faults.lost_request = Small(0.05);
    faults.lost_answer = Small(0.05);
    faults.refused = Small(0.05);
    faults.silent = Small(0.02);
    faults.too_many = Small(0.1);
    faults.server_error = Small(0.1);
    faults.cut_body = Small(0.3);
    faults.slow_body = Small(0.2);
    faults.goaway = Small(0.1);
    faults.watch_error = Small(0.1);
    world_.network().faults() = {
        .delay_max = Milliseconds(30), .reset = Small(0.005), .silence = Small(0.002)};
    pair_.model.faults().refuses_initial_events = world_.random().Below(4) == 0;
    pair_.model.faults().cache_behind = world_.random().Below(5);
  }

  void Follow(const ListQuery& query) {
    queries_.push_back(query);
    users_.push_back(std::make_unique<FollowedObjects>());
    watches_.push_back(pair_.client->Follow({.resource = query.resource,
                                             .ns = query.ns,
                                             .field_selector = query.field_selector,
                                             .watch_time_min = Seconds(30)},
                                            *users_.back()));
  }

  // Something happens at the server, again and again until `end`.
  void Act(TimePoint end) {
    if (Now() >= end) return;
    switch (world_.random().Below(40)) {
      case 0:
        Crash();
        break;
      case 1:
        pair_.model.Compact(pair_.model.version() - world_.random().Below(3));
        break;
      case 2:
        pair_.server.EndWatches();
        break;
      case 3:
        pair_.server.GoAway();
        break;
      case 4:
        pair_.server.DropConnections();
        break;
      case 5:
      case 6:
        Ask();
        break;
      default:
        Change();
    }
    world_.Later(Milliseconds(1 + world_.random().Below(1500)), [this, end] { Act(end); });
  }

  void Crash() {
    if (!pair_.server.running()) return;
    pair_.server.Crash();
    world_.Later(Milliseconds(100 + world_.random().Below(30000)), [this] {
      if (!pair_.server.running()) pair_.server.Start(address_);
    });
  }

  void Change() {
    const bool pods = world_.random().Below(2) == 0;
    const kube::Resource& resource = pods ? kube::kPods : kube::kConfigMaps;
    const std::string name = "o" + std::to_string(world_.random().Below(kNames));
    const ObjectRef ref{"default", name};
    if (pair_.model.Find(resource, ref).empty()) {
      pair_.model.Serve(pods ? CreateRequest(resource, MakePod(name))
                             : CreateRequest(resource, MakeConfigMap(name)),
                        {});
      return;
    }
    switch (world_.random().Below(4)) {
      case 0: {
        sync::ApiRequest request = RequestOf(sync::ApiVerb::kDelete, resource, ref);
        if (world_.random().Below(2) == 0) request.grace_seconds = 0;
        pair_.model.Serve(request, {});
        return;
      }
      case 1:
        if (!pods) break;
        pair_.model.Edit(resource, ref, [](AnyObject& object) {
          dynamic_cast<kube::core::Pod&>(object.message()).mutable_spec()->set_nodename("n");
        });
        return;
      default:
        break;
    }
    const std::string label = std::to_string(world_.random().Below(100));
    pair_.model.Edit(resource, ref, [&](AnyObject& object) {
      (*object.meta().mutable_labels())["label"] = label;
    });
  }

  // Requests of all kinds, each of which must be answered once.
  void Ask() {
    const ObjectRef ref{"default", "asked"};
    sync::ApiRequest request = RequestOf(sync::ApiVerb::kGet, kube::kSecrets, ref);
    if (world_.random().Below(2) == 0) {
      kube::core::Secret secret;
      secret.mutable_metadata()->set_name("asked");
      request = CreateRequest(kube::kSecrets, secret);
    } else if (world_.random().Below(2) == 0) {
      request.verb = sync::ApiVerb::kDelete;
    }
    const bool is_get = request.verb == sync::ApiVerb::kGet;
    Context context;
    context.deadline = After(Now(), Seconds(1 + world_.random().Below(30)));
    ++sent_;
    auto answered = std::make_shared<bool>(false);
    world_.loop(1).Post([this, context, request, answered, is_get] {
      pair_.client->Send(context, request, [=, this](Result<sync::ApiObject> result) {
        EXPECT_FALSE(std::exchange(*answered, true)) << "answered twice";
        EXPECT_LE(Now(), After(context.deadline, Seconds(1))) << "answered too late";
        const bool unknown = !result && result.error().code() == ErrorCode::kUnknownOutcome;
        EXPECT_FALSE(is_get && unknown);
        ++answered_;
      });
    });
  }

  void CountRequests() {
    const uint64_t now = pair_.server.counters().requests;
    requests_in_a_minute_ = std::max(requests_in_a_minute_, now - requests_before_);
    requests_before_ = now;
    world_.Later(Minutes(1), [this] { CountRequests(); });
  }

  sim::World world_;
  const net::Address address_ = *net::Address::Ip("127.0.0.1", 6443);
  HttpApiPair pair_;
  std::vector<ListQuery> queries_;
  std::vector<std::unique_ptr<FollowedObjects>> users_;
  std::vector<std::unique_ptr<sync::ListWatch>> watches_;  // gone first
  uint64_t requests_before_ = 0, requests_in_a_minute_ = 0;
  uint64_t sent_ = 0, answered_ = 0;
};

TEST(ApiFollowSim, AfterTheFaultsEveryFollowerHasWhatTheServerHas) {
  uint64_t troubles = 0, stories = 0;
  for (const uint64_t seed : sim::Seeds(40)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Story story(seed);
    story.Run();
    story.Check();
    troubles += story.troubles();
    ++stories;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(troubles, 3 * stories) << "the faults do not bite";
}

TEST(ApiFollowSim, TheSameSeedTellsTheSameStory) {
  const auto tell = [] {
    Story story(3);
    story.Run();
    return story.Text();
  };
  EXPECT_EQ(tell(), tell());
}

}  // namespace
}  // namespace denselet::fakes
