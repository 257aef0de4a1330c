// How many requests a second may go out, and how many at once: kubeAPIQPS and kubeAPIBurst.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace denselet::kube {

class TokenBucket {
 public:
  // A rate of zero or less: no limit.
  TokenBucket(double per_second, uint32_t burst)
      : per_second_(per_second), burst_(burst), tokens_(burst) {}

  // Takes a token and says when it may be used: now or, when the bucket is empty, later. Every one
  // that waits is promised a time of its own, so they need no queue.
  TimePoint Take(TimePoint now);
  // Given back unused by who does not want to wait any more.
  void GiveBack() { tokens_ += per_second_ > 0 ? 1 : 0; }

 private:
  const double per_second_;
  const double burst_;
  double tokens_;  // below zero: promised
  TimePoint filled_at_ = TimePoint::min();
};

}  // namespace denselet::kube
