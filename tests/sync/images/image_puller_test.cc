#include "sync/images/image_puller.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sync/images/image_name.h"
#include "sync/images/pull_failure.h"
#include "tests/fakes/fake_runtime.h"
#include "tests/sim/world.h"

namespace denselet::sync {
namespace {

TEST(ImageName, GetsItsDefaultTag) {
  EXPECT_EQ(*WithDefaultTag("nginx"), "nginx:latest");
  EXPECT_EQ(*WithDefaultTag("nginx:1"), "nginx:1");
  EXPECT_EQ(*WithDefaultTag("localhost:5000/a/b"), "localhost:5000/a/b:latest");
  EXPECT_EQ(*WithDefaultTag("registry.example/a_b/c-d:v1.2"), "registry.example/a_b/c-d:v1.2");
  const std::string digest = "a@sha256:" + std::string(64, 'f');
  EXPECT_EQ(*WithDefaultTag(digest), digest);
}

TEST(ImageName, RefusesWhatIsNoName) {
  for (const char* bad : {"", "UPPER", "a//b", "a:", "a:b:c", "-a", "a@sha256:12", "a b", "a/_b"}) {
    EXPECT_FALSE(WithDefaultTag(bad)) << bad;
  }
}

TEST(ImageName, SaysWhichPartMustBeLowercase) {
  const auto why = [](const char* image) { return WithDefaultTag(image).error().message(); };
  EXPECT_EQ(
      why("localhost/Absent:1"),
      "couldn't parse image name \"localhost/Absent:1\": invalid reference format: repository "
      "name (Absent) must be lowercase");
  EXPECT_EQ(why("UPPER"),
            "couldn't parse image name \"UPPER\": invalid reference format: repository name "
            "(library/UPPER) must be lowercase");
  EXPECT_EQ(why("a:b:c"), "couldn't parse image name \"a:b:c\": invalid reference format");
}

TEST(PullFailure, IsToldWithoutACodeThatTellsNothing) {
  const PullFailure unknown = FailureOfPull("a:1", "rpc error: code = Unknown desc = no route");
  EXPECT_EQ(unknown.reason, "ErrImagePull");
  EXPECT_EQ(unknown.message, "no route");
  EXPECT_EQ(unknown.error, "no route");
  const PullFailure absent = FailureOfPull("a:1", "rpc error: code = NotFound desc = none");
  EXPECT_EQ(absent.reason, "ErrImagePull");
  EXPECT_EQ(absent.message, "rpc error: code = NotFound desc = none");
}

TEST(PullFailure, HasAReasonOfItsOwnWhereTheRuntimeNamesOne) {
  const PullFailure down =
      FailureOfPull("a:1", "rpc error: code = Unknown desc = RegistryUnavailable: try later");
  EXPECT_EQ(down.reason, "RegistryUnavailable");
  EXPECT_EQ(down.message,
            "image pull failed for a:1 because the registry is unavailable: try later");
  EXPECT_EQ(down.error, "RegistryUnavailable: try later");
  const PullFailure unsigned_image = FailureOfPull("a:1", "SignatureValidationFailed");
  EXPECT_EQ(unsigned_image.reason, "SignatureValidationFailed");
  EXPECT_EQ(unsigned_image.message,
            "image pull failed for a:1 because the signature validation failed");
}

TEST(PullFailure, OfSeveralTriesEachAnswerIsToldOnce) {
  const std::string unknown = "rpc error: code = Unknown desc = ";
  EXPECT_EQ(JoinPullErrors({unknown + "no"}), "no");
  EXPECT_EQ(JoinPullErrors({unknown + "no", "no", unknown + "denied"}), "[no, denied]");
}

class ImagePullerTest : public testing::Test {
 protected:
  ImagePullerTest()
      : world_({.shards = 1}),
        model_(world_.clock(),
               [this](Duration d, UniqueFunction<void()> t) { world_.Later(d, std::move(t)); }),
        host_(model_, world_.random(),
              [this](Duration d, UniqueFunction<void()> t) { world_.Later(d, std::move(t)); }),
        runtime_(world_.loop(0), host_) {
    Make({});
  }

  void Make(const ImagePullerOptions& options) {
    puller_ = std::make_unique<ImagePuller>(world_.loop(0), runtime_, options);
  }
  void Run(Duration d) { world_.RunUntil(world_.clock().Now() + d); }
  void Ask(const std::string& pod, const std::string& image,
           PullPolicy policy = PullPolicy::kIfNotPresent, CancelToken cancel = {}) {
    world_.loop(0).Post([this, pod, image, policy, cancel] {
      Context context;
      context.cancel = cancel;
      puller_->Ensure(context, {.pod = {.uid = PodUid(pod)}, .image = image, .policy = policy},
                      [this](ImageOutcome outcome) { outcomes_.push_back(std::move(outcome)); });
    });
  }
  ImageOutcome AskOnce(const std::string& pod, const std::string& image,
                       PullPolicy policy = PullPolicy::kIfNotPresent) {
    outcomes_.clear();
    Ask(pod, image, policy);
    Run(Milliseconds(100));
    EXPECT_EQ(outcomes_.size(), 1u);
    return outcomes_.empty() ? ImageOutcome{} : outcomes_.front();
  }
  uint64_t pulls() { return host_.counters().calls["PullImage"]; }

  sim::World world_;
  fakes::RuntimeModel model_;
  fakes::FakeRuntimeHost host_;
  fakes::FakeRuntime runtime_;
  std::unique_ptr<ImagePuller> puller_;
  std::vector<ImageOutcome> outcomes_;
};

TEST_F(ImagePullerTest, PullsWhatIsNotThere) {
  EXPECT_EQ(AskOnce("p", "a:1").image_ref, "a:1");
  EXPECT_EQ(AskOnce("p", "a:1").image_ref, "a:1");
  EXPECT_EQ(pulls(), 1u);
}

TEST_F(ImagePullerTest, AnImageThatNamesNoUserIsRoots) {
  EXPECT_EQ(AskOnce("p", "a:1").image_uid, 0);  // pulled
  EXPECT_EQ(AskOnce("p", "a:1").image_uid, 0);  // found
  EXPECT_EQ(AskOnce("p", "a:1").image_username, "");
}

TEST_F(ImagePullerTest, TellsInMillisecondsHowLongItTook) {
  host_.faults().delay_min = host_.faults().delay_max = Duration(5'617'891);
  const std::string told = AskOnce("p", "a:1", PullPolicy::kAlways).message;
  EXPECT_TRUE(
      told.starts_with("Successfully pulled image \"a:1\" in 16ms (16ms including waiting)."))
      << told;
}

TEST_F(ImagePullerTest, AlwaysPullsAlways) {
  AskOnce("p", "a:1", PullPolicy::kAlways);
  AskOnce("p", "a:1", PullPolicy::kAlways);
  EXPECT_EQ(pulls(), 2u);
}

TEST_F(ImagePullerTest, NeverNeverPulls) {
  EXPECT_EQ(AskOnce("p", "a:1", PullPolicy::kNever).reason, "ErrImageNeverPull");
  model_.images().insert("a:1");
  EXPECT_EQ(AskOnce("p", "a:1", PullPolicy::kNever).image_ref, "a:1");
  EXPECT_EQ(pulls(), 0u);
}

TEST_F(ImagePullerTest, ManyWhoWishOneImageAtTheSameTimeShareTheLook) {
  model_.images().insert("a:1");
  CancelSource source;
  Ask("p0", "a:1", PullPolicy::kIfNotPresent, source.token());
  for (int i = 1; i < 20; ++i) Ask("p" + std::to_string(i), "a:1");
  world_.loop(0).Post([&] { source.Cancel(); });
  Run(Seconds(1));
  ASSERT_EQ(outcomes_.size(), 20u);
  EXPECT_EQ(host_.counters().calls["ImageStatus"], 1u);
  EXPECT_EQ(std::ranges::count(outcomes_, "a:1", &ImageOutcome::image_ref), 19)
      << "all but the one that was cancelled";
  EXPECT_EQ(AskOnce("q", "a:1").image_ref, "a:1");
  EXPECT_EQ(host_.counters().calls["ImageStatus"], 2u) << "what is over is not joined";
}

TEST_F(ImagePullerTest, ALookThatHangsIsNotJoinedForLong) {
  model_.images().insert("a:1");
  host_.faults().hang = 1;
  Ask("p", "a:1");
  Run(Milliseconds(200));
  host_.faults().hang = 0;
  EXPECT_EQ(AskOnce("q", "a:1").image_ref, "a:1");
}

TEST_F(ImagePullerTest, ManyWhoWishOneImageSharePull) {
  for (int i = 0; i < 20; ++i) Ask("p" + std::to_string(i), "a:1", PullPolicy::kAlways);
  Run(Seconds(1));
  EXPECT_EQ(outcomes_.size(), 20u);
  EXPECT_EQ(pulls(), 1u);
}

TEST_F(ImagePullerTest, PullsOneAfterTheOtherOrAFewAtATime) {
  host_.faults().delay_min = host_.faults().delay_max = Milliseconds(100);
  for (int i = 0; i < 4; ++i) Ask("p", "a:" + std::to_string(i), PullPolicy::kAlways);
  Run(Milliseconds(50));
  EXPECT_EQ(puller_->pulling(), 1u);
  Run(Seconds(5));
  EXPECT_EQ(outcomes_.size(), 4u);
  Make({.parallel_max = 3});
  for (int i = 0; i < 4; ++i) Ask("p", "a:" + std::to_string(i), PullPolicy::kAlways);
  Run(Milliseconds(50));
  EXPECT_EQ(puller_->pulling(), 3u);
}

TEST_F(ImagePullerTest, AHungPullHoldsUpTheLineForALimitedTime) {
  host_.faults().hang = 1;
  Ask("p", "a:1", PullPolicy::kAlways);
  Run(Milliseconds(10));
  host_.faults().hang = 0;
  Ask("q", "b:1", PullPolicy::kAlways);
  Run(Minutes(4));
  EXPECT_TRUE(outcomes_.empty());
  Run(Minutes(2));
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_EQ(outcomes_[0].image_ref, "b:1");
}

TEST_F(ImagePullerTest, BackOffIsOfOnePodAndOneImage) {
  host_.faults().refused = 1;
  EXPECT_EQ(AskOnce("p", "a:1", PullPolicy::kAlways).reason, "ErrImagePull");
  const ImageOutcome held = AskOnce("p", "a:1", PullPolicy::kAlways);
  EXPECT_EQ(held.reason, "ImagePullBackOff");
  EXPECT_GT(held.retry_in, Seconds(9));
  EXPECT_EQ(pulls(), 1u);
  host_.faults().refused = 0;
  EXPECT_EQ(AskOnce("q", "a:1", PullPolicy::kAlways).image_ref, "a:1");
  Run(held.retry_in);
  EXPECT_EQ(AskOnce("p", "a:1", PullPolicy::kAlways).image_ref, "a:1");
}

TEST_F(ImagePullerTest, BackOffDoublesToFiveMinutes) {
  host_.faults().refused = 1;
  Duration last = {};
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(AskOnce("p", "a:1", PullPolicy::kAlways).reason, "ErrImagePull");
    last = AskOnce("p", "a:1", PullPolicy::kAlways).retry_in;
    Run(last);
  }
  EXPECT_GT(last, Seconds(299));
  EXPECT_LE(last, Seconds(300));
  puller_->Forget(PodUid("p"));
  AskOnce("p", "a:1", PullPolicy::kAlways);
  EXPECT_LE(AskOnce("p", "a:1", PullPolicy::kAlways).retry_in, Seconds(10));
}

// The runtime's images, whose pulls all fail with one error.
class UnpullableImages final : public ImageService {
 public:
  UnpullableImages(ImageService& images, Error error) : images_(images), error_(std::move(error)) {}
  void Find(const Context& context, const ImageRequest& request,
            reactor::Done<std::optional<ObservedImage>> done) override {
    images_.Find(context, request, std::move(done));
  }
  void Pull(const Context& context, const ImageRequest& request, const ImageCredentials&,
            const SandboxSpec&, reactor::Done<std::string> done) override {
    images_.Find(context, request,
                 [done = std::move(done), error = error_](
                     const Result<std::optional<ObservedImage>>&) mutable { done(error); });
  }
  void List(const Context& context, reactor::Done<std::vector<ObservedImage>> done) override {
    images_.List(context, std::move(done));
  }
  void Remove(const Context& context, const ImageId& id, reactor::Done<Unit> done) override {
    images_.Remove(context, id, std::move(done));
  }
  void Filesystems(const Context& context, reactor::Done<ImageFilesystems> done) override {
    images_.Filesystems(context, std::move(done));
  }

 private:
  ImageService& images_;
  const Error error_;
};

TEST_F(ImagePullerTest, WhatARegistryRefusesIsToldOnceAlsoWhileItBacksOff) {
  UnpullableImages images(
      runtime_,
      Error(ErrorCode::kUnavailable, "rpc error: code = Unknown desc = RegistryUnavailable: 503"));
  puller_ = std::make_unique<ImagePuller>(world_.loop(0), images, ImagePullerOptions{});
  const ImageOutcome failed = AskOnce("p", "a:1");
  EXPECT_EQ(failed.reason, "RegistryUnavailable");
  EXPECT_EQ(failed.message, "image pull failed for a:1 because the registry is unavailable: 503");
  EXPECT_EQ(failed.pull_error, "RegistryUnavailable: 503");
  EXPECT_EQ(AskOnce("p", "a:1").message,
            "Back-off pulling image \"a:1\": RegistryUnavailable: image pull failed for a:1 "
            "because the registry is unavailable: 503");
  puller_.reset();
}

TEST_F(ImagePullerTest, BeyondTheRegistrysRateItFails) {
  Make({.parallel_max = 100, .pulls_per_second = 1, .burst = 2});
  for (int i = 0; i < 3; ++i) Ask("p", "a:" + std::to_string(i), PullPolicy::kAlways);
  Run(Milliseconds(100));
  ASSERT_EQ(outcomes_.size(), 3u);
  EXPECT_EQ(std::ranges::count(outcomes_, "ErrImagePull", &ImageOutcome::reason), 1);
}

TEST_F(ImagePullerTest, AnInvalidNameIsSaidAtOnce) {
  EXPECT_EQ(AskOnce("p", "A!").reason, "InvalidImageName");
}

TEST_F(ImagePullerTest, ACancelledWishIsAnsweredAndItsPlaceIsFree) {
  host_.faults().hang = 1;
  CancelSource cancel;
  Ask("p", "a:1", PullPolicy::kAlways, cancel.token());
  Run(Seconds(1));
  EXPECT_TRUE(outcomes_.empty());
  world_.loop(0).Post([&cancel] { cancel.Cancel(); });
  Run(Seconds(1));
  EXPECT_EQ(outcomes_.size(), 1u);
  EXPECT_EQ(puller_->pulling(), 0u);
  EXPECT_EQ(puller_->wishes(), 0u);
}

TEST_F(ImagePullerTest, WhoGivesUpLeavesTheLine) {
  Make({.parallel_max = 1});
  host_.faults().hang = 1;
  Ask("p", "a:1", PullPolicy::kAlways);
  Run(Milliseconds(10));
  for (int i = 0; i < 20; ++i) {
    CancelSource source;
    Ask("q", "b:1", PullPolicy::kAlways, source.token());
    Run(Milliseconds(10));
    EXPECT_EQ(puller_->waiting(), 1u);
    world_.loop(0).Post([&] { source.Cancel(); });
    Run(Milliseconds(10));
    EXPECT_EQ(puller_->waiting(), 0u);
  }
}

TEST_F(ImagePullerTest, WhoJoinsAPullThatWasGivenUpGetsOneOfTheirOwn) {
  host_.faults().hang = 1;
  CancelSource cancel;
  Ask("p", "a:1", PullPolicy::kAlways, cancel.token());
  Run(Seconds(1));
  host_.faults().hang = 0;
  world_.loop(0).Post([this, &cancel] {
    cancel.Cancel();
    puller_->Ensure({}, {.pod = {.uid = PodUid("q")}, .image = "a:1"},
                    [this](ImageOutcome outcome) { outcomes_.push_back(std::move(outcome)); });
  });
  Run(Seconds(1));
  ASSERT_EQ(outcomes_.size(), 2u);
  EXPECT_EQ(outcomes_[1].image_ref, "a:1") << outcomes_[1].message;
}

}  // namespace
}  // namespace denselet::sync
