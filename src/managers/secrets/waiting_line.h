// Those who wait for one answer: each is answered when it comes, or at the end of its own time.
//
// A part of whoever brings the answer, on its shard. Bounded: one too many is refused at once, in a
// later turn. Destroyed, it answers those who are left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "base/context.h"
#include "base/result.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"

namespace denselet::managers {

template <class T>
class WaitingLine {
 public:
  WaitingLine(reactor::Loop& loop, size_t waiting_max) : loop_(loop), waiting_max_(waiting_max) {}
  ~WaitingLine() { Answer(Error(ErrorCode::kUnavailable, "nobody looks after it any more")); }
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

  // `late` is the answer at `until`.
  void Add(TimePoint until, Result<T> late, reactor::Done<T> done) {
    if (waiting_.size() >= waiting_max_) {
      return loop_.Post([done = std::move(done)]() mutable {
        done(Error(ErrorCode::kOverloaded, "too many wait for the same answer"));
      });
    }
    const uint64_t number = next_++;
    const reactor::TimerId timer =
        loop_.Arm(std::max(until, loop_.Now()), [this, number, late = std::move(late)] {
          const auto found = waiting_.find(number);
          reactor::Done<T> mine = std::move(found->second.done);
          waiting_.erase(found);
          mine(late);
        });
    waiting_.emplace(number, Waiting{std::move(done), timer});
  }

  void Answer(const Result<T>& answer) { AnswerBefore(next_, answer); }
  // Those who came before the one that had this number from next().
  void AnswerBefore(uint64_t number, const Result<T>& answer) {
    std::map<uint64_t, Waiting> answered;
    while (!waiting_.empty() && waiting_.begin()->first < number) {
      answered.insert(waiting_.extract(waiting_.begin()));
    }
    for (auto& [n, one] : answered) loop_.Disarm(one.timer);
    for (auto& [n, one] : answered) one.done(answer);
  }

  // The number of whoever comes next.
  uint64_t next() const { return next_; }
  bool empty() const { return waiting_.empty(); }

 private:
  struct Waiting {
    reactor::Done<T> done;
    reactor::TimerId timer;
  };

  reactor::Loop& loop_;
  const size_t waiting_max_;
  uint64_t next_ = 1;
  std::map<uint64_t, Waiting> waiting_;
};

}  // namespace denselet::managers
