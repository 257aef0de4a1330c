// Requests of the real client on virtual time: retries, deadlines, credentials, and streams that
// are scarce.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fakes/api_objects_for_tests.h"
#include "tests/fakes/http_api_pair.h"
#include "tests/sim/world.h"

namespace denselet::fakes {
namespace {

using sync::ApiVerb;

// Credentials that come late, and may be refused.
class LateCredentials final : public kube::Credentials {
 public:
  explicit LateCredentials(reactor::Loop& loop) : loop_(loop) {}

  const std::string* Authorization() override { return value_.empty() ? nullptr : &value_; }
  void WhenReady(const Context&, reactor::Done<Unit> done) override {
    if (!value_.empty()) return loop_.Post([done = std::move(done)]() mutable { done(Ok()); });
    waiters_.push_back(std::move(done));
  }
  bool Refused() override {
    ++refused;
    if (next.empty()) return false;
    value_.clear();
    loop_.Arm(After(loop_.Now(), Seconds(2)), [this] { Become(next); });
    return true;
  }

  void Become(const std::string& value) {
    value_ = value;
    for (auto& waiter : std::exchange(waiters_, {})) {
      loop_.Post([waiter = std::move(waiter)]() mutable { waiter(Ok()); });
    }
  }
  void Fail(const Error& error) {
    for (auto& waiter : std::exchange(waiters_, {})) {
      loop_.Post([waiter = std::move(waiter), error]() mutable { waiter(error); });
    }
  }
  size_t waiting() const { return waiters_.size(); }

  int refused = 0;
  std::string next;  // what comes after a refusal

 private:
  reactor::Loop& loop_;
  std::string value_;
  std::vector<reactor::Done<Unit>> waiters_;
};

class ApiRequestsSim : public testing::Test {
 protected:
  struct Asked {
    std::optional<Result<sync::ApiObject>> answer;
    Duration took{};
    std::string code() const {
      if (!answer) return "none";
      return *answer ? "ok" : std::string(ErrorCodeName(answer->error().code()));
    }
  };

  void Make(HttpApiPairOptions options = {}) {
    pair_.emplace(world_.loop(0), world_.loop(1), world_.random(),
                  *net::Address::Ip("127.0.0.1", 6443), options);
  }
  struct Rate {
    double per_second;
    uint32_t burst;
  };
  void MakeLimited(const Rate& rate) {
    HttpApiPairOptions options;
    options.client.requests_per_second = rate.per_second;
    options.client.requests_burst = rate.burst;
    Make(options);
  }
  TimePoint Now() { return world_.clock().Now(); }
  void RunFor(Duration time) { world_.RunUntil(After(Now(), time)); }
  bool Run(const std::function<bool()>& done, Duration limit = Minutes(10)) {
    const TimePoint end = After(Now(), limit);
    while (!done() && Now() < end && world_.Step()) {
    }
    return done();
  }
  std::shared_ptr<Asked> Ask(const sync::ApiRequest& request, Duration timeout = Minutes(1),
                             Priority priority = Priority::kNormal) {
    auto asked = std::make_shared<Asked>();
    Context context = Context{}.WithTimeout(Now(), timeout);
    context.priority = priority;
    pair_->client->Send(context, request,
                        [this, asked, start = Now()](Result<sync::ApiObject> result) {
                          EXPECT_FALSE(asked->answer.has_value()) << "answered twice";
                          asked->answer.emplace(std::move(result));
                          asked->took = Now() - start;
                        });
    return asked;
  }
  std::shared_ptr<Asked> AskAndWait(const sync::ApiRequest& request,
                                    Duration timeout = Minutes(1)) {
    auto asked = Ask(request, timeout);
    EXPECT_TRUE(Run([&] { return asked->answer.has_value(); }));
    return asked;
  }
  bool RunUntilAnswered(const std::vector<std::shared_ptr<Asked>>& asked) {
    return Run([&asked] {
      return std::ranges::all_of(asked, [](const auto& one) { return one->answer.has_value(); });
    });
  }
  static std::string Name(ErrorCode code) { return std::string(ErrorCodeName(code)); }

  const sync::ApiRequest get_ = RequestOf(ApiVerb::kGet, kube::kConfigMaps, {"default", "a"});
  const sync::ApiRequest create_ = CreateRequest(kube::kConfigMaps, MakeConfigMap("a"));
  sim::World world_{{.seed = 1, .shards = 2}};
  std::optional<HttpApiPair> pair_;
};

TEST_F(ApiRequestsSim, ABusyServerIsGivenTheTimeItAskedFor) {
  Make();
  pair_->model.faults().too_many_requests = 2;
  pair_->model.faults().retry_after_seconds = 7;
  const auto asked = AskAndWait(create_);
  EXPECT_EQ(asked->code(), "ok");
  EXPECT_GE(asked->took, Seconds(14));
  EXPECT_LE(asked->took, Seconds(16));
  EXPECT_EQ(pair_->server.counters().requests, 3u);
}

TEST_F(ApiRequestsSim, WhoWasTurnedAwayTogetherDoesNotComeBackTogether) {
  HttpApiPairOptions options;
  options.client.requests_per_second = 0;
  Make(options);
  pair_->model.faults().too_many_requests = 50;
  pair_->model.faults().retry_after_seconds = 5;
  std::vector<std::shared_ptr<Asked>> all;
  for (int i = 0; i < 50; ++i) all.push_back(Ask(get_));
  ASSERT_TRUE(Run([&] {
    return std::ranges::all_of(all, [](const auto& each) { return each->answer.has_value(); });
  }));
  const auto [first, last] =
      std::ranges::minmax(all, {}, [](const auto& each) { return each->took; });
  EXPECT_GE(first->took, Seconds(5));
  EXPECT_GE(last->took - first->took, Milliseconds(500));
  EXPECT_LE(last->took, Seconds(7));
}

TEST_F(ApiRequestsSim, NobodyWaitsForARetryBeyondTheDeadline) {
  Make();
  pair_->model.faults().too_many_requests = 100;
  pair_->model.faults().retry_after_seconds = 7;
  const auto asked = AskAndWait(create_, Seconds(10));
  EXPECT_EQ(asked->code(), Name(ErrorCode::kOverloaded));
  EXPECT_LE(asked->took, Seconds(8));
  EXPECT_EQ(pair_->server.counters().requests, 2u);
}

TEST_F(ApiRequestsSim, TriesAreFew) {
  Make();
  pair_->model.faults().internal_errors = 1000;
  const auto asked = AskAndWait(get_, Hours(1));
  EXPECT_EQ(asked->code(), Name(ErrorCode::kUnavailable));
  EXPECT_EQ(pair_->server.counters().requests, 10u);
  // What may have been done is not done again.
  const auto created = AskAndWait(create_, Hours(1));
  EXPECT_EQ(created->code(), Name(ErrorCode::kUnknownOutcome));
  EXPECT_TRUE(created->answer->error().answered());
  EXPECT_EQ(pair_->server.counters().requests, 11u);
}

TEST_F(ApiRequestsSim, ALostAnswerIsUnknownAndAGetIsAskedAgain) {
  Make();
  pair_->server.faults().lost_answer = 1;
  const auto created = AskAndWait(create_);
  EXPECT_EQ(created->code(), Name(ErrorCode::kUnknownOutcome));
  EXPECT_FALSE(created->answer->error().answered());
  EXPECT_FALSE(pair_->model.Find(kube::kConfigMaps, {"default", "a"}).empty()) << "it was done";
  const auto got = Ask(get_);
  RunFor(Seconds(1));
  pair_->server.faults().lost_answer = 0;
  ASSERT_TRUE(Run([&] { return got->answer.has_value(); }));
  EXPECT_EQ(got->code(), "ok");
}

TEST_F(ApiRequestsSim, AGetNeverHasAnUnknownOutcome) {
  Make();
  pair_->server.faults().lost_answer = 1;
  EXPECT_EQ(AskAndWait(get_, Hours(1))->code(), Name(ErrorCode::kUnavailable)) << "all tries";
  pair_->server.faults() = {.silent = 1};
  const auto late = AskAndWait(get_, Seconds(20));
  EXPECT_EQ(late->code(), Name(ErrorCode::kDeadlineExceeded));
  EXPECT_LE(late->took, Seconds(21));
  const auto unknown = AskAndWait(create_, Seconds(20));
  EXPECT_EQ(unknown->code(), Name(ErrorCode::kUnknownOutcome));
}

TEST_F(ApiRequestsSim, WhatIsSentWhileTheServerIsDownIsSentWhenItIsUp) {
  Make();
  pair_->server.Crash();
  const auto asked = Ask(create_, Minutes(2));
  RunFor(Seconds(20));
  EXPECT_FALSE(asked->answer.has_value());
  EXPECT_LE(pair_->dials, 20u) << "dialled in a tight loop";
  pair_->server.Start(*net::Address::Ip("127.0.0.1", 6443));
  ASSERT_TRUE(Run([&] { return asked->answer.has_value(); }, Minutes(1)));
  EXPECT_EQ(asked->code(), "ok");
  EXPECT_EQ(pair_->server.counters().requests, 1u);
}

TEST_F(ApiRequestsSim, RequestsOfAClassAreLimitedAndHeartbeatsAreNot) {
  MakeLimited({.per_second = 5, .burst = 10});
  std::vector<std::shared_ptr<Asked>> asked;
  for (int i = 0; i < 60; ++i) asked.push_back(Ask(get_));
  sync::ApiRequest heartbeat = get_;
  heartbeat.traffic = sync::ApiTraffic::kHeartbeat;
  const auto first = AskAndWait(heartbeat);
  EXPECT_LE(first->took, Seconds(1)) << "it waited behind requests";
  ASSERT_TRUE(RunUntilAnswered(asked));
  EXPECT_GE(asked.back()->took, Seconds(9));
  EXPECT_LE(asked.back()->took, Seconds(12));
}

TEST_F(ApiRequestsSim, RetriesAreLimitedLikeFirstTries) {
  MakeLimited({.per_second = 5, .burst = 10});
  pair_->model.faults().too_many_requests = 100'000;
  std::vector<std::shared_ptr<Asked>> asked;
  for (int i = 0; i < 40; ++i) asked.push_back(Ask(get_));
  RunFor(Seconds(20));
  EXPECT_LE(pair_->server.counters().requests, 10u + 20 * 5 + 1);
  EXPECT_GE(pair_->server.counters().requests, 20u * 5);
  pair_->model.faults().too_many_requests = 0;
  ASSERT_TRUE(RunUntilAnswered(asked));
}

TEST_F(ApiRequestsSim, WhatIsUrgentDoesNotWaitBehindAThousandThatAreNot) {
  MakeLimited({.per_second = 50, .burst = 100});
  std::vector<std::shared_ptr<Asked>> ordinary;
  for (int i = 0; i < 1000; ++i) ordinary.push_back(Ask(get_));
  RunFor(Seconds(1));
  const auto ready = Ask(get_, Seconds(10), Priority::kReadiness);
  const auto ended = Ask(get_, Seconds(10), Priority::kCritical);
  ASSERT_TRUE(Run([&] { return ready->answer && ended->answer; }));
  EXPECT_EQ(ready->code(), Name(ErrorCode::kNotFound));
  EXPECT_EQ(ended->code(), Name(ErrorCode::kNotFound));
  EXPECT_LE(std::max(ready->took, ended->took), Milliseconds(200));
  ASSERT_TRUE(Run([&] { return ordinary.back()->answer.has_value(); }));
  EXPECT_LE(ordinary.back()->took, Seconds(19)) << "the rate is what it was";
}

TEST_F(ApiRequestsSim, WhatIsNotUrgentGetsItsTurnBesideManyThatAre) {
  MakeLimited({.per_second = 50, .burst = 1});
  AskAndWait(get_);
  std::vector<std::shared_ptr<Asked>> background, urgent;
  for (int i = 0; i < 10; ++i) {
    background.push_back(Ask(get_, Minutes(1), Priority::kBackground));
  }
  for (int i = 0; i < 1000; ++i) urgent.push_back(Ask(get_, Minutes(1), Priority::kCritical));
  ASSERT_TRUE(Run([&] { return background.back()->answer.has_value(); }));
  EXPECT_LE(background.back()->took, Seconds(3));
  EXPECT_FALSE(urgent.back()->answer.has_value());
}

// Only our own limit is to blame, and whoever asked must be able to tell.
TEST_F(ApiRequestsSim, WhoGetsNoTurnInTimeIsNotToldThatTheServerWasSilent) {
  MakeLimited({.per_second = 1, .burst = 1});
  AskAndWait(get_);
  std::vector<std::shared_ptr<Asked>> asked;
  for (int i = 0; i < 30; ++i) asked.push_back(Ask(create_, Seconds(10)));
  RunFor(Seconds(11));
  for (const auto& each : asked) ASSERT_TRUE(each->answer.has_value());
  const Error& late = asked.back()->answer->error();
  EXPECT_EQ(late.code(), ErrorCode::kOverloaded);
  EXPECT_FALSE(late.answered());
  EXPECT_THAT(late.message(), testing::HasSubstr("kubeAPIQPS (1 a second)"));
  EXPECT_FALSE(pair_->transport->contact().unreachable().has_value());
  EXPECT_LE(asked.back()->took, Seconds(8)) << "what is sent later has no time for an answer";
  EXPECT_LE(pair_->server.counters().requests, 12u);
  EXPECT_LE(AskAndWait(get_)->took, Seconds(2)) << "who left still holds a place";
}

// What the server said to the try before says more than that there was no turn for another.
TEST_F(ApiRequestsSim, WhoGetsNoTurnForAnotherTryIsToldOfTheLastOne) {
  MakeLimited({.per_second = 1, .burst = 1});
  pair_->model.faults().too_many_requests = 1;
  pair_->model.faults().retry_after_seconds = 1;
  const auto asked = Ask(create_, Seconds(8), Priority::kBackground);
  RunFor(Milliseconds(100));
  std::vector<std::shared_ptr<Asked>> others;
  for (int i = 0; i < 30; ++i) others.push_back(Ask(get_, Minutes(1), Priority::kCritical));
  ASSERT_TRUE(Run([&] { return asked->answer.has_value(); }));
  EXPECT_EQ(asked->code(), Name(ErrorCode::kOverloaded));
  EXPECT_TRUE(asked->answer->error().answered()) << asked->answer->error().message();
}

TEST_F(ApiRequestsSim, AClientThatEndsWhileRequestsWaitForTheirTurnCallsNobody) {
  MakeLimited({.per_second = 1, .burst = 3});
  int answers = 0;
  for (int i = 0; i < 100; ++i) {
    pair_->client->Send({}, get_, [&](const Result<sync::ApiObject>&) { ++answers; });
  }
  pair_->client.reset();
  RunFor(Minutes(2));
  EXPECT_EQ(answers, 0);
}

TEST_F(ApiRequestsSim, RequestsThatAreGivenUpGiveTheirTurnBack) {
  MakeLimited({.per_second = 1, .burst = 1});
  AskAndWait(get_);
  CancelSource source;
  Context context;
  context.cancel = source.token();
  int cancelled = 0;
  for (int i = 0; i < 100; ++i) {
    pair_->client->Send(context, get_, [&](Result<sync::ApiObject>) { ++cancelled; });
  }
  source.Cancel();
  ASSERT_TRUE(Run([&] { return cancelled == 100; }));
  EXPECT_LE(AskAndWait(get_)->took, Seconds(3)) << "it waits behind those that were cancelled";
}

TEST_F(ApiRequestsSim, AThousandWatchesDoNotHoldUpRequestsOfAServerWithOneStream) {
  for (const uint32_t streams_max : {1u, 100u}) {
    SCOPED_TRACE(streams_max);
    HttpApiPairOptions options;
    options.server.streams_max = streams_max;
    options.client.requests_per_second = 0;
    Make(options);
    std::vector<std::unique_ptr<FollowedObjects>> users;
    std::vector<std::unique_ptr<sync::ListWatch>> watches;
    for (int i = 0; i < 1000; ++i) {
      users.push_back(std::make_unique<FollowedObjects>());
      watches.push_back(
          pair_->client->Follow({.resource = kube::kConfigMaps,
                                 .ns = "default",
                                 .field_selector = "metadata.name=n" + std::to_string(i)},
                                *users.back()));
    }
    for (int i = 0; i < 50; ++i) {
      sync::ApiRequest request = get_;
      if (i % 2 == 0) request.traffic = sync::ApiTraffic::kHeartbeat;
      const auto asked = AskAndWait(request);
      EXPECT_EQ(asked->code(), Name(ErrorCode::kNotFound));
      EXPECT_LE(asked->took, Milliseconds(500));
    }
    RunFor(Seconds(20));
    const auto synced = static_cast<size_t>(
        std::ranges::count_if(users, [](const auto& user) { return user->synced > 0; }));
    EXPECT_EQ(synced, streams_max == 1 ? 64u : 1000u);
    EXPECT_EQ(pair_->server.open_watches(), synced);
    EXPECT_LE(pair_->server.streams_peak(), streams_max);
    EXPECT_EQ(AskAndWait(get_)->code(), Name(ErrorCode::kNotFound));
    watches.clear();
    pair_.reset();
    RunFor(Seconds(1));  // the listener goes
  }
}

TEST_F(ApiRequestsSim, AWatchThatIsNotAnsweredIsGivenUp) {
  Make();
  pair_->server.faults().silent = 1;
  FollowedObjects user;
  const auto watch = pair_->client->Follow({.resource = kube::kPods}, user);
  RunFor(Seconds(5));
  pair_->server.faults() = {};
  EXPECT_TRUE(Run([&] { return user.synced == 1; }, Minutes(2)));
  EXPECT_EQ(user.troubles.size(), 1u);
}

TEST_F(ApiRequestsSim, AWatchThatEndsAgainAndAgainIsNotAskedForInATightLoop) {
  HttpApiPairOptions options;
  options.server.bookmark_period = Milliseconds(10);
  Make(options);
  FollowedObjects user;
  const auto watch = pair_->client->Follow({.resource = kube::kPods}, user);
  ASSERT_TRUE(Run([&] { return user.synced == 1; }));
  const uint64_t before = pair_->server.counters().requests;
  const TimePoint end = After(Now(), Minutes(1));
  // Each brings a bookmark that says nothing new, and then its end.
  while (Now() < end) {
    RunFor(Milliseconds(20));
    pair_->server.EndWatches();
  }
  EXPECT_LE(pair_->server.counters().requests - before, 60u);
}

TEST_F(ApiRequestsSim, CredentialsThatComeLateAreWaitedFor) {
  LateCredentials credentials(world_.loop(1));
  HttpApiPairOptions options;
  options.credentials = &credentials;
  options.server.token = "Bearer one";
  Make(options);
  FollowedObjects user;
  auto watch = pair_->client->Follow({.resource = kube::kPods}, user);
  const auto asked = Ask(create_);
  RunFor(Seconds(5));
  EXPECT_EQ(credentials.waiting(), 2u);
  EXPECT_EQ(pair_->server.counters().requests, 0u);
  credentials.Become("Bearer one");
  ASSERT_TRUE(Run([&] { return asked->answer.has_value() && user.synced == 1; }));
  EXPECT_EQ(asked->code(), "ok");
  EXPECT_TRUE(user.troubles.empty());
  watch.reset();
  pair_.reset();
}

// A token expires between two looks at the clock.
TEST_F(ApiRequestsSim, CredentialsThatComeDueWhileARequestIsMadeAreNoFault) {
  class FadingCredentials final : public kube::Credentials {
   public:
    explicit FadingCredentials(reactor::Loop& loop) : loop_(loop) {}
    const std::string* Authorization() override { return ++looks % 2 == 1 ? &value_ : nullptr; }
    void WhenReady(const Context&, reactor::Done<Unit> done) override {
      loop_.Post([done = std::move(done)]() mutable { done(Ok()); });
    }
    bool Refused() override { return false; }
    int looks = 0;

   private:
    reactor::Loop& loop_;
    const std::string value_ = "Bearer one";
  } credentials(world_.loop(1));
  HttpApiPairOptions options;
  options.credentials = &credentials;
  options.server.token = "Bearer one";
  Make(options);
  for (int i = 0; i < 3; ++i) {
    credentials.looks = i;
    FollowedObjects user;
    auto watch = pair_->client->Follow({.resource = kube::kPods}, user);
    const auto asked = Ask(get_);
    ASSERT_TRUE(Run([&] { return asked->answer.has_value() && user.synced == 1; }));
    EXPECT_EQ(asked->code(), Name(ErrorCode::kNotFound));
    EXPECT_TRUE(user.troubles.empty());
  }
  pair_.reset();
}

TEST_F(ApiRequestsSim, CredentialsThatAreRefusedOnceAreRenewed) {
  LateCredentials credentials(world_.loop(1));
  credentials.Become("Bearer old");
  credentials.next = "Bearer new";
  HttpApiPairOptions options;
  options.credentials = &credentials;
  options.server.token = "Bearer new";
  Make(options);
  const auto asked = AskAndWait(create_);
  EXPECT_EQ(asked->code(), "ok");
  EXPECT_EQ(pair_->server.counters().refused_401, 1u);
  credentials.Become("Bearer old");
  FollowedObjects user;
  auto watch = pair_->client->Follow({.resource = kube::kPods}, user);
  ASSERT_TRUE(Run([&] { return user.synced == 1; }, Seconds(30)));
  EXPECT_EQ(user.troubles.size(), 1u);
  EXPECT_EQ(credentials.refused, 2);
  watch.reset();
  pair_.reset();
}

TEST_F(ApiRequestsSim, CredentialsThatStayWrongAreToldAndNotTriedForEver) {
  LateCredentials credentials(world_.loop(1));
  credentials.Become("Bearer old");
  credentials.next = "Bearer old";
  HttpApiPairOptions options;
  options.credentials = &credentials;
  options.server.token = "Bearer new";
  Make(options);
  FollowedObjects user;
  auto watch = pair_->client->Follow({.resource = kube::kPods}, user);
  const auto asked = AskAndWait(create_);
  EXPECT_EQ(asked->code(), Name(ErrorCode::kPermission));
  RunFor(Minutes(10));
  EXPECT_EQ(user.synced, 0);
  EXPECT_LE(pair_->server.counters().requests, 60u);
  credentials.next = "Bearer new";
  EXPECT_TRUE(Run([&] { return user.synced == 1; }, Minutes(2)));
  watch.reset();
  pair_.reset();
}

TEST_F(ApiRequestsSim, CredentialsThatCannotBeHadAreAnError) {
  LateCredentials credentials(world_.loop(1));
  HttpApiPairOptions options;
  options.credentials = &credentials;
  Make(options);
  const auto asked = Ask(create_);
  RunFor(Seconds(1));
  credentials.Fail(Error(ErrorCode::kNotFound, "no such file"));
  ASSERT_TRUE(Run([&] { return asked->answer.has_value(); }));
  EXPECT_EQ(asked->code(), Name(ErrorCode::kNotFound));
  const auto late = AskAndWait(create_, Seconds(3));
  EXPECT_EQ(late->code(), Name(ErrorCode::kDeadlineExceeded));
  pair_.reset();
}

}  // namespace
}  // namespace denselet::fakes
