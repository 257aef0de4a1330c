#include "rpc/limiter.h"

#include <algorithm>

#include "base/check.h"

namespace denselet::rpc {
namespace {

constexpr Duration Sum(Duration a, Duration b) { return After(TimePoint(a), b).time_since_epoch(); }

}  // namespace

Limiter::Limiter(const LimiterOptions& options) : options_(options), limit_(options.limit_start) {
  CHECK(options.limit_min > 0 && options.limit_min <= options.limit_start);
  CHECK(options.limit_start <= options.limit_max && options.queue_max > 0);
}

Limiter::Entered Limiter::Enter(Priority priority, Duration expected, TimePoint now) {
  Entered entered;
  if (waiting_.size() >= options_.queue_max) {
    const auto last = std::prev(waiting_.end());
    if (last->first.priority <= priority) return entered;
    entered.displaced = last->first;
    waiting_.erase(last);
  }
  entered.ticket = Ticket{priority, next_number_++};
  waiting_.emplace(*entered.ticket, Waiting{now, expected});
  return entered;
}

void Limiter::Withdraw(Ticket ticket) { CHECK(waiting_.erase(ticket) == 1); }

bool Limiter::HasRoom() const {
  const size_t free_of_stuck = will_be_stuck_.size();
  return running_.size() < options_.limit_max && free_of_stuck < static_cast<size_t>(limit_);
}

Limiter::Ticket Limiter::OldestWaiting() const {
  Ticket oldest = waiting_.begin()->first;
  for (auto first = waiting_.begin(); first != waiting_.end();) {
    if (first->first.number < oldest.number) oldest = first->first;
    first = waiting_.upper_bound({first->first.priority, UINT64_MAX});
  }
  return oldest;
}

std::optional<Limiter::Turn> Limiter::StartNext(TimePoint now) {
  if (waiting_.empty() || !HasRoom()) return std::nullopt;
  const Ticket ticket = ++turns_ % kOldestEvery == 0 ? OldestWaiting() : waiting_.begin()->first;
  const auto found = waiting_.find(ticket);
  const Waiting waiting = found->second;
  waiting_.erase(found);
  Running running{.started = now,
                  .stuck_at = After(now, Sum(options_.stuck_after, waiting.expected)),
                  .slow_after = Sum(options_.slow_after, waiting.expected)};
  will_be_stuck_.emplace(running.stuck_at, ticket.number);
  running_.emplace(ticket.number, running);
  if (will_be_stuck_.size() >= static_cast<size_t>(limit_)) reached_at_ = now;
  return Turn{ticket, std::max(now - waiting.since, Duration::zero())};
}

void Limiter::End(Ticket ticket, Verdict verdict, Duration took, TimePoint now) {
  const auto found = running_.find(ticket.number);
  CHECK(found != running_.end());
  const Running call = found->second;
  if (!call.stuck) will_be_stuck_.erase({call.stuck_at, ticket.number});
  running_.erase(found);
  switch (verdict) {
    case Verdict::kAnswered:
      if (took > call.slow_after) return Decrease(call.started, now);
      // A limit that was not reached meanwhile says nothing about what the other side can bear.
      if (call.started <= reached_at_) Increase();
      return;
    case Verdict::kOverload:
      return Decrease(call.started, now);
    case Verdict::kNone:
      return;
  }
}

void Limiter::Look(TimePoint now) {
  while (!will_be_stuck_.empty() && will_be_stuck_.begin()->first <= now) {
    Running& call = running_.at(will_be_stuck_.begin()->second);
    call.stuck = true;
    will_be_stuck_.erase(will_be_stuck_.begin());
    Decrease(call.started, now);
  }
}

TimePoint Limiter::NextLook() const {
  if (waiting_.empty() || will_be_stuck_.empty()) return kNever;
  return will_be_stuck_.begin()->first;
}

void Limiter::Increase() { limit_ = std::min<double>(options_.limit_max, limit_ + 1 / limit_); }

// Calls that were under way when the limit was lowered tell of the same trouble.
void Limiter::Decrease(TimePoint started, TimePoint now) {
  if (started < lowered_at_) return;
  lowered_at_ = now;
  limit_ = std::max<double>(options_.limit_min, limit_ * kDecrease);
}

LimiterState Limiter::state() const {
  LimiterState state{.limit = limit_,
                     .running = static_cast<uint32_t>(running_.size()),
                     .stuck = static_cast<uint32_t>(running_.size() - will_be_stuck_.size()),
                     .waiting = static_cast<uint32_t>(waiting_.size())};
  if (!waiting_.empty()) state.waiting_since = waiting_.at(OldestWaiting()).since;
  return state;
}

}  // namespace denselet::rpc
