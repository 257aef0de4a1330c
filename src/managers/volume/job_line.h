// The jobs of one shard on their way to the pool: so many of each kind at once, the most urgent
// first. Those that wait for a dead server's paths do not hold up others.
//
// Jobs have a lane, and those of one lane run one after the other as they came, whatever their
// kinds and however urgent: the first of each may have its turn, the others wait behind it, also
// when it was given up and hangs, so that they hold no place meanwhile. Jobs with paths of others
// that take long make way for others, up to a bound. A job that waits here is answered when its
// context ends, not when its turn comes. Bounded by its users: one or two jobs a pod.
//
// A part of VolumeManager, on its shard. Destroyed, those who wait hear nothing.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/context.h"
#include "base/result.h"
#include "base/time.h"
#include "reactor/api/disk_jobs.h"
#include "reactor/api/loop.h"

namespace denselet::managers {

class JobLine {
 public:
  // Of the ordinary ones; of the other kinds a quarter, and half as many that have made way.
  JobLine(reactor::Loop& loop, reactor::DiskJobs& jobs, uint32_t jobs_max);
  ~JobLine();
  JobLine(const JobLine&) = delete;
  JobLine& operator=(const JobLine&) = delete;

  // See DiskJobs::Run.
  void Run(const Context& context, reactor::DiskJob job, reactor::DiskWork work,
           reactor::Done<std::string> done);

  size_t waiting() const { return waiting_.size(); }

 private:
  using Kind = reactor::DiskJob::Kind;
  using Place = std::pair<Priority, uint64_t>;  // no two jobs have the same
  struct Waiting {
    Context context;
    reactor::DiskJob job;
    reactor::DiskWork work;
    reactor::Done<std::string> done;
    reactor::TimerId deadline = {};
    CancelRegistration cancelled = {};
  };
  struct OfKind {
    uint32_t running = 0;       // but for those that have made way
    std::set<Place> next = {};  // each the first of its lane
  };
  struct Running {
    Kind kind;
    uint64_t lane;
    bool made_way = false;
    reactor::TimerId patience = {};
  };
  static constexpr Duration kForeignTimeMax = Seconds(1);

  OfKind& Of(Kind kind) { return kinds_[static_cast<size_t>(kind)]; }
  bool IsFull(Kind kind);
  // Sees to it that it is answered when its context ends.
  void Watch(Place place, Waiting& waiting);
  Waiting Take(Place place);
  void GiveUp(Place place, ErrorCode code);
  void Start(Waiting waiting);
  void StartNext(Kind kind);
  void BePatient(uint64_t number);
  void End(uint64_t number, std::optional<ErrorCode> fault);
  // The call of the lane that was given up hangs: the next is to wait here until it has returned.
  void AwaitReturn(uint64_t lane);
  // The job of the lane that had its turn is over.
  void NextOfLane(uint64_t lane);

  reactor::Loop& loop_;
  reactor::DiskJobs& jobs_;
  const uint32_t jobs_max_;
  uint64_t next_ = 1;
  std::map<Place, Waiting> waiting_;
  std::array<OfKind, 3> kinds_;
  std::map<uint64_t, Running> running_;
  uint32_t made_way_ = 0;
  // By lane, of each that has a job whose turn it is: what came after that.
  std::map<uint64_t, std::deque<Place>> behind_;
  // Callbacks may come after our end.
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace denselet::managers
