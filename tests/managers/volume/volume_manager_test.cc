#include "managers/volume/volume_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/fakes/capturing_log_sink.h"
#include "tests/fakes/fake_disk.h"
#include "tests/managers/volume/counting_loop.h"
#include "tests/managers/volume/objects_for_tests.h"
#include "tests/managers/volume/pods_for_tests.h"
#include "tests/sim/sim_disk_jobs.h"
#include "tests/sim/world.h"

namespace denselet::managers {
namespace {

using kube::core::ConfigMap;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr const char* kMap = R"({"volumes":[{"name":"conf","configMap":{"name":"m",
    "defaultMode":420}},{"name":"e","emptyDir":{}}],"containers":[{"name":"c","volumeMounts":[
    {"name":"conf","mountPath":"/conf"},{"name":"e","mountPath":"/e","subPath":"a/b"}]}]})";
constexpr const char* kToken = R"({"serviceAccountName":"sa","volumes":[{"name":"t","projected":{
    "defaultMode":420,"sources":[{"serviceAccountToken":{"path":"token"}}]}}],
    "containers":[{"name":"c","volumeMounts":[{"name":"t","mountPath":"/t"}]}]})";
constexpr const char* kDownward = R"({"volumes":[{"name":"d","downwardAPI":{"defaultMode":420,
    "items":[{"path":"labels","fieldRef":{"fieldPath":"metadata.labels"}}]}}],
    "containers":[{"name":"c","volumeMounts":[{"name":"d","mountPath":"/d"}]}]})";

sync::ObjectBytes Map(const std::string& value) {
  return BytesOf<ConfigMap>(R"({"data":{"k":")" + value + R"("}})");
}

std::string FileOf(const std::string& kind, const std::string& path,
                   const std::string& uid = "u-1") {
  return "/agent/pods/" + uid + "/volumes/kubernetes.io~" + kind + "/" + path;
}

Status FirstFault(const Result<sync::MountedVolumes>& answer) {
  if (!answer) return answer.error();
  if (answer->missing.empty()) return Ok();
  return answer->missing.front().why;
}

// What is told of renewals.
class RenewalsForTests final : public sync::PodMountsUser {
 public:
  void OnVolumeNotRenewed(const PodUid& pod, const sync::VolumeFault& fault) override {
    told_.push_back(pod.value() + " " + fault.volume + ": " + fault.why.message());
  }
  void OnVolumeRenewed(const PodUid& pod, const std::string& volume) override {
    told_.push_back(pod.value() + " " + volume + " renewed");
  }
  std::vector<std::string> Take() { return std::exchange(told_, {}); }

 private:
  std::vector<std::string> told_;
};

class VolumeManagerTest : public testing::Test {
 protected:
  VolumeManagerTest() {
    objects_.set_user(&manager_);
    objects_.Set(ConfigMapKey("m"), Map("1"));
    for (const char* uid : {"u-1", "u-2"}) disk_.PutFolder(std::string("/agent/pods/") + uid);
  }
  ~VolumeManagerTest() override { objects_.set_user(nullptr); }

  void RunFor(Duration d) { world_.RunUntil(After(world_.clock().Now(), d)); }
  Context For(Duration d) {
    Context context;
    context.deadline = After(world_.clock().Now(), d);
    return context;
  }
  template <class T, class Begin>
  Result<T> Await(Begin begin) {
    std::optional<Result<T>> answer;
    begin([&answer](Result<T> result) { answer = std::move(result); });
    EXPECT_FALSE(answer) << "answered inside the call";
    RunFor(Seconds(5));
    EXPECT_TRUE(answer) << "no answer";
    return answer ? std::move(*answer) : Result<T>(Error(ErrorCode::kBug, "no answer"));
  }
  Result<sync::MountedVolumes> MountAll(const kube::PodRef& pod) {
    return Await<sync::MountedVolumes>(
        [&](auto done) { manager_.Mount({}, pod, std::move(done)); });
  }
  Status Mount(const kube::PodRef& pod) { return FirstFault(MountAll(pod)); }
  Status Unmount(const std::string& uid = "u-1") {
    return Await<Unit>([&](auto done) { manager_.Unmount({}, PodUid(uid), std::move(done)); });
  }
  Result<std::vector<sync::MountSpec>> MountsOf(const kube::PodRef& pod) {
    return Await<std::vector<sync::MountSpec>>(
        [&](auto done) { manager_.MountsOf({}, pod, {.name = "c"}, {}, std::move(done)); });
  }

  sim::World world_{{.seed = 1, .shards = 1}};
  fakes::FakeDisk disk_;
  sim::SimDiskJobs jobs_{world_.loop(0), world_.random(), disk_};
  ObjectsForTests objects_{world_.loop(0)};
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput log_{.format = {}, .clock = world_.clock(), .verbosity = verbosity_, .sink = sink_};
  VolumeManager manager_{world_.loop(0), world_.random(), jobs_,
                         objects_,       Logger(log_),    {.node = {.root_folder = "/agent"}}};
};

TEST_F(VolumeManagerTest, AllVolumesOfAPodAreOneJob) {
  ASSERT_TRUE(Mount(RefFrom(kMap)));
  EXPECT_EQ(jobs_.jobs_run(), 1u);
  EXPECT_EQ(disk_.Content(FileOf("configmap", "conf/k")), "1");
  ASSERT_THAT(manager_.Reports(), SizeIs(1));
  EXPECT_EQ(manager_.Reports()[0].stage, VolumeManager::Stage::kMounted);
}

TEST_F(VolumeManagerTest, APodWithoutVolumesCostsNoJobAndIsFollowedAllTheSame) {
  ASSERT_TRUE(Mount(RefFrom(R"({"containers":[{"name":"c"}]})")));
  EXPECT_EQ(jobs_.jobs_run(), 0u);
  EXPECT_THAT(objects_.followed(), ElementsAre(PodUid("u-1")));
}

TEST_F(VolumeManagerTest, WhatIsMissingIsToldAndTheOthersAreMounted) {
  objects_.Set(ConfigMapKey("m"), nullptr);
  const Status mounted = Mount(RefFrom(kMap));
  ASSERT_FALSE(mounted);
  EXPECT_EQ(mounted.error().message(), "configmap \"m\" not found");
  EXPECT_EQ(disk_.Tree(FileOf("empty-dir", "e")).size(), 1u);
  objects_.Set(ConfigMapKey("m"), Map("2"));
  ASSERT_TRUE(Mount(RefFrom(kMap)));
  EXPECT_EQ(disk_.Content(FileOf("configmap", "conf/k")), "2");
}

TEST_F(VolumeManagerTest, AllThatAreMissingAreTold) {
  objects_.Set(ConfigMapKey("m"), nullptr);
  const auto mounted = MountAll(RefFrom(R"({"volumes":[
      {"name":"conf","configMap":{"name":"m","defaultMode":420}},{"name":"e","emptyDir":{}},
      {"name":"claim","persistentVolumeClaim":{"claimName":"x"}},
      {"name":"host","hostPath":{"path":"/none","type":"Directory"}}],
      "containers":[{"name":"c","volumeMounts":[{"name":"conf","mountPath":"/1"},
      {"name":"claim","mountPath":"/2"},{"name":"host","mountPath":"/3"},
      {"name":"e","mountPath":"/4"}]}]})"));
  ASSERT_TRUE(mounted);
  std::vector<std::string> told;
  for (const auto& [volume, why] : mounted->missing) told.push_back(volume + ": " + why.message());
  EXPECT_THAT(told,
              UnorderedElementsAre("conf: configmap \"m\" not found",
                                   "claim: persistentVolumeClaim volumes are not supported yet",
                                   "host: hostPath type check failed: /none is not a directory"));
}

TEST_F(VolumeManagerTest, AKindThatNobodyCanDoIsRefusedByName) {
  const Status mounted = Mount(RefFrom(R"({"volumes":[{"name":"v","csi":{"driver":"d"}}],
      "containers":[{"name":"c","volumeMounts":[{"name":"v","mountPath":"/v"}]}]})"));
  ASSERT_FALSE(mounted);
  EXPECT_EQ(mounted.error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(mounted.error().message(), "csi volumes are not supported yet");
}

TEST_F(VolumeManagerTest, NobodyWaitsForAVolumeThatNoContainerMounts) {
  const std::string volumes = R"({"volumes":[{"name":"claim","csi":{"driver":"d"}},
      {"name":"conf","configMap":{"name":"none","defaultMode":420}},{"name":"e","emptyDir":{}}],)";
  const std::string containers = R"("containers":[{"name":"c","volumeMounts":[
      {"name":"e","mountPath":"/e"}]}])";
  ASSERT_TRUE(Mount(RefFrom(volumes + containers + "}", "u-1", R"("generation":1)")));
  EXPECT_EQ(objects_.fetches(), 0u);
  EXPECT_THAT(disk_.Tree(FileOf("configmap", "conf")), IsEmpty());
  // Until a container is added that mounts one.
  const kube::PodRef more =
      RefFrom(volumes + containers + R"(,"ephemeralContainers":[{"name":"debug","volumeMounts":[
      {"name":"conf","mountPath":"/conf"}]}]})",
              "u-1", R"("generation":2)");
  const auto mounts_of_debug = [&] {
    return Await<std::vector<sync::MountSpec>>(
        [&](auto done) { manager_.MountsOf({}, more, {.name = "debug"}, {}, std::move(done)); });
  };
  manager_.Changed(more);
  EXPECT_EQ(mounts_of_debug().error().message(), "volume \"conf\" is not mounted yet");
  objects_.Set(ConfigMapKey("none"), Map("1"));
  RunFor(Seconds(1));
  ASSERT_TRUE(mounts_of_debug());
  EXPECT_EQ(disk_.Content(FileOf("configmap", "conf/k")), "1");
}

TEST_F(VolumeManagerTest, AChangedObjectIsSeenInTheVolumeAndAnotherPodsObjectIsNot) {
  ASSERT_TRUE(Mount(RefFrom(kMap)));
  objects_.Set(ConfigMapKey("m"), Map("2"));
  objects_.Set(ConfigMapKey("other"), Map("x"));
  RunFor(Seconds(1));
  EXPECT_EQ(disk_.Content(FileOf("configmap", "conf/k")), "2");
  EXPECT_EQ(jobs_.jobs_run(), 2u);
}

TEST_F(VolumeManagerTest, ManyChangesAtOnceAreFewJobs) {
  ASSERT_TRUE(Mount(RefFrom(kMap)));
  for (int i = 0; i < 50; ++i) objects_.Set(ConfigMapKey("m"), Map(std::to_string(i)));
  RunFor(Seconds(2));
  EXPECT_EQ(disk_.Content(FileOf("configmap", "conf/k")), "49");
  EXPECT_LE(jobs_.jobs_run(), 3u);
}

TEST_F(VolumeManagerTest, AnObjectThatIsWrittenAllTheTimeIsSeenNowAndThen) {
  ASSERT_TRUE(Mount(RefFrom(kMap)));
  for (int i = 1; i <= 100; ++i) {
    objects_.Set(ConfigMapKey("m"), Map(std::to_string(i)));
    RunFor(Milliseconds(100));
  }
  RunFor(Seconds(2));
  EXPECT_EQ(disk_.Content(FileOf("configmap", "conf/k")), "100");
  EXPECT_LE(jobs_.jobs_run(), 15u);
  EXPECT_GE(jobs_.jobs_run(), 9u);
}

TEST_F(VolumeManagerTest, AnObjectThatChangesWhileItIsMountedIsNotMissed) {
  std::optional<Status> mounted;
  manager_.Mount({}, RefFrom(kMap),
                 [&](const Result<sync::MountedVolumes>& answer) { mounted = FirstFault(answer); });
  // Fetched, and the job is under way.
  while (jobs_.under_way() == 0) ASSERT_TRUE(world_.Step());
  objects_.Set(ConfigMapKey("m"), Map("2"));
  RunFor(Seconds(1));
  ASSERT_TRUE(mounted && *mounted);
  EXPECT_EQ(disk_.Content(FileOf("configmap", "conf/k")), "2");
}

TEST_F(VolumeManagerTest, ARemovedObjectLeavesItsFilesAndIsNotAskedForAgainAndAgain) {
  ASSERT_TRUE(Mount(RefFrom(kMap)));
  objects_.Set(ConfigMapKey("m"), nullptr);
  RunFor(Hours(1));
  EXPECT_EQ(disk_.Content(FileOf("configmap", "conf/k")), "1");
  EXPECT_LE(objects_.fetches(), 2u);
  objects_.Set(ConfigMapKey("m"), Map("3"));
  RunFor(Seconds(1));
  EXPECT_EQ(disk_.Content(FileOf("configmap", "conf/k")), "3");
}

TEST_F(VolumeManagerTest, ThatAnObjectWasRemovedIsToldNowAndThenUntilItIsBack) {
  RenewalsForTests renewals;
  manager_.SetUser(renewals);
  ASSERT_TRUE(Mount(RefFrom(kMap)));
  objects_.Set(ConfigMapKey("m"), nullptr);
  RunFor(Seconds(1));
  EXPECT_THAT(renewals.Take(), ElementsAre("u-1 conf: configmap \"m\" not found"));
  RunFor(Minutes(10));
  EXPECT_THAT(renewals.Take(), AllOf(SizeIs(testing::Ge(1u)), SizeIs(testing::Le(4u))));
  RunFor(Hours(1));
  EXPECT_THAT(renewals.Take(), AllOf(SizeIs(testing::Ge(2u)), SizeIs(testing::Le(6u))))
      << "an event is forgotten after an hour";
  EXPECT_LE(objects_.fetches(), 2u) << "nobody looks for it";
  objects_.Set(ConfigMapKey("m"), Map("3"));
  RunFor(Seconds(1));
  EXPECT_THAT(renewals.Take(), ElementsAre("u-1 conf renewed"));
  RunFor(Hours(2));
  EXPECT_THAT(renewals.Take(), IsEmpty());
}

TEST_F(VolumeManagerTest, OfAPodThatGoesNothingIsTold) {
  RenewalsForTests renewals;
  manager_.SetUser(renewals);
  ASSERT_TRUE(Mount(RefFrom(kMap)));
  objects_.Set(ConfigMapKey("m"), nullptr);
  RunFor(Seconds(1));
  EXPECT_THAT(renewals.Take(), SizeIs(1));
  ASSERT_TRUE(Unmount());
  RunFor(Hours(2));
  EXPECT_THAT(renewals.Take(), IsEmpty());
}

TEST_F(VolumeManagerTest, ARenewalThatFailsIsTriedAgainWithPauses) {
  ASSERT_TRUE(Mount(RefFrom(kMap)));
  objects_.set_unavailable(true);
  objects_.Set(ConfigMapKey("m"), Map("2"));
  RunFor(Minutes(10));
  EXPECT_EQ(disk_.Content(FileOf("configmap", "conf/k")), "1");
  EXPECT_LE(objects_.fetches(), 20u);
  objects_.set_unavailable(false);
  RunFor(Minutes(1));
  EXPECT_EQ(disk_.Content(FileOf("configmap", "conf/k")), "2");
}

TEST_F(VolumeManagerTest, ATokenIsRenewedWhenItIsDueAndNotBefore) {
  objects_.set_token("first", Hours(1));
  ASSERT_TRUE(Mount(RefFrom(kToken)));
  EXPECT_EQ(disk_.Content(FileOf("projected", "t/token")), "first");
  objects_.set_token("second", Hours(1));
  RunFor(Minutes(40));
  EXPECT_EQ(disk_.Content(FileOf("projected", "t/token")), "first");
  RunFor(Minutes(10));
  EXPECT_EQ(disk_.Content(FileOf("projected", "t/token")), "second");
  EXPECT_EQ(objects_.tokens_asked(), 2u);
  objects_.set_token("third", Hours(1));
  RunFor(Hours(1));
  EXPECT_EQ(disk_.Content(FileOf("projected", "t/token")), "third");
  EXPECT_LE(objects_.tokens_asked(), 4u);
}

// The machine was suspended, or somebody has set its clock.
TEST_F(VolumeManagerTest, ATokenThatIsDueByAStepOfTheClockIsRenewedSoon) {
  objects_.set_token("first", Hours(20));
  ASSERT_TRUE(Mount(RefFrom(kToken)));
  objects_.set_token("second", Hours(20));
  RunFor(Minutes(3));
  EXPECT_EQ(objects_.tokens_asked(), 1u);
  world_.clock().JumpWall(Hours(21));
  RunFor(Minutes(2));
  EXPECT_EQ(disk_.Content(FileOf("projected", "t/token")), "second");
  // Back again: what has been renewed is not due for long, and that is no fault.
  world_.clock().JumpWall(-Hours(21));
  RunFor(Minutes(2));
  EXPECT_EQ(objects_.tokens_asked(), 2u);
}

TEST_F(VolumeManagerTest, ATokenThatCannotBeRenewedIsAskedForWithPauses) {
  objects_.set_token("first", Hours(1));
  ASSERT_TRUE(Mount(RefFrom(kToken)));
  objects_.set_tokens_refused(true);
  RunFor(Minutes(45));
  EXPECT_EQ(objects_.tokens_asked(), 1u);
  RunFor(Minutes(33));
  EXPECT_GE(objects_.tokens_asked(), 20u);
  EXPECT_LE(objects_.tokens_asked(), 40u);
  objects_.set_tokens_refused(false);
  objects_.set_token("second", Hours(1));
  RunFor(Minutes(2));
  EXPECT_EQ(disk_.Content(FileOf("projected", "t/token")), "second");
}

TEST_F(VolumeManagerTest, APodThatHasGoneLeavesNoTimer) {
  CountingLoop loop(world_.loop(0));
  VolumeManager manager(loop, world_.random(), jobs_, objects_, Logger(log_),
                        {.node = {.root_folder = "/agent"}});
  const auto come_and_go = [&](const char* spec, const std::string& uid) {
    disk_.PutFolder("/agent/pods/" + uid);
    const auto mounted = Await<sync::MountedVolumes>(
        [&](auto done) { manager.Mount({}, RefFrom(spec, uid), std::move(done)); });
    ASSERT_TRUE(FirstFault(mounted));
    ASSERT_TRUE(Await<Unit>([&](auto done) { manager.Unmount({}, PodUid(uid), std::move(done)); }));
  };
  for (int i = 0; i < 10; ++i) {
    come_and_go(kMap, "m-" + std::to_string(i));
    come_and_go(kToken, "t-" + std::to_string(i));
    come_and_go(R"({"containers":[{"name":"c"}]})", "n-" + std::to_string(i));
  }
  RunFor(Minutes(2));
  EXPECT_EQ(loop.timers(), 0);
}

TEST_F(VolumeManagerTest, ANewLabelIsSeenAndAStatusCostsNothing) {
  ASSERT_TRUE(Mount(RefFrom(kDownward, "u-1", R"("labels":{"a":"1"})")));
  EXPECT_EQ(disk_.Content(FileOf("downward-api", "d/labels")), "a=\"1\"");
  manager_.Changed(RefFrom(kDownward, "u-1", R"("labels":{"a":"1"},"resourceVersion":"9")"));
  RunFor(Seconds(1));
  EXPECT_EQ(jobs_.jobs_run(), 1u);
  manager_.Changed(RefFrom(kDownward, "u-1", R"("labels":{"a":"2"})"));
  RunFor(Seconds(1));
  EXPECT_EQ(disk_.Content(FileOf("downward-api", "d/labels")), "a=\"2\"");
}

TEST_F(VolumeManagerTest, APartOfAVolumeIsMountedForItsContainer) {
  const kube::PodRef pod = RefFrom(kMap);
  EXPECT_EQ(MountsOf(pod).error().code(), ErrorCode::kUnavailable);
  ASSERT_TRUE(Mount(pod));
  const auto mounts = MountsOf(pod);
  ASSERT_TRUE(mounts) << mounts.error().message();
  ASSERT_THAT(*mounts, SizeIs(2));
  EXPECT_EQ((*mounts)[1].host_path, "/agent/pods/u-1/volume-subpaths/e/c/1");
  EXPECT_EQ(disk_.Tree(FileOf("empty-dir", "e/a")).at(FileOf("empty-dir", "e/a/b")),
            "0777 0:0 dir");
  ASSERT_TRUE(MountsOf(pod));
  EXPECT_THAT(disk_.mounts(), SizeIs(1)) << "mounted twice";
}

TEST_F(VolumeManagerTest, AWayOutOfAVolumeIsRefusedWithoutAWordOfTheMachine) {
  const kube::PodRef pod = RefFrom(kMap);
  ASSERT_TRUE(Mount(pod));
  disk_.PutLink(FileOf("empty-dir", "e/a"), "../../../../../..");
  disk_.PutFolder("/b");
  const auto mounts = MountsOf(pod);
  ASSERT_FALSE(mounts);
  EXPECT_EQ(mounts.error().message(),
            "failed to prepare subPath for volumeMount \"e\" of container \"c\"");
  ASSERT_THAT(sink_.lines(), SizeIs(1));
  EXPECT_THAT(sink_.Take(),
              AllOf(HasSubstr("Could not prepare a sub-path"), HasSubstr("pod=\"n/p\""),
                    HasSubstr("podUID=\"u-1\""), HasSubstr("containerName=\"c\""),
                    HasSubstr("volumeMountName=\"e\""), HasSubstr("subPath=\"a/b\"")));
  // Asked again and again, it is the same cause.
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(MountsOf(pod));
  EXPECT_THAT(sink_.lines(), IsEmpty());
}

TEST_F(VolumeManagerTest, APartThatCannotBeMadeIsToldFromOneThatIsRefused) {
  const kube::PodRef pod = RefFrom(kMap);
  ASSERT_TRUE(Mount(pod));
  disk_.PutLink(FileOf("empty-dir", "e/a"), "/elsewhere");
  EXPECT_EQ(MountsOf(pod).error().message(),
            "failed to create subPath directory for volumeMount \"e\" of container \"c\"");
  disk_.Put(FileOf("empty-dir", "e/a"), "a file");
  EXPECT_EQ(MountsOf(pod).error().message(),
            "failed to prepare subPath for volumeMount \"e\" of container \"c\"");
}

TEST_F(VolumeManagerTest, AFileOfAVolumeCanBeRead) {
  const kube::PodRef pod = RefFrom(kMap);
  ASSERT_TRUE(Mount(pod));
  disk_.Put(FileOf("empty-dir", "e/env"), "A=1");
  const auto read = [&](const std::string& volume, const std::string& path, size_t max) {
    return Await<std::string>(
        [&](auto done) { manager_.ReadFile({}, pod, volume, path, max, std::move(done)); });
  };
  EXPECT_EQ(*read("e", "env", 3), "A=1");
  EXPECT_EQ(read("e", "env", 2).error().code(), ErrorCode::kOverloaded);
  EXPECT_EQ(read("e", "none", 2).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(read("x", "env", 2).error().code(), ErrorCode::kNotFound);
}

TEST_F(VolumeManagerTest, UnmountedNothingIsLeftAndNothingFollowed) {
  ASSERT_TRUE(Mount(RefFrom(kMap)));
  ASSERT_TRUE(MountsOf(RefFrom(kMap)));
  ASSERT_TRUE(Unmount());
  EXPECT_THAT(disk_.mounts(), IsEmpty());
  EXPECT_THAT(objects_.followed(), IsEmpty());
  EXPECT_THAT(manager_.Reports(), IsEmpty());
  const uint64_t jobs = jobs_.jobs_run();
  objects_.Set(ConfigMapKey("m"), Map("9"));
  RunFor(Hours(2));
  EXPECT_EQ(jobs_.jobs_run(), jobs);
}

TEST_F(VolumeManagerTest, LeftoversOfAPodThatNobodyMountedGo) {
  disk_.Put(FileOf("empty-dir", "old/data", "u-9"), "x");
  ASSERT_TRUE(Unmount("u-9"));
  EXPECT_EQ(disk_.Content(FileOf("empty-dir", "old/data", "u-9")), std::nullopt);
  EXPECT_EQ(Unmount("../x").error().code(), ErrorCode::kInvalid);
}

TEST_F(VolumeManagerTest, NothingIsMountedBehindTheBackOfWhoUnmounts) {
  objects_.Hold();
  std::optional<Status> mounted;
  manager_.Mount({}, RefFrom(kMap),
                 [&](const Result<sync::MountedVolumes>& answer) { mounted = FirstFault(answer); });
  RunFor(Seconds(1));
  ASSERT_TRUE(Unmount());
  objects_.Release();
  RunFor(Seconds(1));
  ASSERT_TRUE(mounted);
  EXPECT_EQ(mounted->error().code(), ErrorCode::kCancelled);
  EXPECT_EQ(disk_.Tree(FileOf("configmap", "conf")).size(), 0u);
}

TEST_F(VolumeManagerTest, AVolumeThatHangsHoldsItsOwnPodOnly) {
  jobs_.faults().hangs_with = "u-1";
  std::optional<Status> first;
  manager_.Mount(For(Minutes(2)), RefFrom(kMap),
                 [&](const Result<sync::MountedVolumes>& answer) { first = FirstFault(answer); });
  ASSERT_TRUE(Mount(RefFrom(kMap, "u-2")));
  EXPECT_FALSE(first);
  RunFor(Minutes(3));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->error().code(), ErrorCode::kUnknownOutcome);
  // Asked again it waits behind the one that hangs: the two never run at once.
  std::optional<Status> again;
  manager_.Mount(For(Hours(1)), RefFrom(kMap),
                 [&](const Result<sync::MountedVolumes>& answer) { again = FirstFault(answer); });
  RunFor(Minutes(1));
  EXPECT_FALSE(again);
  jobs_.LetGo();
  RunFor(Seconds(1));
  ASSERT_TRUE(again && *again);
  ASSERT_TRUE(Unmount());
  EXPECT_THAT(disk_.Tree("/agent/pods/u-1/volumes").size(), 1u);
}

TEST_F(VolumeManagerTest, JobsBeyondTheBoundWaitInLine) {
  VolumeManager narrow(world_.loop(0), world_.random(), jobs_, objects_, Logger(log_),
                       {.node = {.root_folder = "/agent"}, .jobs_max = 2});
  int mounted = 0;
  for (int i = 0; i < 20; ++i) {
    const std::string uid = "n-" + std::to_string(i);
    disk_.PutFolder("/agent/pods/" + uid);
    narrow.Mount({}, RefFrom(kMap, uid), [&mounted](const Result<sync::MountedVolumes>& answer) {
      if (FirstFault(answer)) ++mounted;
    });
  }
  while (narrow.jobs_waiting() == 0) ASSERT_TRUE(world_.Step());
  EXPECT_LE(jobs_.under_way(), 2u);
  RunFor(Seconds(5));
  EXPECT_EQ(mounted, 20);
}

// A server is gone that many pods have paths of.
TEST_F(VolumeManagerTest, PathsOfHostsThatHangHoldUpNobodyElse) {
  constexpr const char* kHost = R"({"volumes":[{"name":"h","hostPath":{"path":"/nfs",
      "type":"Directory"}}],"containers":[{"name":"c","volumeMounts":[
      {"name":"h","mountPath":"/h"}]}]})";
  VolumeManager narrow(world_.loop(0), world_.random(), jobs_, objects_, Logger(log_),
                       {.node = {.root_folder = "/agent"}, .jobs_max = 4});
  jobs_.faults().hangs_with = "/h-";
  int given_up = 0;
  CancelSource cancel;
  for (int i = 0; i < 10; ++i) {
    Context context = For(Minutes(2));
    if (i == 9) context.cancel = cancel.token();
    narrow.Mount(
        context, RefFrom(kHost, "h-" + std::to_string(i)),
        [&given_up](const Result<sync::MountedVolumes>& answer) { given_up += answer ? 0 : 1; });
  }
  for (int i = 0; i < 10; ++i) {
    const std::string uid = "n-" + std::to_string(i);
    disk_.PutFolder("/agent/pods/" + uid);
    const auto mounted = Await<sync::MountedVolumes>(
        [&](auto done) { narrow.Mount({}, RefFrom(kMap, uid), std::move(done)); });
    ASSERT_TRUE(FirstFault(mounted));
    ASSERT_TRUE(Await<Unit>([&](auto done) { narrow.Unmount({}, PodUid(uid), std::move(done)); }));
  }
  EXPECT_EQ(given_up, 0);
  cancel.Cancel();
  RunFor(Milliseconds(10));
  EXPECT_EQ(given_up, 1) << "who is not wanted any more is answered before its turn";
  RunFor(Minutes(2));
  EXPECT_EQ(given_up, 10) << "the time of those who wait ends, too";
  jobs_.LetGo();
  RunFor(Seconds(1));
}

// Links in a volume of the pod's own lead wherever its containers like.
TEST_F(VolumeManagerTest, SubPathsThatLeadToAServerThatIsGoneHoldUpNobodyElse) {
  VolumeManager narrow(world_.loop(0), world_.random(), jobs_, objects_, Logger(log_),
                       {.node = {.root_folder = "/agent"}, .jobs_max = 4});
  const auto mount = [&](const std::string& uid) {
    disk_.PutFolder("/agent/pods/" + uid);
    return FirstFault(Await<sync::MountedVolumes>(
        [&](auto done) { narrow.Mount({}, RefFrom(kMap, uid), std::move(done)); }));
  };
  int given_up = 0;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(mount("s-" + std::to_string(i)));
  jobs_.faults().hangs_with = "/s-";
  for (int i = 0; i < 10; ++i) {
    narrow.MountsOf(For(Minutes(2)), RefFrom(kMap, "s-" + std::to_string(i)), {.name = "c"}, {},
                    [&given_up](const Result<std::vector<sync::MountSpec>>& answer) {
                      given_up += answer ? 0 : 1;
                    });
  }
  RunFor(Milliseconds(10));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(mount("n-" + std::to_string(i)));
  EXPECT_EQ(given_up, 0) << "nobody waited for them";
  RunFor(Minutes(3));
  EXPECT_EQ(given_up, 10);
  jobs_.LetGo();
  RunFor(Seconds(1));
}

TEST_F(VolumeManagerTest, TheNextAgentFindsWhatIsMountedAndRenewsTheRest) {
  ASSERT_TRUE(Mount(RefFrom(kMap)));
  ASSERT_TRUE(Mount(RefFrom(kToken, "u-2")));
  const auto mounts = disk_.mounts();
  objects_.set_token("new", Hours(1));
  VolumeManager next(world_.loop(0), world_.random(), jobs_, objects_, Logger(log_),
                     {.node = {.root_folder = "/agent"}});
  const auto mounted = Await<sync::MountedVolumes>(
      [&](auto done) { next.Mount({}, RefFrom(kToken, "u-2"), std::move(done)); });
  ASSERT_TRUE(FirstFault(mounted));
  EXPECT_EQ(disk_.mounts(), mounts);
  EXPECT_EQ(disk_.Content(FileOf("projected", "t/token", "u-2")), "new");
}

}  // namespace
}  // namespace denselet::managers
