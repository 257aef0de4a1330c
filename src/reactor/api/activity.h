// What a loop is doing right now, readable from other threads: so that a turn that takes too long
// can be named while it lasts, and after it by what took the longest in it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/time.h"

namespace denselet::reactor {

// Written by the loop's thread; label() and InTurnFor() may be asked by anyone.
class Activity {
 public:
  explicit Activity(const Clock& clock) : clock_(clock) {}

  void BeginTurn(TimePoint now) {
    turn_began_.store(now.time_since_epoch().count(), kRelaxed);
    piece_began_ = now;
    longest_ = Duration::zero();
  }
  // The loop sleeps: nobody waits for it.
  void EndTurn() { turn_began_.store(0, kRelaxed); }

  // `label` is a string literal: it outlives everything. Reads the clock, as Leave does: for work
  // that may be long.
  const char* Enter(const char* label) {
    EndPiece(clock_.Now());
    return Rename(label);
  }
  void Leave(const char* outer) {
    EndPiece(clock_.Now());
    Rename(outer);
  }
  // The same without a reading of the clock: what was done since the last one counts as `label`'s.
  const char* Rename(const char* label) {
    const char* outer = label_.load(kRelaxed);
    label_.store(label, kRelaxed);
    return outer;
  }

  // What was done until now had the present label. A turn is cut into pieces by this.
  void EndPiece(TimePoint now) {
    if (now - piece_began_ > longest_) {
      longest_ = now - piece_began_;
      longest_label_ = label();
    }
    piece_began_ = now;
  }
  // Of the present turn's pieces, on the loop's thread.
  const char* longest_label() const { return longest_label_; }

  const char* label() const { return label_.load(kRelaxed); }
  // How long the present turn has lasted; zero while asleep.
  Duration InTurnFor(TimePoint now) const {
    const int64_t began = turn_began_.load(kRelaxed);
    return began == 0 ? Duration::zero() : now - TimePoint(Duration(began));
  }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  const Clock& clock_;
  std::atomic<int64_t> turn_began_ = 0;
  std::atomic<const char*> label_ = "starting";
  TimePoint piece_began_;
  Duration longest_{};
  const char* longest_label_ = "starting";
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
