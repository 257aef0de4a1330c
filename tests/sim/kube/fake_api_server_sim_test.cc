// The fake API server with its faults on: it does to its users what a server and a network do, and
// no more.
#include "tests/fakes/fake_api_server.h"

#include <gtest/gtest.h>

#include "tests/fakes/api_object.h"
#include "tests/fakes/api_objects_for_tests.h"
#include "tests/sim/seeds.h"
#include "tests/sim/world.h"

namespace denselet::fakes {
namespace {

using sync::ApiVerb;

class FakeApiServerSim : public testing::Test {
 protected:
  void RunFor(Duration time) { world_.RunUntil(After(world_.clock().Now(), time)); }
  std::string Ask(const sync::ApiRequest& request, Duration timeout = Minutes(1)) {
    std::string code;
    server_.Send(Context{}.WithTimeout(world_.clock().Now(), timeout), request,
                 [&](Result<sync::ApiObject> result) {
                   EXPECT_EQ(code, "") << "answered twice";
                   code = result ? "ok" : std::string(ErrorCodeName(result.error().code()));
                 });
    RunFor(timeout + Seconds(1));
    return code;
  }
  static std::string Name(ErrorCode code) { return std::string(ErrorCodeName(code)); }

  const sync::ApiRequest get_ = RequestOf(ApiVerb::kGet, kube::kConfigMaps, {"default", "a"});
  const sync::ApiRequest create_ = CreateRequest(kube::kConfigMaps, MakeConfigMap("a"));
  sim::World world_{{.seed = 1, .shards = 1}};
  ApiModel model_;
  FakeApiServer server_{world_.loop(0), world_.random(), model_};
};

TEST_F(FakeApiServerSim, ALostAnswerIsUnknownAndItWasDone) {
  server_.faults().lost_answer = 1;
  EXPECT_EQ(Ask(create_), Name(ErrorCode::kUnknownOutcome));
  EXPECT_EQ(model_.size(), 1u);
  EXPECT_EQ(Ask(get_), Name(ErrorCode::kUnavailable)) << "a get has no outcome";
}

TEST_F(FakeApiServerSim, ALostRequestWasNotDone) {
  server_.faults().lost_request = 1;
  EXPECT_EQ(Ask(create_), Name(ErrorCode::kUnavailable));
  EXPECT_EQ(model_.size(), 0u);
}

TEST_F(FakeApiServerSim, ABusyServerIsAskedAgain) {
  model_.faults().too_many_requests = 3;
  EXPECT_EQ(Ask(create_), "ok");
  model_.faults().too_many_requests = 1000;
  EXPECT_EQ(Ask(get_), Name(ErrorCode::kOverloaded));
}

TEST_F(FakeApiServerSim, AServerThatIsDownIsWaitedFor) {
  server_.Crash();
  EXPECT_EQ(Ask(create_, Seconds(5)), Name(ErrorCode::kDeadlineExceeded));
  world_.Later(Seconds(10), [&] { server_.Start(); });
  EXPECT_EQ(Ask(create_), "ok");
  EXPECT_EQ(server_.calls(), 0u);
}

// As the client's own do.
TEST_F(FakeApiServerSim, AFollowerDoesNotSleepOnBesideAServerThatIsBack) {
  FollowedObjects user;
  const auto watch = server_.Follow({.resource = kube::kConfigMaps}, user);
  RunFor(Seconds(5));
  for (const Duration down : {Seconds(3), Seconds(40), Seconds(300)}) {
    server_.Crash();
    RunFor(down);
    EXPECT_TRUE(user.in_trouble);
    model_.Serve(CreateRequest(kube::kConfigMaps, MakeConfigMap(std::to_string(down.count()))), {});
    server_.Start();
    RunFor(Seconds(4));
    EXPECT_FALSE(user.in_trouble);
    EXPECT_EQ(user.Versions(), model_.Versions({.resource = kube::kConfigMaps}));
    RunFor(Minutes(1));
  }
}

TEST_F(FakeApiServerSim, AVersionThatIsTooOldIsListedAnewAtOnceAndNoTrouble) {
  FollowedObjects user;
  const auto watch = server_.Follow({.resource = kube::kConfigMaps}, user);
  RunFor(Minutes(1));
  server_.Crash();
  RunFor(Minutes(5));
  const size_t troubles = user.troubles.size();
  model_.Serve(create_, {});
  model_.Compact(model_.version());
  server_.Start();
  RunFor(Seconds(4));
  EXPECT_EQ(user.Versions(), model_.Versions({.resource = kube::kConfigMaps}));
  EXPECT_EQ(user.troubles.size(), troubles);
}

// Followers while watches break, lists repeat, the server crashes and forgets old versions.
void Follow(uint64_t seed) {
  sim::World world({.seed = seed, .shards = 1});
  ApiModel model;
  FakeApiServer server(world.loop(0), world.random(), model);
  server.faults().delay_max = Milliseconds(500);
  server.faults().broken_watch = 0.2;
  server.faults().repeated_list = 0.5;
  FollowedObjects user;
  auto watch = server.Follow({.resource = kube::kConfigMaps}, user);
  for (int i = 0; i < 300; ++i) {
    const ObjectRef ref{"default", "o" + std::to_string(world.random().Below(10))};
    if (model.Find(kube::kConfigMaps, ref).empty()) {
      model.Serve(CreateRequest(kube::kConfigMaps, MakeConfigMap(ref.name)), {});
    } else if (world.random().Below(3) == 0) {
      model.Serve(RequestOf(ApiVerb::kDelete, kube::kConfigMaps, ref), {});
    } else {
      model.Edit(kube::kConfigMaps, ref, [&](AnyObject& object) {
        (*object.meta().mutable_labels())["n"] = std::to_string(i);
      });
    }
    if (i % 50 == 10) model.Compact(model.version());
    if (i % 70 == 20) server.Crash();
    if (i % 70 == 30) server.Start();
    world.RunUntil(After(world.clock().Now(), Milliseconds(world.random().Below(1000))));
  }
  server.Start();
  server.faults() = {};
  world.RunUntil(After(world.clock().Now(), Minutes(3)));
  EXPECT_EQ(user.Versions(), model.Versions({.resource = kube::kConfigMaps}));
  for (const std::string& fault : user.faults) ADD_FAILURE() << fault;
  EXPECT_GT(user.troubles.size(), 5u);
  EXPECT_FALSE(user.in_trouble);
}

TEST(FakeApiServerFollowSim, AfterTheFaultsAFollowerHasWhatTheServerHas) {
  for (const uint64_t seed : sim::Seeds(20)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Follow(seed);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace denselet::fakes
