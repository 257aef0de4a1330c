#include "tests/managers/secrets/objects_fixture.h"

namespace denselet::managers::tests {
namespace {

using Lines = std::vector<std::string>;
using sync::ApiVerb;

TEST_F(ObjectsTest, EachObjectHasOneWatchByItsNameForAllPods) {
  Make();
  Join();
  PutMap(ApiVerb::kCreate, "settings", "1");
  for (const char* uid : {"a", "b"}) fronts_[1]->Follow(Pod(uid, EnvFrom("settings")));
  fronts_[0]->Follow(Pod("c", Volume("settings")));
  Run(Seconds(1));
  EXPECT_EQ(api_.followed, (Lines{"configmaps space metadata.name=settings"}));
  EXPECT_EQ(FetchNow(0, MapKey("settings")), "1");
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "1");
  EXPECT_TRUE(api_.requests.empty()) << "what is watched is not asked for";
  EXPECT_EQ(home_->objects().size(), 1u);
}

TEST_F(ObjectsTest, AChangeIsToldToThePodsThatReferToIt) {
  Make();
  Join();
  PutMap(ApiVerb::kCreate, "settings", "1");
  fronts_[0]->Follow(Pod("a", Volume("settings")));
  fronts_[1]->Follow(Pod("b", Volume("settings")));
  fronts_[1]->Follow(Pod("c", Volume("other")));
  Run(Seconds(1));
  for (Listener& listener : listeners_) listener.told.clear();
  PutMap(ApiVerb::kUpdate, "settings", "2");
  Run(Seconds(1));
  EXPECT_EQ(listeners_[0].told, (Lines{"a settings"}));
  EXPECT_EQ(listeners_[1].told, (Lines{"b settings"}));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "2");
  DeleteMap("settings");
  Run(Seconds(1));
  EXPECT_EQ(listeners_[1].told.size(), 2u);
  EXPECT_EQ(FetchNow(1, MapKey("settings")), R"(configmap "settings" not found)");
}

TEST_F(ObjectsTest, OneThatIsMissingIsToldWhenItComes) {
  Make();
  Join();
  fronts_[1]->Follow(Pod("a", EnvFrom("late")));
  const auto asked = Fetch(1, MapKey("late"));
  Run(Seconds(1));
  EXPECT_EQ(asked->text, R"(configmap "late" not found)");
  EXPECT_EQ(asked->code, ErrorCode::kNotFound);
  listeners_[1].told.clear();
  PutMap(ApiVerb::kCreate, "late", "here");
  Run(Seconds(1));
  EXPECT_EQ(listeners_[1].told, (Lines{"a late"}));
  EXPECT_EQ(FetchNow(1, MapKey("late")), "here");
  EXPECT_TRUE(api_.requests.empty());
}

TEST_F(ObjectsTest, TheLastPodTakesTheWatchWithIt) {
  Make();
  Join();
  PutMap(ApiVerb::kCreate, "settings", "1");
  fronts_[0]->Follow(Pod("a", Volume("settings")));
  fronts_[1]->Follow(Pod("b", Volume("settings")));
  Run(Seconds(1));
  fronts_[0]->Unfollow(PodUid("a"));
  Run(Seconds(1));
  EXPECT_EQ(home_->objects().watches(), 1u);
  // A newer form of the pod refers to another one.
  fronts_[1]->Follow(Pod("b", Volume("other")));
  Run(Seconds(1));
  EXPECT_EQ(home_->objects().size(), 1u);
  fronts_[1]->Unfollow(PodUid("b"));
  fronts_[1]->Unfollow(PodUid("never"));
  Run(Seconds(1));
  EXPECT_EQ(home_->objects().size(), 0u);
  EXPECT_EQ(fronts_[1]->pods(), 0u);
}

TEST_F(ObjectsTest, ImmutableOnesAreNotWatchedOnceTheyWereRead) {
  Make();
  Join();
  PutMap(ApiVerb::kCreate, "stone", "1", true);
  fronts_[1]->Follow(Pod("a", Volume("stone")));
  EXPECT_EQ(FetchNow(1, MapKey("stone")), "1");
  EXPECT_EQ(home_->objects().watches(), 0u);
  fronts_[0]->Follow(Pod("b", EnvFrom("stone")));
  EXPECT_EQ(FetchNow(0, MapKey("stone")), "1");
  EXPECT_EQ(home_->objects().watches(), 0u);
  EXPECT_EQ(api_.followed.size(), 1u);
}

TEST_F(ObjectsTest, WhatIsReadOnceIsLetGoWhenNobodyReadsIt) {
  Make();
  Join();
  PutMap(ApiVerb::kCreate, "once", "1");
  PutMap(ApiVerb::kCreate, "live", "1");
  fronts_[1]->Follow(Pod("a", EnvFrom("once") + "," + Volume("live")));
  EXPECT_EQ(FetchNow(1, MapKey("once")), "1");
  EXPECT_EQ(home_->objects().watches(), 2u);
  Run(Minutes(8));
  EXPECT_EQ(home_->objects().watches(), 1u) << "a volume wants to know of changes";
  PutMap(ApiVerb::kUpdate, "once", "2");
  EXPECT_EQ(FetchNow(1, MapKey("once")), "2") << "asked for again, it is read again";
}

// Its watch is over, so nothing is saved by forgetting it; and a container must be able to restart.
TEST_F(ObjectsTest, AnImmutableOneServesAlsoWhenNobodyReadItForLongAndTheServerIsAway) {
  Make();
  Join();
  PutMap(ApiVerb::kCreate, "stone", "1", true);
  fronts_[1]->Follow(Pod("a", EnvFrom("stone")));
  EXPECT_EQ(FetchNow(1, MapKey("stone")), "1");
  Run(Minutes(8));
  server_.Crash();
  Run(Minutes(1));
  EXPECT_EQ(FetchNow(1, MapKey("stone")), "1");
  EXPECT_EQ(api_.followed.size(), 1u);
}

TEST_F(ObjectsTest, WithoutAServerAQuestionIsAnsweredAfterAWhileAndTheAnswerToldWhenItComes) {
  Make();
  PutMap(ApiVerb::kCreate, "settings", "1");
  fronts_[1]->Follow(Pod("a", EnvFrom("settings")));
  const TimePoint began = world_.clock().Now();
  const auto asked = Fetch(1, MapKey("settings"));
  Run(Minutes(1));
  EXPECT_EQ(asked->text, "failed to sync configmap cache: timed out waiting for the condition");
  EXPECT_LT(asked->at - began, Seconds(6));
  Join();
  Run(Seconds(2));
  EXPECT_EQ(listeners_[1].told, (Lines{"a settings"}));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "1");
}

TEST_F(ObjectsTest, AServerThatIsAwayLeavesWhatWasKnown) {
  Make();
  Join();
  PutMap(ApiVerb::kCreate, "settings", "1");
  fronts_[1]->Follow(Pod("a", Volume("settings")));
  Run(Seconds(1));
  server_.Crash();
  Run(Minutes(5));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "1");
  PutMap(ApiVerb::kUpdate, "settings", "2");
  server_.Start();
  Run(Minutes(2));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "2");
}

TEST_F(ObjectsTest, AQuestionThatNobodyWantsAnswersAtOnce) {
  Make();  // nobody to ask
  fronts_[1]->Follow(Pod("a", EnvFrom("settings")));
  CancelSource cancel;
  Context context;
  context.cancel = cancel.token();
  const auto asked = Fetch(1, MapKey("settings"), context);
  Run(Seconds(1));
  EXPECT_EQ(asked->text, "nothing");
  cancel.Cancel();
  EXPECT_EQ(asked->text, "nothing") << "not inside of the cancel";
  Run(Milliseconds(10));
  EXPECT_EQ(asked->code, ErrorCode::kCancelled);
  Run(Minutes(1));
}

TEST_F(ObjectsTest, OneThatNobodyFollowsIsAskedForThisOnce) {
  Make();
  Join();
  PutMap(ApiVerb::kCreate, "settings", "1");
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "1");
  EXPECT_EQ(FetchNow(1, SecretKey("none")), R"(secret "none" not found)");
  EXPECT_EQ(api_.requests.size(), 2u);
  EXPECT_TRUE(api_.followed.empty());
}

TEST_F(ObjectsTest, CacheAsksNoMoreOftenThanItsTimeAllows) {
  PodObjectsOptions options;
  options.objects.detection = ChangeDetection::kCache;
  Make(options);
  Join();
  PutMap(ApiVerb::kCreate, "settings", "1");
  fronts_[1]->Follow(Pod("a", Volume("settings")));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "1");
  EXPECT_EQ(FetchNow(0, MapKey("settings")), "1");
  EXPECT_EQ(api_.requests.size(), 1u);
  PutMap(ApiVerb::kUpdate, "settings", "2");
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "1") << "until its time is over";
  // A pod that is new here sees what is true now.
  fronts_[0]->Follow(Pod("b", EnvFrom("settings")));
  EXPECT_EQ(FetchNow(0, MapKey("settings")), "2");
  listeners_[1].told.clear();
  PutMap(ApiVerb::kUpdate, "settings", "3");
  Run(Minutes(3));
  EXPECT_EQ(listeners_[1].told, (Lines{"a settings"})) << "volumes hear of it without asking";
  EXPECT_TRUE(api_.followed.empty());
}

TEST_F(ObjectsTest, CacheAsksAnewForEachPodThatComesAlsoOfTheSameShard) {
  PodObjectsOptions options;
  options.objects.detection = ChangeDetection::kCache;
  Make(options);
  Join();
  PutMap(ApiVerb::kCreate, "settings", "1");
  fronts_[1]->Follow(Pod("a", Volume("settings")));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "1");
  PutMap(ApiVerb::kUpdate, "settings", "2");
  fronts_[1]->Follow(Pod("b", EnvFrom("settings")));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "2");
  PutMap(ApiVerb::kUpdate, "settings", "3");
  // The same pod in a newer form is no new one, nor is one that has gone.
  fronts_[1]->Follow(Pod("b", Volume("settings")));
  fronts_[1]->Unfollow(PodUid("a"));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "2");
  EXPECT_EQ(api_.requests.size(), 2u);
}

// The answer that comes may have been read before the pod was made, and what it refers to changed.
TEST_F(ObjectsTest, CacheLooksAgainForAPodThatComesWhileItLooks) {
  PodObjectsOptions options;
  options.objects.detection = ChangeDetection::kCache;
  Make(options);
  Join();
  PutMap(ApiVerb::kCreate, "settings", "1");
  fronts_[1]->Follow(Pod("a", EnvFrom("settings")));
  api_.answers_wait = true;
  const auto first = Fetch(1, MapKey("settings"));
  Run(Seconds(1));
  PutMap(ApiVerb::kUpdate, "settings", "2");
  fronts_[1]->Follow(Pod("b", EnvFrom("settings")));
  const auto second = Fetch(1, MapKey("settings"));
  Run(Seconds(1));
  EXPECT_EQ(second->text, "nothing");
  api_.LetAnswersCome();
  Run(Seconds(1));
  EXPECT_EQ(second->text, "2");
  EXPECT_NE(first->text, "nothing");
  EXPECT_EQ(api_.requests.size(), 2u);
}

// In a dense start one comes in each round trip.
TEST_F(ObjectsTest, CacheAnswersWhoCameBeforeItLookedThoughOthersKeepComing) {
  PodObjectsOptions options;
  options.objects.detection = ChangeDetection::kCache;
  Make(options);
  Join();
  PutMap(ApiVerb::kCreate, "settings", "1");
  std::vector<decltype(Fetch(1, MapKey("settings")))> answers;
  api_.answers_wait = true;
  for (int i = 0; i < 5; ++i) {
    fronts_[1]->Follow(Pod("p" + std::to_string(i), EnvFrom("settings")));
    answers.push_back(Fetch(1, MapKey("settings")));
    Run(Seconds(1));
    if (i == 0) continue;
    EXPECT_EQ(answers[i - 1]->text, "nothing");
    api_.LetOneCome();
    Run(Seconds(1));
    EXPECT_EQ(answers[i - 1]->text, "1");
    EXPECT_EQ(answers[i]->text, "nothing") << "what was read before the pod came is not for it";
  }
  api_.LetAnswersCome();
  Run(Seconds(1));
  EXPECT_EQ(answers.back()->text, "1");
  EXPECT_EQ(api_.requests.size(), 5u);
}

TEST_F(ObjectsTest, CacheIsRefreshedFromTheServersCacheAndNeverByAnOlderOne) {
  PodObjectsOptions options;
  options.objects.detection = ChangeDetection::kCache;
  Make(options);
  Join();
  EXPECT_EQ(FetchNow(1, MapKey("settings")), R"(configmap "settings" not found)");
  PutMap(ApiVerb::kCreate, "settings", "1");
  const sync::ApiObject first = MapNow("settings");
  PutMap(ApiVerb::kUpdate, "settings", "2");
  fronts_[1]->Follow(Pod("a", EnvFrom("settings")));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "2");
  EXPECT_EQ(api_.requests.back().resource_version, "") << "a new pod wants what is true now";
  Run(Minutes(2));
  api_.cached = first;
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "2");
  EXPECT_EQ(api_.requests.back().resource_version, "0");
  api_.cached.reset();
  PutMap(ApiVerb::kUpdate, "settings", "3");
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "3") << "it was no look";
  EXPECT_EQ(api_.requests.back().resource_version, "0");
  DeleteMap("settings");
  Run(Minutes(2));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), R"(configmap "settings" not found)");
  Run(Minutes(2));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), R"(configmap "settings" not found)");
  EXPECT_EQ(api_.requests.back().resource_version, "") << "what is missing is asked for anew";
}

TEST_F(ObjectsTest, HowLongCacheCountsIsTheNodesToSay) {
  PodObjectsOptions options;
  options.objects.detection = ChangeDetection::kCache;
  Make(options);
  Join();
  PutMap(ApiVerb::kCreate, "settings", "1");
  fronts_[1]->Follow(Pod("a", Volume("settings")));
  home_->objects().SetTtl(Duration::zero());
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "1");
  PutMap(ApiVerb::kUpdate, "settings", "2");
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "2") << "nothing is kept";
  home_->objects().SetTtl(Minutes(10));
  Run(Minutes(5));
  const size_t asked = api_.requests.size();
  PutMap(ApiVerb::kUpdate, "settings", "3");
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "2");
  Run(Minutes(2));
  EXPECT_EQ(api_.requests.size(), asked) << "nobody looks before its time";
  Run(Minutes(10));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "3");
  home_->objects().SetTtl(std::nullopt);
  Run(Minutes(2));
  PutMap(ApiVerb::kUpdate, "settings", "4");
  Run(Minutes(2));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "4");
}

TEST_F(ObjectsTest, GetAsksEveryTime) {
  PodObjectsOptions options;
  options.objects.detection = ChangeDetection::kGet;
  Make(options);
  Join();
  PutMap(ApiVerb::kCreate, "settings", "1");
  fronts_[1]->Follow(Pod("a", EnvFrom("settings")));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "1");
  PutMap(ApiVerb::kUpdate, "settings", "2");
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "2");
  EXPECT_EQ(api_.requests.size(), 2u);
  EXPECT_TRUE(api_.followed.empty());
}

TEST_F(ObjectsTest, AnOlderOneServesWhenTheCacheCannotAsk) {
  PodObjectsOptions options;
  options.objects.detection = ChangeDetection::kCache;
  Make(options);
  Join();
  PutMap(ApiVerb::kCreate, "settings", "1");
  fronts_[1]->Follow(Pod("a", EnvFrom("settings")));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "1");
  Run(Minutes(2));
  server_.Crash();
  EXPECT_EQ(FetchNow(1, MapKey("settings"), Seconds(40)), "1");
  PutMap(ApiVerb::kUpdate, "settings", "2");
  server_.Start();
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "2") << "a look that failed has shown nothing";
}

// More objects than the connections have streams.
TEST_F(ObjectsTest, OneWhoseWatchHasNoPlaceIsAskedFor) {
  Make();
  Join();
  api_.watches_wait = true;
  PutMap(ApiVerb::kCreate, "settings", "1");
  fronts_[1]->Follow(Pod("a", Volume("settings")));
  const auto asked = Fetch(1, MapKey("settings"));
  Run(Seconds(4));
  EXPECT_EQ(asked->text, "nothing") << "the watch may come";
  Run(Seconds(2));
  EXPECT_EQ(asked->text, "1");
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "1");
  EXPECT_EQ(api_.requests.size(), 1u) << "what was seen is true for a while";
  listeners_[1].told.clear();
  PutMap(ApiVerb::kUpdate, "settings", "2");
  Run(Minutes(3));
  EXPECT_EQ(listeners_[1].told, (Lines{"a settings"}));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "2");
  EXPECT_LE(api_.requests.size(), 5u);
  EXPECT_EQ(FetchNow(1, MapKey("none"), Seconds(20)), R"(configmap "none" not found)");
}

TEST_F(ObjectsTest, ChangesSurviveBreaksOfTheWatch) {
  server_.faults().broken_watch = 0.3;
  server_.faults().repeated_list = 0.5;
  Make();
  Join();
  PutMap(ApiVerb::kCreate, "settings", "0");
  fronts_[1]->Follow(Pod("a", Volume("settings")));
  for (int i = 1; i <= 30; ++i) {
    Run(Seconds(10));
    if (i % 7 == 0) {
      DeleteMap("settings");
      PutMap(ApiVerb::kCreate, "settings", std::to_string(i));
    } else {
      PutMap(ApiVerb::kUpdate, "settings", std::to_string(i));
    }
  }
  Run(Minutes(5));
  EXPECT_EQ(FetchNow(1, MapKey("settings")), "30");
}

TEST_F(ObjectsTest, WhatIsAskedWhenItEndsIsAnswered) {
  Make();
  fronts_[1]->Follow(Pod("a", EnvFrom("settings")));
  const auto asked = Fetch(1, MapKey("settings"));
  Run(Milliseconds(100));
  home_.reset();
  Run(Seconds(1));
  EXPECT_NE(asked->text, "nothing");
  EXPECT_NE(FetchNow(1, MapKey("settings")), "nothing");
  fronts_.clear();
  Run(Seconds(1));
}

}  // namespace
}  // namespace denselet::managers::tests
