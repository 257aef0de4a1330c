// How many calls of one class may be under way, and who is next: decisions only, `now` comes in.
//
// The limit adapts by what the other side shows. Answers that come in time raise it by one for each
// round of calls, as long as it is made use of; a slow answer, one that does not come at all, or a
// word of overload lowers it by a factor, once for all calls that were under way together. A call
// that has been out for `stuck_after` does not count any more: what hangs holds itself, not the
// others; all together never pass limit_max.
//
// Waiting calls are ordered by priority, then by arrival. Every kOldestEvery-th turn is that of the
// one which has waited longest, so that a flood of urgent calls starves nobody. A full queue
// refuses, unless the newcomer is more urgent than the last in it, which then goes instead.
//
// One shard has one of each class: its share of the process's limit (see Client). One thread.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/context.h"
#include "base/time.h"

namespace denselet::rpc {

struct LimiterOptions {
  uint32_t limit_min = 1;
  uint32_t limit_max = 16;  // under way, stuck ones included
  uint32_t limit_start = 4;
  uint32_t queue_max = 1024;
  Duration slow_after = Seconds(1);    // an answer later than that is a sign of load
  Duration stuck_after = Seconds(10);  // Duration::max(): never
};

struct LimiterState {
  double limit = 0;
  uint32_t running = 0;  // stuck ones included
  uint32_t stuck = 0;
  uint32_t waiting = 0;
  TimePoint waiting_since = kNever;  // of the one that has waited longest
};

class Limiter {
 public:
  static constexpr uint64_t kOldestEvery = 8;
  static constexpr double kDecrease = 0.7;

  // Names a call from Enter to End or Withdraw.
  struct Ticket {
    Priority priority = Priority::kNormal;
    uint64_t number = 0;
    friend auto operator<=>(const Ticket&, const Ticket&) = default;
  };
  struct Entered {
    std::optional<Ticket> ticket = {};     // nothing: refused
    std::optional<Ticket> displaced = {};  // had to leave the queue for it
  };
  struct Turn {
    Ticket ticket;
    Duration waited;
  };
  enum class Verdict : uint8_t {
    kAnswered,  // its latency speaks
    kOverload,  // the other side said so, or its time was up
    kNone,      // cancelled, or never got there
  };

  explicit Limiter(const LimiterOptions& options);

  // Every call enters the queue; `expected` is what it takes of itself (a grace period).
  Entered Enter(Priority priority, Duration expected, TimePoint now);
  // A waiting call goes.
  void Withdraw(Ticket ticket);
  // The next to start, which from now on is under way; nothing: nobody, or no room.
  std::optional<Turn> StartNext(TimePoint now);
  // `took`: as measured where the answer came.
  void End(Ticket ticket, Verdict verdict, Duration took, TimePoint now);
  // To be called at NextLook(): calls got stuck, others may start.
  void Look(TimePoint now);
  TimePoint NextLook() const;

  LimiterState state() const;

 private:
  struct Waiting {
    TimePoint since;
    Duration expected;
  };
  struct Running {
    TimePoint started;
    TimePoint stuck_at;
    Duration slow_after;
    bool stuck = false;
  };

  bool HasRoom() const;
  Ticket OldestWaiting() const;
  void Increase();
  void Decrease(TimePoint started, TimePoint now);

  const LimiterOptions options_;
  double limit_;
  TimePoint lowered_at_ = TimePoint::min();
  TimePoint reached_at_ = TimePoint::min();  // as many as the limit allows were under way
  uint64_t next_number_ = 1;
  uint64_t turns_ = 0;
  std::map<Ticket, Waiting> waiting_;
  std::map<uint64_t, Running> running_;
  std::set<std::pair<TimePoint, uint64_t>> will_be_stuck_;
};

}  // namespace denselet::rpc
