#include "managers/volume/job_line.h"

#include <algorithm>

namespace denselet::managers {

using Kind = reactor::DiskJob::Kind;

JobLine::JobLine(reactor::Loop& loop, reactor::DiskJobs& jobs, uint32_t jobs_max)
    : loop_(loop), jobs_(jobs), jobs_max_(jobs_max) {}

JobLine::~JobLine() {
  *alive_ = false;
  for (OfKind& kind : kinds_) {
    for (auto& [place, waiting] : kind.waiting) loop_.Disarm(waiting.deadline);
  }
}

size_t JobLine::waiting() const {
  size_t all = 0;
  for (const OfKind& kind : kinds_) all += kind.waiting.size();
  for (const auto& [lane, jobs] : behind_) all += jobs.size();
  return all;
}

void JobLine::Run(const Context& context, reactor::DiskJob job, reactor::DiskWork work,
                  reactor::Done<std::string> done) {
  Enter({context, std::move(job), std::move(work), std::move(done)});
}

void JobLine::Enter(Waiting waiting) {
  const reactor::DiskJob& job = waiting.job;
  if (const auto before = behind_.find(job.lane); before != behind_.end()) {
    before->second.push_back(std::move(waiting));
    return;
  }
  const uint32_t max = job.kind == Kind::kOrdinary ? jobs_max_ : std::max(jobs_max_ / 4, 1u);
  if (Of(job.kind).running < max) return Start(std::move(waiting));
  behind_.try_emplace(job.lane);
  Wait(std::move(waiting));
}

void JobLine::FollowUp(uint64_t lane) {
  auto node = behind_.extract(lane);
  if (!node) return;
  for (Waiting& next : node.mapped()) Enter(std::move(next));
}

// One whose context has ended already has the pool's answer when its turn comes, or this one.
void JobLine::Wait(Waiting waiting) {
  const Kind kind = waiting.job.kind;
  const Place place{waiting.context.priority, next_++};
  if (waiting.context.deadline != kNever) {
    waiting.deadline = loop_.Arm(waiting.context.deadline, [this, kind, place] {
      GiveUp(kind, place, ErrorCode::kDeadlineExceeded);
    });
  }
  const auto cancelled = [this, alive = alive_, kind, place] {
    loop_.Post([this, alive, kind, place] {
      if (*alive) GiveUp(kind, place, ErrorCode::kCancelled);
    });
  };
  if (waiting.context.cancel.cancelled()) {
    cancelled();
  } else {
    waiting.cancelled = waiting.context.cancel.OnCancel(cancelled);
  }
  Of(kind).waiting.emplace(place, std::move(waiting));
}

void JobLine::GiveUp(Kind kind, Place place, ErrorCode code) {
  auto node = Of(kind).waiting.extract(place);
  if (!node) return;
  Waiting& waiting = node.mapped();
  loop_.Disarm(waiting.deadline);
  FollowUp(waiting.job.lane);
  waiting.done(Error(code, "it had no turn").With(waiting.job.doing, waiting.job.subject));
}

void JobLine::Start(Waiting waiting) {
  const Kind kind = waiting.job.kind;
  ++Of(kind).running;
  loop_.Disarm(waiting.deadline);
  waiting.cancelled.Forget();
  jobs_.Run(waiting.context, std::move(waiting.job), std::move(waiting.work),
            [this, alive = alive_, kind,
             done = std::move(waiting.done)](Result<std::string> answer) mutable {
              if (!*alive) return;
              OfKind& mine = Of(kind);
              --mine.running;
              if (!mine.waiting.empty()) {
                auto next = mine.waiting.extract(mine.waiting.begin());
                const uint64_t lane = next.mapped().job.lane;
                Start(std::move(next.mapped()));
                FollowUp(lane);
              }
              done(std::move(answer));
            });
}

}  // namespace denselet::managers
