// The jobs of one shard on their way to the pool: so many of each kind at once, the most urgent
// first. Those that wait for a dead server's paths do not hold up others.
//
// A job that waits here is answered when its context ends, not when its turn comes. Jobs of one
// lane keep their order, whatever their kinds: one does not overtake another that waits. Bounded by
// its users: one or two jobs a pod.
//
// A part of VolumeManager, on its shard. Destroyed, those who wait hear nothing.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "base/context.h"
#include "reactor/api/disk_jobs.h"
#include "reactor/api/loop.h"

namespace denselet::managers {

class JobLine {
 public:
  // Of the ordinary ones; of the other kinds a quarter.
  JobLine(reactor::Loop& loop, reactor::DiskJobs& jobs, uint32_t jobs_max);
  ~JobLine();
  JobLine(const JobLine&) = delete;
  JobLine& operator=(const JobLine&) = delete;

  // See DiskJobs::Run.
  void Run(const Context& context, reactor::DiskJob job, reactor::DiskWork work,
           reactor::Done<std::string> done);

  size_t waiting() const;

 private:
  struct Waiting {
    Context context;
    reactor::DiskJob job;
    reactor::DiskWork work;
    reactor::Done<std::string> done;
    reactor::TimerId deadline = {};
    CancelRegistration cancelled = {};
  };
  using Place = std::pair<Priority, uint64_t>;
  struct OfKind {
    uint32_t running = 0;
    std::map<Place, Waiting> waiting = {};
  };

  OfKind& Of(reactor::DiskJob::Kind kind) { return kinds_[static_cast<size_t>(kind)]; }
  void Enter(Waiting waiting);
  void Wait(Waiting waiting);
  // One that waited does not any more: those of its lane that came behind it are next.
  void FollowUp(uint64_t lane);
  void GiveUp(reactor::DiskJob::Kind kind, Place place, ErrorCode code);
  void Start(Waiting waiting);

  reactor::Loop& loop_;
  reactor::DiskJobs& jobs_;
  const uint32_t jobs_max_;
  uint64_t next_ = 1;
  std::array<OfKind, 3> kinds_;
  // By lane, of each that has a job in `waiting`: what came after that.
  std::map<uint64_t, std::deque<Waiting>> behind_;
  // Callbacks may come after our end.
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace denselet::managers
