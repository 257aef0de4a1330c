#include "kube/client/token_bucket.h"

#include <algorithm>
#include <chrono>

namespace denselet::kube {

TimePoint TokenBucket::Take(TimePoint now) {
  if (per_second_ <= 0) return now;
  if (filled_at_ != TimePoint::min() && now > filled_at_) {
    const double seconds = std::chrono::duration<double>(now - filled_at_).count();
    tokens_ = std::min(burst_, tokens_ + seconds * per_second_);
  }
  filled_at_ = std::max(filled_at_, now);
  tokens_ -= 1;
  if (tokens_ >= 0) return now;
  const std::chrono::duration<double> wait(-tokens_ / per_second_);
  return After(now, std::chrono::duration_cast<Duration>(wait));
}

}  // namespace denselet::kube
