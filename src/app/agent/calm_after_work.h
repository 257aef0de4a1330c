// Tells when a burst of work is over: a thousand pods were begun, and now they only run. Then
// memory is given back, once; while there is work it would only be taken again.
#pragma once

#include <optional>

#include "base/time.h"

namespace denselet::app {

// A pure class; asked every few seconds.
class CalmAfterWork {
 public:
  // `cpu`: what the process has used so far. True: it has worked since this was last true, and has
  // been calm from the last question to this one.
  bool Look(TimePoint now, Duration cpu) {
    const Duration used = cpu - cpu_, time = at_ ? now - *at_ : Duration::zero();
    at_ = now;
    cpu_ = cpu;
    if (time <= Duration::zero()) return false;
    if (used * kBusyPart >= time) worked_ = true;
    if (!worked_ || used * kCalmPart >= time) return false;
    worked_ = false;
    return true;
  }

 private:
  static constexpr int kBusyPart = 20;  // 5 % of a core
  static constexpr int kCalmPart = 50;  // 2 %: also lists of a thousand pods every second are calm

  std::optional<TimePoint> at_;
  Duration cpu_ = {};
  bool worked_ = true;  // the start
};

}  // namespace denselet::app
