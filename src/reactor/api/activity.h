// What a loop is doing right now, readable from other threads: so that a turn that takes too long
// can be named while it lasts, not only after it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/time.h"

namespace denselet::reactor {

// Written by the loop's thread, read by anyone.
class Activity {
 public:
  void BeginTurn(TimePoint now) { turn_began_.store(now.time_since_epoch().count(), kRelaxed); }
  // The loop sleeps: nobody waits for it.
  void EndTurn() { turn_began_.store(0, kRelaxed); }

  // `label` is a string literal: it outlives everything.
  const char* Enter(const char* label) {
    const char* outer = label_.load(kRelaxed);
    label_.store(label, kRelaxed);
    last_entered_ = label;
    return outer;
  }
  void Leave(const char* outer) { label_.store(outer, kRelaxed); }
  // What was entered last: after a phase of a turn, the best name for what the phase did. The
  // loop's thread only.
  const char* last_entered() const { return last_entered_; }

  const char* label() const { return label_.load(kRelaxed); }
  // How long the present turn has lasted; zero while asleep.
  Duration InTurnFor(TimePoint now) const {
    const int64_t began = turn_began_.load(kRelaxed);
    return began == 0 ? Duration::zero() : now - TimePoint(Duration(began));
  }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  std::atomic<int64_t> turn_began_ = 0;
  std::atomic<const char*> label_ = "starting";
  const char* last_entered_ = "starting";
};

// Names a piece of work for as long as it lives. Nests.
class ActivityScope {
 public:
  ActivityScope(Activity& activity, const char* label)
      : activity_(activity), outer_(activity.Enter(label)) {}
  ~ActivityScope() { activity_.Leave(outer_); }
  ActivityScope(const ActivityScope&) = delete;
  ActivityScope& operator=(const ActivityScope&) = delete;

 private:
  Activity& activity_;
  const char* outer_;
};

}  // namespace denselet::reactor
