// Pulls with credentials: which are tried, in which order, and who shares a pull with whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "sync/images/image_puller.h"
#include "tests/sim/world.h"

namespace denselet::sync {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// A registry that lets in whom it knows.
class FakeRegistry final : public ImageService {
 public:
  explicit FakeRegistry(reactor::Loop& loop) : loop_(loop) {}

  void Find(const Context&, const ImageRequest&,
            reactor::Done<std::optional<ObservedImage>> done) override {
    loop_.Post([done = std::move(done)]() mutable { done(std::optional<ObservedImage>()); });
  }
  void Pull(const Context&, const ImageRequest& request, const ImageCredentials& credentials,
            const SandboxSpec&, reactor::Done<std::string> done) override {
    tried.push_back(request.image + " " + credentials.username);
    const bool good = credentials.username == user;
    Result<std::string> answer = request.image;
    if (!good) answer = Error(ErrorCode::kPermission, "denied to '" + credentials.username + "'");
    if (same_words && !good) answer = Error(ErrorCode::kPermission, "denied");
    loop_.Post([done = std::move(done), answer]() mutable { done(answer); });
  }
  void List(const Context&, reactor::Done<std::vector<ObservedImage>>) override {}
  void Remove(const Context&, const ImageId&, reactor::Done<Unit>) override {}
  void Filesystems(const Context&, reactor::Done<ImageFilesystems>) override {}

  std::string user = "good";
  bool same_words = false;
  std::vector<std::string> tried;

 private:
  reactor::Loop& loop_;
};

class PullCredentialsTest : public testing::Test {
 protected:
  ImageOutcome Ask(const std::vector<std::string>& users, const std::string& fault = "") {
    std::vector<ImageOutcome> outcomes;
    AskLater(users, fault, outcomes);
    world_.RunUntil(After(world_.clock().Now(), Seconds(1)));
    EXPECT_EQ(outcomes.size(), 1u);
    return outcomes.empty() ? ImageOutcome{} : outcomes.front();
  }
  void AskLater(const std::vector<std::string>& users, const std::string& fault,
                std::vector<ImageOutcome>& outcomes) {
    ImageWish wish{.pod = {.uid = PodUid("p" + std::to_string(pods_++))}, .image = "a.b/c:1"};
    for (const std::string& user : users) wish.credentials.push_back({.username = user});
    wish.credentials_fault = fault;
    world_.loop(0).Post([this, wish, &outcomes] {
      puller_.Ensure({}, wish, [&outcomes](ImageOutcome o) { outcomes.push_back(std::move(o)); });
    });
  }

  sim::World world_{{.seed = 1, .shards = 1}};
  FakeRegistry registry_{world_.loop(0)};
  ImagePuller puller_{world_.loop(0), registry_, {.parallel_max = 10}};
  int pods_ = 0;
};

TEST_F(PullCredentialsTest, AreTriedInTheirOrderUntilOneWillDo) {
  EXPECT_EQ(Ask({"bad", "worse", "good", "never"}).image_ref, "a.b/c:1");
  EXPECT_THAT(registry_.tried, ElementsAre("a.b/c:1 bad", "a.b/c:1 worse", "a.b/c:1 good"));
}

TEST_F(PullCredentialsTest, WithoutAnyThePullIsTriedWithout) {
  EXPECT_EQ(Ask({}).reason, "ErrImagePull");
  EXPECT_THAT(registry_.tried, ElementsAre("a.b/c:1 "));
  registry_.user = "";
  EXPECT_EQ(Ask({}).image_ref, "a.b/c:1");
}

TEST_F(PullCredentialsTest, AllFailuresAreToldEachOnce) {
  EXPECT_EQ(Ask({"bad", "worse"}).message, "[denied to 'bad', denied to 'worse']");
  EXPECT_EQ(Ask({"bad"}).message, "denied to 'bad'");
  registry_.same_words = true;
  EXPECT_EQ(Ask({"bad", "worse"}).message, "denied");
}

TEST_F(PullCredentialsTest, OnlyThoseWithTheSameShareAPull) {
  std::vector<ImageOutcome> outcomes;
  for (int i = 0; i < 2; ++i) {
    AskLater({"good"}, "", outcomes);
    AskLater({"bad"}, "", outcomes);
    AskLater({}, "", outcomes);
  }
  world_.RunUntil(After(world_.clock().Now(), Seconds(1)));
  EXPECT_THAT(registry_.tried, UnorderedElementsAre("a.b/c:1 good", "a.b/c:1 bad", "a.b/c:1 "));
  ASSERT_EQ(outcomes.size(), 6u);
  EXPECT_EQ(std::ranges::count_if(outcomes, [](const auto& o) { return !o.image_ref.empty(); }), 2);
}

TEST_F(PullCredentialsTest, SecretsThatCannotBeReadPullNothing) {
  const ImageOutcome outcome = Ask({}, "image pull secret s: it is no JSON");
  EXPECT_EQ(outcome.reason, "ErrImagePull");
  EXPECT_EQ(outcome.message, "image pull secret s: it is no JSON");
  EXPECT_THAT(registry_.tried, IsEmpty());
}

}  // namespace
}  // namespace denselet::sync
