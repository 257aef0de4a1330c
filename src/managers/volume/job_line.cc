#include "managers/volume/job_line.h"

#include <algorithm>

namespace denselet::managers {

JobLine::JobLine(reactor::Loop& loop, reactor::DiskJobs& jobs, uint32_t jobs_max)
    : loop_(loop), jobs_(jobs), jobs_max_(jobs_max) {}

JobLine::~JobLine() {
  *alive_ = false;
  for (auto& [place, waiting] : waiting_) loop_.Disarm(waiting.deadline);
  for (auto& [number, job] : running_) loop_.Disarm(job.patience);
}

bool JobLine::IsFull(Kind kind) {
  const uint32_t max = kind == Kind::kOrdinary ? jobs_max_ : std::max(jobs_max_ / 4, 1u);
  return Of(kind).running >= max;
}

void JobLine::Run(const Context& context, reactor::DiskJob job, reactor::DiskWork work,
                  reactor::Done<std::string> done) {
  const Kind kind = job.kind;
  const auto [behind, is_first] = behind_.try_emplace(job.lane);
  Waiting waiting{context, std::move(job), std::move(work), std::move(done)};
  if (is_first && !IsFull(kind)) return Start(std::move(waiting));
  const Place place{context.priority, next_++};
  Watch(place, waiting);
  waiting_.emplace(place, std::move(waiting));
  if (is_first) {
    Of(kind).next.insert(place);
  } else {
    behind->second.push_back(place);
  }
}

void JobLine::Watch(Place place, Waiting& waiting) {
  if (waiting.context.deadline != kNever) {
    waiting.deadline = loop_.Arm(waiting.context.deadline,
                                 [this, place] { GiveUp(place, ErrorCode::kDeadlineExceeded); });
  }
  const auto cancelled = [this, alive = alive_, place] {
    loop_.Post([this, alive, place] {
      if (*alive) GiveUp(place, ErrorCode::kCancelled);
    });
  };
  if (waiting.context.cancel.cancelled()) {
    cancelled();
  } else {
    waiting.cancelled = waiting.context.cancel.OnCancel(cancelled);
  }
}

JobLine::Waiting JobLine::Take(Place place) {
  Waiting waiting = std::move(waiting_.extract(place).mapped());
  loop_.Disarm(waiting.deadline);
  waiting.cancelled.Forget();
  return waiting;
}

void JobLine::GiveUp(Place place, ErrorCode code) {
  if (waiting_.count(place) == 0) return;
  Waiting waiting = Take(place);
  const uint64_t lane = waiting.job.lane;
  if (Of(waiting.job.kind).next.erase(place) != 0) {
    NextOfLane(lane);
  } else {
    std::erase(behind_.at(lane), place);
  }
  waiting.done(Error(code, "it had no turn").With(waiting.job.doing, waiting.job.subject));
}

void JobLine::NextOfLane(uint64_t lane) {
  const auto found = behind_.find(lane);
  if (found->second.empty()) {
    behind_.erase(found);
    return;
  }
  const Place next = found->second.front();
  found->second.pop_front();
  const Kind kind = waiting_.at(next).job.kind;
  Of(kind).next.insert(next);
  StartNext(kind);
}

void JobLine::StartNext(Kind kind) {
  std::set<Place>& next = Of(kind).next;
  while (!next.empty() && !IsFull(kind)) Start(Take(next.extract(next.begin()).value()));
}

void JobLine::Start(Waiting waiting) {
  const Kind kind = waiting.job.kind;
  const uint64_t number = next_++;
  running_.emplace(number, Running{.kind = kind, .lane = waiting.job.lane});
  ++Of(kind).running;
  if (kind == Kind::kForeignPaths) BePatient(number);
  jobs_.Run(waiting.context, std::move(waiting.job), std::move(waiting.work),
            [this, alive = alive_, number,
             done = std::move(waiting.done)](Result<std::string> answer) mutable {
              if (!*alive) return;
              End(number, answer ? std::nullopt : std::optional(answer.error().code()));
              done(std::move(answer));
            });
}

void JobLine::BePatient(uint64_t number) {
  const TimePoint when = After(loop_.Now(), kForeignTimeMax);
  running_.at(number).patience = loop_.Arm(when, [this, number] {
    if (made_way_ >= std::max(jobs_max_ / 2, 1u)) return BePatient(number);
    Running& job = running_.at(number);
    job.made_way = true;
    ++made_way_;
    --Of(job.kind).running;
    StartNext(job.kind);
  });
}

void JobLine::End(uint64_t number, std::optional<ErrorCode> fault) {
  const Running job = running_.extract(number).mapped();
  loop_.Disarm(job.patience);
  --(job.made_way ? made_way_ : Of(job.kind).running);
  if (fault == ErrorCode::kUnknownOutcome) {
    AwaitReturn(job.lane);
  } else {
    NextOfLane(job.lane);
  }
  StartNext(job.kind);
}

// One that does nothing has its turn when the call has returned.
void JobLine::AwaitReturn(uint64_t lane) {
  jobs_.Run(
      {}, {.doing = "wait for the call before", .lane = lane},
      [](reactor::DiskCalls&) { return Result<std::string>(std::string()); },
      [this, alive = alive_, lane](const Result<std::string>&) {
        if (*alive) NextOfLane(lane);
      });
}

}  // namespace denselet::managers
