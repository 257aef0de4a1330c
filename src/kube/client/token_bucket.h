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

  // False: there is none, until NextAt.
  bool TryTake(TimePoint now);
  // When there will be one; now, if there is.
  TimePoint NextAt(TimePoint now);

 private:
  void Fill(TimePoint now);
  bool HasOne() const;

  const double per_second_;
  const double burst_;
  double tokens_;
  TimePoint filled_at_ = TimePoint::min();
};

}  // namespace denselet::kube
