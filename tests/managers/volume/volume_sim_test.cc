// Volumes of many pods under trouble, by seeds: calls that fail, jobs that are refused and hang, an
// API server that does not answer, objects that change, and an agent that is killed between any two
// calls. Then quiet: everything is there once, with the newest content; and nothing is left of pods
// that are gone.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "managers/volume/volume_manager.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/fakes/fake_disk.h"
#include "tests/managers/volume/objects_for_tests.h"
#include "tests/managers/volume/pods_for_tests.h"
#include "tests/sim/seeds.h"
#include "tests/sim/sim_disk_jobs.h"
#include "tests/sim/world.h"

namespace denselet::managers {
namespace {

constexpr uint64_t kSeeds = 150;
constexpr int kPods = 6;
constexpr const char* kSpec = R"({"serviceAccountName":"sa","securityContext":{"fsGroup":9},
    "volumes":[{"name":"disk","emptyDir":{}},{"name":"mem","emptyDir":{"medium":"Memory"}},
      {"name":"conf","configMap":{"name":"m","defaultMode":420}},
      {"name":"proj","projected":{"defaultMode":420,"sources":[
        {"serviceAccountToken":{"path":"token"}},{"secret":{"name":"s"}},
        {"downwardAPI":{"items":[{"path":"labels","fieldRef":{"fieldPath":"metadata.labels"}}]}}
      ]}}],
    "containers":[{"name":"c","volumeMounts":[{"name":"disk","mountPath":"/d","subPath":"a/b"},
      {"name":"conf","mountPath":"/k","subPath":"k"},{"name":"proj","mountPath":"/p"},
      {"name":"mem","mountPath":"/m"}]}]})";

// What a worker does: asks until it is done, and again after a while.
class Story {
 public:
  explicit Story(uint64_t seed) : world_({.seed = seed, .shards = 1}) {
    disk_.set_fault([this](const std::string& call, const std::string&) -> std::optional<Error> {
      if (!troubled_ || world_.random().Unit() >= fails_) return std::nullopt;
      // What is looked at and cannot be, or what is not done.
      if (call == "stat" || call == "list") return Error(ErrorCode::kIo, "a bad disk");
      return Error(ErrorCode::kOverloaded, "the disk is full");
    });
    fails_ = 0.02 * world_.random().Unit();
    Begin();
    SetObjects();
  }
  ~Story() { End(); }

  void Trouble() {
    for (int i = 0; i < 60; ++i) {
      Happen();
      world_.RunUntil(After(world_.clock().Now(), Milliseconds(200)));
      if (disk_.dead()) Kill();
      CheckMounts();
    }
  }

  void Calm() {
    troubled_ = false;
    jobs_->faults() = {};
    objects_->set_unavailable(false);
    disk_.Live();
    for (int i = 0; i < kPods; ++i) Ask(i);
    world_.RunUntil(After(world_.clock().Now(), Minutes(10)));
  }

  void CheckEnd() {
    std::map<std::string, int> points;
    for (const auto& mount : disk_.mounts()) ++points[mount.point];
    for (int i = 0; i < kPods; ++i) {
      const std::string folder = "/agent/pods/" + Uid(i);
      const auto tree = disk_.Tree(folder);
      if (!wanted_[i]) {
        // Its own directory is who removes directories' to remove.
        for (const auto& [path, what] : tree) {
          EXPECT_TRUE(path == folder || path == folder + "/volumes" || path == folder + "/plugins")
              << "left: " << path;
        }
        for (const auto& [point, count] : points) {
          EXPECT_FALSE(point.starts_with(folder + "/")) << "still mounted: " << point;
        }
        continue;
      }
      const std::string volumes = folder + "/volumes/kubernetes.io~";
      EXPECT_EQ(points[volumes + "empty-dir/mem"], 1);
      EXPECT_EQ(points[volumes + "projected/proj"], 1);
      EXPECT_EQ(points[folder + "/volume-subpaths/disk/c/0"], 1);
      EXPECT_EQ(disk_.Content(volumes + "configmap/conf/k"), value_);
      EXPECT_EQ(disk_.Content(volumes + "projected/proj/pw"), value_);
      EXPECT_EQ(disk_.Content(volumes + "projected/proj/labels"), "app=\"" + label_[i] + "\"");
      if (kept_[i]) {
        EXPECT_EQ(disk_.Content(volumes + "empty-dir/disk/kept"), kept_[i])
            << "what a container wrote";
      }
      int stamps = 0;
      for (const auto& [path, what] : tree) {
        if (path.starts_with(volumes + "configmap/conf/..2") && what.ends_with("dir")) ++stamps;
      }
      EXPECT_EQ(stamps, 1) << "directories of before";
    }
    EXPECT_LE(objects_->followed().size(), static_cast<size_t>(kPods));
  }

 private:
  static std::string Uid(int i) { return "u-" + std::to_string(i); }
  kube::PodRef Pod(int i) {
    return RefFrom(kSpec, Uid(i), R"("labels":{"app":")" + label_[i] + R"("})");
  }

  void Begin() {
    disk_.Live();
    jobs_ = std::make_unique<sim::SimDiskJobs>(world_.loop(0), world_.random(), disk_);
    objects_ = std::make_unique<ObjectsForTests>(world_.loop(0));
    manager_ = std::make_unique<VolumeManager>(
        world_.loop(0), world_.random(), *jobs_, *objects_, Logger(log_),
        VolumeManagerOptions{.node = {.root_folder = "/agent"}, .jobs_max = 3, .renewals_max = 2});
    objects_->set_user(manager_.get());
    if (troubled_) {
      Random& random = world_.random();
      jobs_->faults() = {.delay_max = Milliseconds(300),
                         .refuses = 0.05 * random.Unit(),
                         .hangs = 0.05 * random.Unit(),
                         .hangs_for = Seconds(5)};
    }
    busy_.clear();
    mounted_.clear();
  }
  void End() {
    ++life_;
    objects_->set_user(nullptr);
    manager_.reset();
    jobs_.reset();
    objects_.reset();
  }
  void Kill() {
    End();
    Begin();
    SetObjects();
    for (int i = 0; i < kPods; ++i) Ask(i);
  }

  void SetObjects() {
    objects_->Set(ConfigMapKey("m"),
                  BytesOf<kube::core::ConfigMap>(R"({"data":{"k":")" + value_ + R"("}})"));
    kube::core::Secret secret;
    (*secret.mutable_data())["pw"] = value_;
    objects_->Set(SecretKey("s"), std::make_shared<const std::string>(secret.SerializeAsString()));
  }

  void Happen() {
    Random& random = world_.random();
    const int pod = static_cast<int>(random.Below(kPods));
    switch (random.Below(8)) {
      case 0:
      case 1:
      case 2:
        wanted_[pod] = !wanted_[pod];
        if (!wanted_[pod]) kept_[pod].reset();
        return Ask(pod);
      case 3:
        value_ = std::to_string(random.Below(1000));
        return SetObjects();
      case 4:
        label_[pod] = "l" + std::to_string(random.Below(1000));
        // A worker tells of it from the moment on when it has asked for a mount.
        if (wanted_[pod]) manager_->Changed(Pod(pod));
        return;
      case 5:
        // Killed before one of the next calls.
        return disk_.Live(random.Below(60));
      case 6:
        return objects_->set_unavailable(random.Below(3) == 0);
      default:
        if (mounted_.count(pod) != 0 && wanted_[pod]) Write(pod);
    }
  }

  // A container writes into its volume.
  void Write(int i) {
    kept_[i] = std::to_string(world_.random().Below(1000));
    disk_.Put("/agent/pods/" + Uid(i) + "/volumes/kubernetes.io~empty-dir/disk/kept", *kept_[i]);
  }

  // One question about a pod at a time, as a worker has it.
  void Ask(int i) {
    if (!busy_.insert(i).second) return;
    const auto answered = [this, i, life = life_](bool ok, bool mount) {
      if (life != life_) return;
      busy_.erase(i);
      if (mount && ok) mounted_.insert(i);
      if (ok && wanted_[i] == mount) return;
      world_.loop(0).Arm(After(world_.clock().Now(), Milliseconds(500)), [this, i, life] {
        if (life == life_) Ask(i);
      });
    };
    Context context;
    context.deadline = After(world_.clock().Now(), Seconds(2));
    if (!wanted_[i]) {
      mounted_.erase(i);
      return manager_->Unmount(context, PodUid(Uid(i)),
                               [answered](const Status& gone) { answered(!!gone, false); });
    }
    disk_.PutFolder("/agent/pods/" + Uid(i) + "/volumes");
    disk_.PutFolder("/agent/pods/" + Uid(i) + "/plugins");
    const kube::PodRef pod = Pod(i);
    manager_->Mount(
        context, pod,
        [this, context, pod, answered, life = life_](const Result<sync::MountedVolumes>& answer) {
          const bool mounted = answer && answer->missing.empty();
          if (life != life_) return;
          if (!mounted) return answered(false, true);
          manager_->MountsOf(context, pod, {.name = "c"}, {},
                             [answered](const Result<std::vector<sync::MountSpec>>& mounts) {
                               answered(!!mounts, true);
                             });
        });
  }

  void CheckMounts() {
    std::set<std::string> points;
    for (const auto& mount : disk_.mounts()) {
      EXPECT_TRUE(points.insert(mount.point).second) << "mounted twice: " << mount.point;
    }
  }

  sim::World world_;
  fakes::FakeDisk disk_;
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput log_{.format = {}, .clock = world_.clock(), .verbosity = verbosity_, .sink = sink_};
  bool troubled_ = true;
  double fails_ = 0;
  uint64_t life_ = 0;
  std::unique_ptr<sim::SimDiskJobs> jobs_;
  std::unique_ptr<ObjectsForTests> objects_;
  std::unique_ptr<VolumeManager> manager_;
  std::string value_ = "first";
  std::map<int, bool> wanted_;
  std::map<int, std::string> label_;
  std::map<int, std::optional<std::string>> kept_;
  std::set<int> busy_;
  std::set<int> mounted_;
};

TEST(VolumeSim, TroubledAndKilledItConverges) {
  for (const uint64_t seed : sim::Seeds(kSeeds)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Story story(seed);
    story.Trouble();
    story.Calm();
    story.CheckEnd();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace denselet::managers
