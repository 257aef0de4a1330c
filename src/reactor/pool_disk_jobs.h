// Jobs on this machine's disk and mounts, by the blocking pool. One a shard, on which it lives; its
// owner calls Stop() and keeps it until that has answered.
#pragma once

#include "reactor/api/disk_jobs.h"
#include "reactor/blocking_pool.h"
#include "reactor/gate.h"
#include "reactor/shard.h"

namespace denselet::reactor {

class PoolDiskJobs final : public DiskJobs {
 public:
  PoolDiskJobs(Shard& home, BlockingPool& pool) : home_(home), pool_(pool), gate_(home.loop()) {}

  // No more jobs (kCancelled); `stopped` is called when the last one has answered.
  void Stop(Task stopped) { gate_.Close(std::move(stopped)); }

  uint64_t MakeLane() override { return pool_.MakeLane().number; }
  void Run(const Context&, DiskJob, DiskWork, Done<std::string>) override;

 private:
  Shard& home_;
  BlockingPool& pool_;
  Gate gate_;
};

}  // namespace denselet::reactor
