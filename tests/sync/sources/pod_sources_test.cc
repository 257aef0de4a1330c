#include "sync/sources/pod_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/capturing_log_sink.h"
#include "tests/sim/world.h"
#include "tests/sync/sources/pods.h"

namespace denselet::sync {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr SourceKind kApi = SourceKind::kApi;
constexpr SourceKind kFile = SourceKind::kFile;
constexpr SourceKind kHttp = SourceKind::kHttp;

class PodSourcesTest : public testing::Test, public DesiredPodsUser {
 protected:
  PodSourcesTest() : world_({.shards = 1}) {}

  void Make(SourceSet configured) {
    sources_ = std::make_unique<PodSources>(world_.loop(0), Logger(output_),
                                            PodSourcesOptions{.configured = configured}, *this);
  }

  void OnPodChanges(SourceKind source, std::span<const PodChange> changes) override {
    for (const PodChange& change : changes) {
      told_.push_back(std::string(SourceName(source)) + " " + std::string(PodOpName(change.op)) +
                      " " + std::string(change.pod->hot().name));
    }
  }
  void OnPodRefused(SourceKind, const RefusedPod& refused) override {
    told_.push_back("refused " + std::string(refused.pod->hot().name));
  }
  void OnSourceReady(SourceKind source) override {
    told_.push_back(std::string(SourceName(source)) + " ready");
  }
  void OnSourceLate(SourceKind source) override {
    told_.push_back(std::string(SourceName(source)) + " late");
  }

  sim::World world_;
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput output_{LogFormat{}, world_.clock(), verbosity_, sink_};
  std::unique_ptr<PodSources> sources_;
  std::vector<std::string> told_;
};

TEST_F(PodSourcesTest, ASourceIsReadyOnceItHasToldAllItHas) {
  Make({kApi, kFile});
  EXPECT_FALSE(sources_->Ready({kApi}));
  EXPECT_FALSE(sources_->Ready({kFile}));
  sources_->OnPods(kFile, {MakePod("a", "1")});
  EXPECT_TRUE(sources_->Ready({kFile}));
  EXPECT_FALSE(sources_->Ready({kApi, kFile}));
  sources_->OnPods(kApi, {});
  EXPECT_TRUE(sources_->Ready(SourceSet::All()));
  sources_->OnPods(kApi, {});
  EXPECT_THAT(told_, ElementsAre("file ADD a", "file ready", "api ready"));
}

TEST_F(PodSourcesTest, ASourceThatIsNotConfiguredIsNotWaitedFor) {
  Make({kFile});
  EXPECT_TRUE(sources_->Ready({kApi, kHttp}));
  EXPECT_TRUE(sources_->Ready({}));
  EXPECT_FALSE(sources_->Ready({kApi, kFile}));
}

TEST_F(PodSourcesTest, ASilentSourceIsLateAndNotReady) {
  Make({kApi, kFile, kHttp});
  sources_->OnPods(kHttp, {});
  world_.RunUntil(world_.clock().Now() + Minutes(2));
  EXPECT_EQ(sources_->late(), (SourceSet{kApi, kFile}));
  EXPECT_FALSE(sources_->Ready({kApi}));
  EXPECT_TRUE(sources_->Ready({kHttp}));
  EXPECT_THAT(told_, ElementsAre("http ready", "api late", "file late"));
  sources_->OnPods(kApi, {});
  EXPECT_EQ(sources_->late(), SourceSet{kFile});
  EXPECT_TRUE(sources_->Ready({kApi}));
}

TEST_F(PodSourcesTest, SingleChangesGoThrough) {
  Make({kApi});
  sources_->OnPods(kApi, {MakePod("a", "1")});
  sources_->OnPod(kApi, MakePod("b", "2"));
  sources_->OnPodGone(kApi, "1");
  sources_->OnPodGone(kApi, "1");
  EXPECT_THAT(told_, ElementsAre("api ADD a", "api ready", "api ADD b", "api REMOVE a"));
  EXPECT_EQ(sources_->pods().size(), 1u);
}

TEST_F(PodSourcesTest, TroublesAreKeptUntilTheyAreOver) {
  Make({kFile});
  sources_->OnTrouble(kFile, "/m/a.yaml", Error(ErrorCode::kInvalid, "line 3: no colon"));
  sources_->OnTrouble(kFile, "/m/a.yaml", Error(ErrorCode::kInvalid, "line 4: no colon"));
  ASSERT_EQ(sources_->Troubles().size(), 1u);
  EXPECT_EQ(sources_->Troubles()[0].reason.message(), "line 4: no colon");
  EXPECT_THAT(sink_.Take(), testing::HasSubstr("/m/a.yaml"));
  sources_->OnTroubleOver(kFile, "/m/a.yaml");
  EXPECT_THAT(sources_->Troubles(), IsEmpty());
}

TEST_F(PodSourcesTest, WhatIsIgnoredIsAWarningWithItsPlaceAndEndsAsTroubleDoes) {
  Make({kFile});
  sources_->OnPartIgnored(kFile, "/m/a.yaml", Error(ErrorCode::kInvalid, "line 3: spec.foo"));
  ASSERT_EQ(sources_->Troubles().size(), 1u);
  const std::string line = sink_.Take();
  EXPECT_THAT(line, testing::StartsWith("W"));
  EXPECT_THAT(line, testing::HasSubstr("/m/a.yaml"));
  EXPECT_THAT(line, testing::HasSubstr("spec.foo"));
  sources_->OnTroubleOver(kFile, "/m/a.yaml");
  EXPECT_THAT(sources_->Troubles(), IsEmpty());
}

TEST_F(PodSourcesTest, ATroubleThatIsToldAgainAndAgainIsNotLoggedEachTime) {
  Make({kApi});
  const auto lines = [&] {
    const size_t count = sink_.lines().size();
    sink_.Take();
    return count;
  };
  const auto trouble = [&](const char* reason) {
    world_.loop(0).Post([this, reason] {
      sources_->OnTrouble(kApi, "pods", Error(ErrorCode::kPermission, reason));
    });
    world_.RunUntil(world_.clock().Now() + Seconds(2));
  };
  for (int i = 0; i < 12; ++i) trouble("refused");
  EXPECT_EQ(lines(), 1u);
  trouble("not there");
  EXPECT_EQ(lines(), 1u) << "another cause";
  // Not a minute in all: then the source itself would be told as late.
  for (int i = 0; i < 16; ++i) trouble("not there");
  EXPECT_EQ(lines(), 1u) << "a reminder";
  sources_->OnTroubleOver(kApi, "pods");
  EXPECT_THAT(sink_.Take(), testing::HasSubstr("Trouble of a pod source is over"));
}

// Of a file that is changed again soon: it tells each fault once.
TEST_F(PodSourcesTest, TheLastOfSeveralCausesIsToldAlsoWhereItComesTooSoon) {
  Make({kFile});
  world_.loop(0).Post([this] {
    for (const char* reason : {"first", "second", "third"}) {
      sources_->OnTrouble(kFile, "/m/a.yaml", Error(ErrorCode::kInvalid, reason));
    }
    sources_->OnPartIgnored(kFile, "/m/b.yaml", Error(ErrorCode::kInvalid, "ua"));
    sources_->OnPartIgnored(kFile, "/m/b.yaml", Error(ErrorCode::kInvalid, "ub"));
    sources_->OnTrouble(kFile, "/m/c.yaml", Error(ErrorCode::kInvalid, "half a file"));
    sources_->OnTrouble(kFile, "/m/c.yaml", Error(ErrorCode::kInvalid, "over soon"));
    sources_->OnTroubleOver(kFile, "/m/c.yaml");
  });
  world_.RunUntil(world_.clock().Now() + Seconds(30));
  std::vector<std::string> causes;
  for (const CapturingLogSink::Line& line : sink_.lines()) causes.push_back(line.text);
  EXPECT_THAT(causes,
              testing::ElementsAre(testing::HasSubstr("first"), testing::HasSubstr("ua"),
                                   testing::HasSubstr("half a file"), testing::HasSubstr("is over"),
                                   testing::HasSubstr("third"), testing::HasSubstr("ub")));
}

TEST_F(PodSourcesTest, TroublesAreBounded) {
  Make({kFile});
  for (int i = 0; i < 1010; ++i) {
    sources_->OnTrouble(kFile, std::to_string(i), Error(ErrorCode::kInvalid, "bad"));
  }
  EXPECT_EQ(sources_->Troubles().size(), 1000u);
  EXPECT_EQ(sources_->troubles_not_kept(), 10u);
}

TEST(SourceSet, IsASet) {
  static_assert(SourceSet{kApi, kHttp}.HasAll({kApi}));
  static_assert(!SourceSet{kApi}.HasAll({kApi, kHttp}));
  static_assert(SourceSet().empty() && SourceSet::All().Without({kApi, kFile}) == SourceSet{kHttp});
}

}  // namespace
}  // namespace denselet::sync
