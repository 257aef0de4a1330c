#include "managers/node/node_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/fakes/scripted_images.h"
#include "tests/managers/manager_fixture.h"

namespace denselet::node {
namespace {

using testing::ElementsAre;

sync::ObservedImage Image(const std::string& id, uint64_t bytes) {
  return {.id = ImageId(id), .repo_tags = {id + ":1"}, .size_bytes = bytes};
}

class NodeImagesTest : public tests::ManagerTest {
 protected:
  void Begin(int32_t images_max = 50) {
    images_ = std::make_unique<NodeImages>(loop(), service_, log(), images_max);
    images_->Start();
  }
  std::vector<std::string> Ids() const {
    std::vector<std::string> ids;
    for (const ImageInput& image : *images_->images()) ids.push_back(image.id);
    return ids;
  }

  tests::ScriptedImages service_{loop()};
  std::unique_ptr<NodeImages> images_;
};

TEST_F(NodeImagesTest, AreListedAtOnceAndThenSlowly) {
  service_.list = std::vector{Image("small", 1), Image("large", 9)};
  Begin();
  EXPECT_FALSE(images_->images());
  RunFor(Milliseconds(100));
  EXPECT_THAT(Ids(), ElementsAre("large", "small"));
  EXPECT_THAT(images_->images()->front().tags, ElementsAre("large:1"));
  EXPECT_EQ(images_->images()->front().bytes, 9);
  service_.list = std::vector{Image("other", 1)};
  RunFor(Minutes(4));
  EXPECT_EQ(service_.listed, 1);
  RunFor(Minutes(2));
  EXPECT_EQ(service_.listed, 2);
  EXPECT_THAT(Ids(), ElementsAre("other"));
}

TEST_F(NodeImagesTest, OnlyTheLargestAreKept) {
  service_.list = std::vector{Image("a", 1), Image("b", 3), Image("c", 3), Image("d", 2)};
  Begin(3);
  RunFor(Milliseconds(100));
  EXPECT_THAT(Ids(), ElementsAre("c", "b", "d"));
}

TEST_F(NodeImagesTest, APullIsSeenSoon) {
  Begin();
  RunFor(Minutes(1));
  EXPECT_THAT(Ids(), ElementsAre());
  service_.list = std::vector{Image("new", 1)};
  images_->OnChanged();
  RunFor(NodeImages::kSettle + Milliseconds(100));
  EXPECT_THAT(Ids(), ElementsAre("new"));
  EXPECT_EQ(service_.listed, 2);
}

TEST_F(NodeImagesTest, AHundredPullsAreAFewQuestions) {
  Begin();
  RunFor(Minutes(1));
  for (int i = 0; i < 100; ++i) {
    images_->OnChanged();
    RunFor(Milliseconds(300));
  }
  EXPECT_LE(service_.listed, 5);
  service_.list = std::vector{Image("last", 1)};
  images_->OnChanged();
  RunFor(NodeImages::kAskedAgain + NodeImages::kSettle);
  EXPECT_THAT(Ids(), ElementsAre("last"));
}

TEST_F(NodeImagesTest, APullWhileTheRuntimeIsAskedIsNotMissed) {
  service_.list.reset();
  Begin();
  RunFor(Seconds(1));
  images_->OnChanged();
  service_.list = std::vector{Image("new", 1)};
  RunFor(NodeImages::kAnswerTimeMax + NodeImages::kSettle + Seconds(1));
  EXPECT_EQ(service_.listed, 2);
  EXPECT_THAT(Ids(), ElementsAre("new"));
}

TEST_F(NodeImagesTest, WhatIsKnownStaysKnownWhileTheRuntimeIsAway) {
  service_.list = std::vector{Image("a", 1)};
  Begin();
  RunFor(Seconds(1));
  service_.list = Error(ErrorCode::kUnavailable, "nobody is there");
  RunFor(Minutes(60));
  EXPECT_THAT(Ids(), ElementsAre("a"));
  EXPECT_LE(service_.listed, 1 + 2 * 60);
  EXPECT_LE(sink_.lines().size(), 12u);
  service_.list = std::vector{Image("b", 1)};
  RunFor(NodeImages::kRetryPause + Seconds(1));
  EXPECT_THAT(Ids(), ElementsAre("b"));
}

TEST_F(NodeImagesTest, NobodyAsksWhereNobodyIsTold) {
  Begin(0);
  images_->OnChanged();
  RunFor(Minutes(30));
  EXPECT_EQ(service_.listed, 0);
  EXPECT_THAT(Ids(), ElementsAre());
}

TEST_F(NodeImagesTest, MayBeEndedAtAnyTime) {
  service_.list.reset();
  Begin();
  RunFor(Seconds(1));
  images_.reset();
  RunFor(Minutes(10));
  EXPECT_EQ(service_.listed, 1);
}

}  // namespace
}  // namespace denselet::node
