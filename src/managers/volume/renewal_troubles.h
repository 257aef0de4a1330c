// Which volumes of a running pod could not be renewed, and when people are told: at once when it
// begins and when the cause is another one, then again and again with growing pauses, so that the
// events of a pod that lacks something for days have not all expired.
//
// Plain data of one pod.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "sync/ports/pod_services.h"

namespace denselet::managers {

class RenewalTroubles {
 public:
  // Upstream's pauses grow to two minutes; its events are counted up all the same.
  static constexpr Duration kPauseMin = Minutes(2);
  static constexpr Duration kPauseMax = Minutes(16);

  // True: to be told now.
  bool Note(const sync::VolumeFault& fault, TimePoint now, Random& random) {
    const auto [at, is_new] = troubles_.try_emplace(fault.volume, Trouble{fault.why});
    Trouble& trouble = at->second;
    if (!is_new && trouble.why.message() == fault.why.message()) return false;
    trouble = {.why = fault.why};
    trouble.tell_at = After(now, random.Jitter(trouble.pause, 0.2));
    return true;
  }

  // True: there was one.
  bool End(const std::string& volume) { return troubles_.erase(volume) != 0; }
  void Clear() { troubles_.clear(); }

  TimePoint next() const {
    TimePoint next = kNever;
    for (const auto& [volume, trouble] : troubles_) next = std::min(next, trouble.tell_at);
    return next;
  }
  // To be told again now.
  std::vector<sync::VolumeFault> Due(TimePoint now, Random& random) {
    std::vector<sync::VolumeFault> due;
    for (auto& [volume, trouble] : troubles_) {
      if (trouble.tell_at > now) continue;
      trouble.pause = std::min(2 * trouble.pause, Duration(kPauseMax));
      trouble.tell_at = After(now, random.Jitter(trouble.pause, 0.2));
      due.push_back({volume, trouble.why});
    }
    return due;
  }

 private:
  struct Trouble {
    Error why;
    Duration pause = kPauseMin;
    TimePoint tell_at = kNever;
  };
  std::map<std::string, Trouble> troubles_;
};

}  // namespace denselet::managers
