// The volumes of one shard's pods: brought up when a worker asks, kept up to date when something
// that they are made of changes, taken down at the end. Nothing is looked at on a schedule: a
// change comes as a call, a token's renewal as a timer. The clock alone is looked at, once a minute
// for all tokens: it may have been set.
//
//   Mount ----> ask for objects and tokens ----> one job: places, mounts, files ----> mounted
//                                                                                        |
//   object changed, pod changed, token due ----> stale ----> ask ----> one job: files <--+
//                                                                                        |
//   Unmount --------------------------------------> one job: all away <------------------+
//
// Jobs of one pod are a lane: one after the other, also behind one that hangs and was given up, so
// a volume that hangs holds its own pod. What is mounted is on the machine and nowhere else: after
// a restart a job looks and finds it done.
//
// Owned by the composition root; lives on one shard, and what it is given outlives it. Destroyed,
// jobs under way end and their askers hear nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "managers/volume/filling.h"
#include "managers/volume/job_line.h"
#include "managers/volume/payload.h"
#include "managers/volume/renewal_troubles.h"
#include "managers/volume/volume_plan.h"
#include "reactor/api/disk_jobs.h"
#include "reactor/api/loop.h"
#include "sync/ports/pod_mounts.h"
#include "sync/ports/pod_objects.h"
#include "sync/ports/pod_volumes.h"

namespace denselet::managers {

struct VolumeManagerOptions {
  VolumeNode node = {};
  // Jobs of this shard that the pool has at once, and a quarter as many that remove, or look at
  // hosts' paths; more wait here in line, one or two a pod.
  uint32_t jobs_max = 32;
  // Pods whose files are renewed at once; more wait in a line of their own, one place a pod, so
  // that a configMap of a thousand pods does not hold up those that start.
  uint32_t renewals_max = 16;
  Duration renewal_limit = Seconds(30);
  // Between two of one pod: an object that is written all the time is seen now and then.
  Duration renewal_period_min = Seconds(1);
  Duration renewal_pause_min = Seconds(1);  // after one that failed; doubled
  Duration renewal_pause_max = Minutes(1);
};

class VolumeManager final : public sync::PodMounts,
                            public sync::PodVolumes,
                            public sync::PodObjectsUser {
 public:
  VolumeManager(reactor::Loop& loop, Random& random, reactor::DiskJobs& jobs,
                sync::PodObjects& objects, const Logger& log, VolumeManagerOptions options);
  ~VolumeManager() override;
  VolumeManager(const VolumeManager&) = delete;
  VolumeManager& operator=(const VolumeManager&) = delete;

  // Who hears of volumes that cannot be renewed; before the first pod.
  void SetUser(sync::PodMountsUser& user) { user_ = &user; }

  // What there is for pods: the most that a tmpfs may hold, and what the downward API tells; and
  // what the runtime can do. From the next job on.
  void SetNode(kube::NodeAllocatable allocatable, bool recursive_read_only) {
    node_.allocatable = std::move(allocatable);
    node_.recursive_read_only = recursive_read_only;
  }

  // sync::PodMounts
  void Mount(const Context&, const kube::PodRef&, reactor::Done<sync::MountedVolumes>) override;
  void Changed(const kube::PodRef&) override;
  void Unmount(const Context&, const PodUid&, reactor::Done<Unit>) override;

  // sync::PodVolumes
  void MountsOf(const Context&, const kube::PodRef&, const sync::ContainerWish&,
                const sync::KeyValues& env, reactor::Done<std::vector<sync::MountSpec>>) override;
  void ReadFile(const Context&, const kube::PodRef&, const std::string& volume,
                const std::string& path, size_t bytes_max, reactor::Done<std::string>) override;

  // sync::PodObjectsUser
  void OnObjectChanged(const PodUid& pod, const sync::ObjectKey& key) override;

  // Of one pod, for who asks.
  enum class Stage : uint8_t { kMounting, kFailed, kMounted, kUnmounting };
  struct Report {
    PodUid pod = {};
    Stage stage = Stage::kMounting;
    std::set<std::string> stale = {};  // volumes whose files are to be renewed
  };
  std::vector<Report> Reports() const;
  size_t jobs_waiting() const { return line_.waiting(); }

 private:
  class SubPaths;
  struct Pod {
    kube::PodRef pod = {};
    uint64_t lane = 0;
    // Of the Mount or Unmount that was asked for last: answers for an earlier one find nobody.
    uint64_t turn = 0;
    Stage stage = Stage::kMounting;
    std::set<std::string> used = {};    // the others are nobody's business
    std::set<std::string> coming = {};  // used for the first time since the pod was mounted
    std::set<std::string> stale = {};
    bool renewing = false;
    bool in_line = false;
    Duration pause = Duration::zero();
    TimePoint renew_at = kNever;  // of what failed, or came too soon
    TimePoint calm_until = {};    // no renewal before
    RenewalTroubles troubles = {};
    std::map<std::string, WallTime> tokens = {};  // by volume: when the first of them is due
    reactor::TimerId timer = {};
    // By container and index of its volumeMount: why a part of a volume was refused, as logged.
    std::map<std::pair<std::string, size_t>, std::string> refused_parts = {};
  };
  Pod& PodOf(const PodUid& uid);
  Pod* Find(const PodUid& uid, uint64_t turn);

  void SetUp(const Context& context, const PodUid& uid, uint64_t turn, const SourceAnswers& answers,
             reactor::Done<sync::MountedVolumes> done);
  Result<Filling> Fill(const kube::PodRef& pod, const std::set<std::string>* only,
                       const SourceAnswers& answers);
  void MarkStale(const PodUid& uid, Pod& pod, const std::set<std::string>& volumes);
  void RenewInTurn();
  void Renew(const PodUid& uid, Pod& pod);
  void WriteFiles(const Context& context, const PodUid& uid, uint64_t turn,
                  std::set<std::string> volumes, const SourceAnswers& answers);
  void TellOfRenewal(const PodUid& uid, uint64_t turn, const std::set<std::string>& volumes,
                     const std::vector<sync::VolumeFault>& failed);
  void EndRenewal(const PodUid& uid, uint64_t turn, const std::set<std::string>& again,
                  const std::map<std::string, WallTime>& tokens);
  void ArmTimer(const PodUid& uid, Pod& pod);
  void OnTimer(const PodUid& uid);
  // As long as there are tokens.
  void WatchClock();

  void RunSetUp(const Context& context, reactor::DiskJob job, std::vector<FilledVolume> volumes,
                reactor::Done<std::vector<sync::VolumeFault>> done);
  void Run(const Context& context, reactor::DiskJob job, reactor::DiskWork work,
           reactor::Done<std::string> done);
  template <class T>
  void Refuse(const Error& error, reactor::Done<T> done) {
    loop_.Post([done = std::move(done), error]() mutable { done(error); });
  }

  reactor::Loop& loop_;
  Random& random_;
  reactor::DiskJobs& jobs_;
  sync::PodObjects& objects_;
  const Logger log_;
  sync::PodMountsUser* user_ = nullptr;
  const VolumeManagerOptions options_;
  VolumeNode node_;
  std::map<PodUid, Pod> pods_;
  uint64_t turns_ = 0;
  JobLine line_;
  std::deque<PodUid> renewal_line_;
  uint32_t renewals_ = 0;
  reactor::TimerId clock_timer_ = {};
  bool watches_clock_ = false;
  // Callbacks of jobs and of the objects' cache may come after our end.
  std::shared_ptr<bool> alive_;
};

}  // namespace denselet::managers
