// How many requests a second may go out, and how many at once: kubeAPIQPS and kubeAPIBurst.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace denselet::kube {

class TokenBucket {
 public:
  // A rate of zero or less: no limit. A burst of zero is one of one: something must go.
  TokenBucket(double per_second, uint32_t burst)
      : per_second_(per_second), burst_(std::max(burst, 1u)), tokens_(burst_) {}

  // False: there is none, until NextAt.
  bool TryTake(TimePoint now);
  // When there will be one; now, if there is.
  TimePoint NextAt(TimePoint now);
  // One that was taken and not used.
  void GiveBack() { tokens_ = std::min(burst_, tokens_ + 1); }

  double per_second() const { return per_second_; }

 private:
  void Fill(TimePoint now);
  bool HasOne() const;

  const double per_second_;
  const double burst_;
  double tokens_;
  TimePoint filled_at_ = TimePoint::min();
};

}  // namespace denselet::kube
