// Counts frames that cost work and bring nothing, as a bucket that leaks: a peer may send some at
// any time and many never.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace denselet::net {

class FloodGuard {
 public:
  FloodGuard(uint32_t frames_max, uint32_t per_second_max, TimePoint now)
      : frames_max_(frames_max), per_second_max_(per_second_max), leaked_at_(now) {}

  void Leak(TimePoint now) {
    if (level_ <= 0) {
      leaked_at_ = now;
      return;
    }
    constexpr int64_t kSecond = Duration(Seconds(1)).count();
    const int64_t elapsed = std::min<int64_t>((now - leaked_at_).count(), 3600 * kSecond);
    const int64_t leaked = elapsed / 1000 * per_second_max_ / (kSecond / 1000);
    if (leaked == 0) return;  // the rest of a frame is not lost
    leaked_at_ = now;
    level_ = std::max<int64_t>(level_ - leaked, 0);
  }

  // False: too many.
  bool Take(int64_t frames) {
    level_ += frames;
    return level_ <= frames_max_;
  }
  // The peer did something useful, or we gave it reason to send that many.
  void Earn(int64_t frames) { level_ = std::max<int64_t>(level_ - frames, 0); }

 private:
  const int64_t frames_max_;
  const int64_t per_second_max_;
  int64_t level_ = 0;
  TimePoint leaked_at_;
};

}  // namespace denselet::net
