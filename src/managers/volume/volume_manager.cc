#include "managers/volume/volume_manager.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/quoted.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "managers/volume/source_fetch.h"
#include "managers/volume/volume_setup.h"

namespace denselet::managers {
namespace {

namespace core = kube::core;
using Parsed = Result<std::unique_ptr<core::Pod>>;

// A token that could not be renewed in time serves on; this long until the next look.
constexpr Duration kTokenPauseMin = Seconds(30);
// Tokens end by the wall's clock, and timers run by the one that stands still while the machine is
// suspended: once in a while somebody looks whether the two have parted.
constexpr Duration kClockPeriod = Minutes(1);
constexpr Duration kClockStepMin = Seconds(1);

PodUid UidOf(const kube::PodRef& pod) { return PodUid(std::string(pod->hot().uid)); }

// A name that could lead elsewhere is nobody's pod.
Status CheckUid(const PodUid& uid) {
  const std::string& name = uid.value();
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
    return Error(ErrorCode::kInvalid, "a uid that no directory can have");
  }
  return Ok();
}

bool SameMap(const google::protobuf::Map<std::string, std::string>& a,
             const google::protobuf::Map<std::string, std::string>& b) {
  return std::ranges::equal(kube::Sorted(a), kube::Sorted(b), [](const auto* x, const auto* y) {
    return x->first == y->first && x->second == y->second;
  });
}

// Whether the pod tells other things of itself than before.
bool TellsTheSame(const kube::PodRef& before, const kube::PodRef& now) {
  if (before == now) return true;
  if (before->hot().generation != now->hot().generation) return false;
  const Parsed a = before->ParseWithoutSpec();
  const Parsed b = now->ParseWithoutSpec();
  return a && b && SameMap((*a)->metadata().labels(), (*b)->metadata().labels()) &&
         SameMap((*a)->metadata().annotations(), (*b)->metadata().annotations());
}

// Its set-up asks for a path that is not ours.
bool LooksAtHost(const VolumePlan& plan) {
  return plan.kind == VolumeKind::kHostPath && !plan.host_path_type.empty();
}

reactor::Done<std::string> IgnoreText(reactor::Done<Unit> done) {
  return [done = std::move(done)](const Result<std::string>& answer) mutable {
    if (!answer) return done(answer.error());
    done(Ok());
  };
}

Result<std::string> NoText(const Status& status) {
  if (!status) return status.error();
  return std::string();
}

}  // namespace

VolumeManager::VolumeManager(reactor::Loop& loop, Random& random, reactor::DiskJobs& jobs,
                             sync::PodObjects& objects, const Logger& log,
                             VolumeManagerOptions options)
    : loop_(loop),
      random_(random),
      jobs_(jobs),
      objects_(objects),
      log_(log),
      options_(std::move(options)),
      node_(options_.node),
      line_(loop, jobs, options_.jobs_max),
      alive_(std::make_shared<bool>(true)) {}

VolumeManager::~VolumeManager() {
  *alive_ = false;
  for (auto& [uid, pod] : pods_) loop_.Disarm(pod.timer);
  loop_.Disarm(clock_timer_);
}

VolumeManager::Pod& VolumeManager::PodOf(const PodUid& uid) {
  const auto [at, is_new] = pods_.try_emplace(uid);
  if (is_new) at->second.lane = jobs_.MakeLane();
  return at->second;
}

VolumeManager::Pod* VolumeManager::Find(const PodUid& uid, uint64_t turn) {
  const auto found = pods_.find(uid);
  if (found == pods_.end() || found->second.turn != turn) return nullptr;
  return &found->second;
}

void VolumeManager::Mount(const Context& context, const kube::PodRef& ref,
                          reactor::Done<sync::MountedVolumes> done) {
  const PodUid uid = UidOf(ref);
  if (const Status checked = CheckUid(uid); !checked) {
    return Refuse(checked.error(), std::move(done));
  }
  const Parsed parsed = ref->Parse();
  if (!parsed) return Refuse(parsed.error(), std::move(done));
  Pod& pod = PodOf(uid);
  pod.pod = ref;
  pod.turn = ++turns_;
  pod.stage = Stage::kMounting;
  pod.stale.clear();
  pod.troubles.Clear();
  objects_.Follow(ref);
  pod.used = UsedVolumes(**parsed);
  pod.coming.clear();
  if (pod.used.empty()) {
    pod.stage = Stage::kMounted;
    loop_.Post([done = std::move(done)]() mutable { done(sync::MountedVolumes()); });
    return;
  }
  const SourceWishes wishes = WishesOf(**parsed, &pod.used);
  if (wishes.empty()) {
    return SetUp(context, uid, pod.turn, {}, std::move(done));
  }
  FetchSources(objects_, context, wishes,
               [this, alive = alive_, context, uid, turn = pod.turn,
                done = std::move(done)](const SourceAnswers& answers) mutable {
                 if (*alive) SetUp(context, uid, turn, answers, std::move(done));
               });
}

Result<Filling> VolumeManager::Fill(const kube::PodRef& pod, const std::set<std::string>* only,
                                    const SourceAnswers& answers) {
  const Parsed parsed = pod->Parse();
  if (!parsed) return parsed.error();
  constexpr uint64_t kNumbers = 4'000'000'000;
  const FillingStamp stamp{StampOf(loop_.WallNow()),
                           static_cast<uint32_t>(random_.Below(kNumbers))};
  return FillVolumes(**parsed, only, answers, node_, stamp);
}

void VolumeManager::SetUp(const Context& context, const PodUid& uid, uint64_t turn,
                          const SourceAnswers& answers, reactor::Done<sync::MountedVolumes> done) {
  Pod* pod = Find(uid, turn);
  // Given up meanwhile: nothing may be mounted behind the back of who has unmounted.
  if (pod == nullptr) {
    return Refuse(Error(ErrorCode::kCancelled, "the pod's volumes are wanted no more"),
                  std::move(done));
  }
  Result<Filling> filling = Fill(pod->pod, &pod->used, answers);
  if (!filling) return Refuse(filling.error(), std::move(done));
  RunSetUp(
      context, {"set up volumes", PodFolder(node_.root_folder, uid), pod->lane},
      std::move(filling->volumes),
      [this, uid, turn, missing = std::move(filling->failed), tokens = std::move(filling->tokens),
       done = std::move(done)](Result<std::vector<sync::VolumeFault>> failed) mutable {
        if (failed) std::ranges::move(*failed, std::back_inserter(missing));
        const bool mounted = failed && missing.empty();
        if (Pod* const entry = Find(uid, turn)) {
          entry->stage = mounted ? Stage::kMounted : Stage::kFailed;
          entry->tokens = std::move(tokens);
          ArmTimer(uid, *entry);
          if (mounted) MarkStale(uid, *entry, {});
        }
        if (!failed) return done(failed.error());
        done(sync::MountedVolumes{.missing = std::move(missing)});
      });
}

void VolumeManager::Unmount(const Context& context, const PodUid& uid, reactor::Done<Unit> done) {
  if (const Status checked = CheckUid(uid); !checked) {
    return Refuse(checked.error(), std::move(done));
  }
  Pod& pod = PodOf(uid);
  pod.turn = ++turns_;
  pod.stage = Stage::kUnmounting;
  pod.stale.clear();
  pod.troubles.Clear();
  pod.tokens.clear();
  pod.renew_at = kNever;
  ArmTimer(uid, pod);
  objects_.Unfollow(uid);
  // Whatever the worker's hurry: nobody waits for what is removed, and those who start do.
  Context calm = context;
  calm.priority = std::max(calm.priority, Priority::kNormal);
  Run(
      calm,
      {"take down volumes", PodFolder(node_.root_folder, uid), pod.lane,
       reactor::DiskJob::Kind::kRemoval},
      [root = node_.root_folder, uid](reactor::DiskCalls& disk) {
        return NoText(TearDownPod(disk, root, uid));
      },
      IgnoreText([this, uid, turn = pod.turn, done = std::move(done)](Status gone) mutable {
        if (Pod* const entry = Find(uid, turn); entry != nullptr && gone) {
          loop_.Disarm(entry->timer);
          pods_.erase(uid);
        }
        done(std::move(gone));
      }));
}

void VolumeManager::Changed(const kube::PodRef& ref) {
  const auto found = pods_.find(UidOf(ref));
  if (found == pods_.end() || found->second.stage == Stage::kUnmounting) return;
  Pod& pod = found->second;
  const kube::PodRef before = std::exchange(pod.pod, ref);
  // A status is no news for who follows; a static pod has no generation.
  if (before->hot().generation != ref->hot().generation || ref->hot().generation == 0) {
    objects_.Follow(ref);
  }
  if (ref->hot().volumes == 0 || TellsTheSame(before, ref)) return;
  const Parsed parsed = ref->Parse();
  if (!parsed) return;
  std::set<std::string> stale = VolumesOfThePod(**parsed);
  // An ephemeral container may be the first to mount one.
  const std::set<std::string> before_now = std::exchange(pod.used, UsedVolumes(**parsed));
  for (const std::string& name : pod.used) {
    if (before_now.count(name) == 0) pod.coming.insert(name);
  }
  stale.insert(pod.coming.begin(), pod.coming.end());
  MarkStale(found->first, pod, stale);
}

void VolumeManager::OnObjectChanged(const PodUid& uid, const sync::ObjectKey& key) {
  const auto found = pods_.find(uid);
  if (found == pods_.end() || found->second.stage == Stage::kUnmounting) return;
  const Parsed parsed = found->second.pod->Parse();
  if (parsed) MarkStale(uid, found->second, VolumesWith(**parsed, key));
}

// What comes while the pod is being mounted waits for that. One that could not be mounted is
// mounted again by who asked for it.
void VolumeManager::MarkStale(const PodUid& uid, Pod& pod, const std::set<std::string>& volumes) {
  std::ranges::set_intersection(volumes, pod.used, std::inserter(pod.stale, pod.stale.end()));
  if (!volumes.empty()) pod.renew_at = kNever;
  if (pod.stage != Stage::kMounted || pod.stale.empty() || pod.in_line || pod.renewing) return;
  if (loop_.Now() < pod.calm_until) {
    pod.renew_at = std::min(pod.renew_at, pod.calm_until);
    return ArmTimer(uid, pod);
  }
  pod.in_line = true;
  renewal_line_.push_back(uid);
  RenewInTurn();
}

void VolumeManager::RenewInTurn() {
  while (renewals_ < options_.renewals_max && !renewal_line_.empty()) {
    const PodUid uid = std::move(renewal_line_.front());
    renewal_line_.pop_front();
    const auto found = pods_.find(uid);
    if (found == pods_.end()) continue;
    Pod& pod = found->second;
    pod.in_line = false;
    if (pod.stage == Stage::kMounted && !pod.stale.empty()) Renew(uid, pod);
  }
}

void VolumeManager::Renew(const PodUid& uid, Pod& pod) {
  std::set<std::string> volumes = std::exchange(pod.stale, {});
  const Parsed parsed = pod.pod->Parse();
  if (!parsed) return;  // it could be read when it was mounted
  pod.renewing = true;
  pod.calm_until = After(loop_.Now(), options_.renewal_period_min);
  ++renewals_;
  Context background;
  background.priority = Priority::kBackground;
  const Context context = background.WithTimeout(loop_.Now(), options_.renewal_limit);
  const SourceWishes wishes = WishesOf(**parsed, &volumes);
  if (wishes.empty()) {
    return WriteFiles(context, uid, pod.turn, std::move(volumes), {});
  }
  FetchSources(objects_, context, wishes,
               [this, alive = alive_, context, uid, turn = pod.turn,
                volumes = std::move(volumes)](const SourceAnswers& answers) mutable {
                 if (*alive) WriteFiles(context, uid, turn, std::move(volumes), answers);
               });
}

void VolumeManager::WriteFiles(const Context& context, const PodUid& uid, uint64_t turn,
                               std::set<std::string> volumes, const SourceAnswers& answers) {
  Pod* pod = Find(uid, turn);
  if (pod == nullptr) return EndRenewal(uid, turn, {}, {});
  Result<Filling> filling = Fill(pod->pod, &volumes, answers);
  if (!filling) return EndRenewal(uid, turn, {}, {});
  std::set<std::string> again;
  for (const auto& [name, why] : filling->failed) {
    // Somebody has removed what it is made of: its files stay, and when it comes back we are told.
    if (why.code() != ErrorCode::kNotFound) again.insert(name);
    // Its token is due as before, which is no reason to ask at once.
    if (pod->tokens.count(name) != 0) {
      filling->tokens[name] = loop_.WallNow() + options_.renewal_pause_max;
    }
  }
  RunSetUp(context, {"renew volumes", PodFolder(node_.root_folder, uid), pod->lane},
           std::move(filling->volumes),
           [this, uid, turn, volumes = std::move(volumes), again = std::move(again),
            failed = std::move(filling->failed), tokens = std::move(filling->tokens)](
               const Result<std::vector<sync::VolumeFault>>& ended) mutable {
             if (ended) {
               failed.insert(failed.end(), ended->begin(), ended->end());
               for (const auto& [name, why] : *ended) again.insert(name);
             } else {
               failed.clear();
               for (const std::string& name : volumes) failed.push_back({name, ended.error()});
               again = volumes;
             }
             TellOfRenewal(uid, turn, volumes, failed);
             EndRenewal(uid, turn, again, tokens);
           });
}

void VolumeManager::TellOfRenewal(const PodUid& uid, uint64_t turn,
                                  const std::set<std::string>& volumes,
                                  const std::vector<sync::VolumeFault>& failed) {
  Pod* const pod = Find(uid, turn);
  if (pod == nullptr) return;
  std::set<std::string> renewed = volumes;
  for (const sync::VolumeFault& fault : failed) renewed.erase(fault.volume);
  for (const std::string& volume : renewed) pod->coming.erase(volume);
  if (user_ == nullptr) return;
  for (const sync::VolumeFault& fault : failed) {
    if (pod->troubles.Note(fault, loop_.Now(), random_)) user_->OnVolumeNotRenewed(uid, fault);
  }
  for (const std::string& volume : renewed) {
    if (pod->troubles.End(volume)) user_->OnVolumeRenewed(uid, volume);
  }
}

void VolumeManager::EndRenewal(const PodUid& uid, uint64_t turn, const std::set<std::string>& again,
                               const std::map<std::string, WallTime>& tokens) {
  --renewals_;
  const auto found = pods_.find(uid);
  if (found != pods_.end()) found->second.renewing = false;
  if (Pod* const pod = Find(uid, turn)) {
    for (const auto& [volume, due] : tokens) pod->tokens[volume] = due;
    pod->pause = again.empty() ? Duration::zero()
                               : std::clamp(pod->pause * 2, options_.renewal_pause_min,
                                            options_.renewal_pause_max);
    const bool more = !pod->stale.empty();
    pod->stale.insert(again.begin(), again.end());
    pod->renew_at = again.empty() ? kNever : After(loop_.Now(), pod->pause);
    ArmTimer(uid, *pod);
    if (more) MarkStale(uid, *pod, {});
  } else if (found != pods_.end()) {
    // Mounted again meanwhile; what became stale since then has waited for this.
    MarkStale(uid, found->second, {});
  }
  RenewInTurn();
}

void VolumeManager::ArmTimer(const PodUid& uid, Pod& pod) {
  loop_.Disarm(pod.timer);
  TimePoint when = std::min(pod.renew_at, pod.troubles.next());
  for (const auto& [volume, due] : pod.tokens) {
    const Duration left = std::max(due - loop_.WallNow(), kTokenPauseMin);
    when = std::min(when, After(loop_.Now(), left));
  }
  if (!pod.tokens.empty()) WatchClock();
  if (when == kNever) return;
  pod.timer = loop_.Arm(when, [this, uid] { OnTimer(uid); });
}

void VolumeManager::WatchClock() {
  if (std::exchange(watches_clock_, true)) return;
  const auto lead = [this] {
    return loop_.WallNow().time_since_epoch() - loop_.Now().time_since_epoch();
  };
  clock_timer_ = loop_.Arm(After(loop_.Now(), kClockPeriod), [this, lead, before = lead()] {
    watches_clock_ = false;
    const Duration step = lead() - before;
    std::vector<PodUid> with_tokens;
    for (const auto& [uid, pod] : pods_) {
      if (!pod.tokens.empty()) with_tokens.push_back(uid);
    }
    if (with_tokens.empty()) return;
    WatchClock();
    if (step < kClockStepMin && step > -kClockStepMin) return;
    for (const PodUid& uid : with_tokens) OnTimer(uid);
  });
}

void VolumeManager::OnTimer(const PodUid& uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return;
  Pod& pod = found->second;
  if (pod.stage != Stage::kMounted) return;
  for (const sync::VolumeFault& fault : pod.troubles.Due(loop_.Now(), random_)) {
    user_->OnVolumeNotRenewed(uid, fault);
  }
  std::set<std::string> due;
  for (const auto& [volume, when] : pod.tokens) {
    if (when <= loop_.WallNow()) due.insert(volume);
  }
  const bool renewing = pod.renewing || pod.in_line;
  if (pod.renew_at <= loop_.Now() || !due.empty()) {
    pod.renew_at = kNever;
    MarkStale(uid, pod, due);
  }
  // A renewal's end arms it again.
  if (!renewing && !pod.renewing && !pod.in_line) ArmTimer(uid, pod);
}

// What failed is shared with the job, which may outlive who asked; it is read when the job has
// ended.
void VolumeManager::RunSetUp(const Context& context, reactor::DiskJob job,
                             std::vector<FilledVolume> volumes,
                             reactor::Done<std::vector<sync::VolumeFault>> done) {
  if (std::ranges::any_of(volumes, [](const FilledVolume& v) { return LooksAtHost(v.plan); })) {
    job.kind = reactor::DiskJob::Kind::kForeignPaths;
  }
  const auto failed = std::make_shared<std::vector<sync::VolumeFault>>();
  Run(
      context, std::move(job),
      [volumes = std::move(volumes), failed](reactor::DiskCalls& disk) {
        *failed = SetUpVolumes(disk, volumes);
        return Result<std::string>(std::string());
      },
      [failed, done = std::move(done)](const Result<std::string>& ended) mutable {
        if (!ended) return done(ended.error());
        done(std::move(*failed));
      });
}

void VolumeManager::Run(const Context& context, reactor::DiskJob job, reactor::DiskWork work,
                        reactor::Done<std::string> done) {
  line_.Run(context, std::move(job), std::move(work), std::move(done));
}

std::vector<VolumeManager::Report> VolumeManager::Reports() const {
  std::vector<Report> reports;
  for (const auto& [uid, pod] : pods_) reports.push_back({uid, pod.stage, pod.stale});
  return reports;
}

}  // namespace denselet::managers
