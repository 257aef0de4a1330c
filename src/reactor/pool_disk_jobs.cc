#include "reactor/pool_disk_jobs.h"

#include <optional>
#include <utility>

#include "reactor/kernel_disk_calls.h"

namespace denselet::reactor {
namespace {

Share ShareOf(DiskJob::Kind kind) {
  switch (kind) {
    case DiskJob::Kind::kOrdinary:
      return Share::kAll;
    case DiskJob::Kind::kRemoval:
      return Share::kRemovals;
    case DiskJob::Kind::kForeignPaths:
      return Share::kForeignPaths;
  }
  return Share::kAll;
}

}  // namespace

void PoolDiskJobs::Run(const Context& context, DiskJob job, DiskWork work, Done<std::string> done) {
  std::optional<Gate::Pass> pass = gate_.Enter();
  if (!pass) {
    home_.loop().Post([done = std::move(done)]() mutable {
      done(Error(ErrorCode::kCancelled, "no more jobs are taken"));
    });
    return;
  }
  pool_.Run<std::string>(
      home_, context, {job.doing, std::move(job.subject), Lane{job.lane}, ShareOf(job.kind)},
      [work = std::move(work)]() mutable -> Result<std::string> {
        KernelDiskCalls calls;
        return work(calls);
      },
      [pass = std::move(*pass), done = std::move(done)](Result<std::string> answer) mutable {
        done(std::move(answer));
      });
}

}  // namespace denselet::reactor
