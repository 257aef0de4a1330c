#include "kube/client/token_bucket.h"

#include <algorithm>
#include <chrono>

namespace denselet::kube {

void TokenBucket::Fill(TimePoint now) {
  if (filled_at_ != TimePoint::min() && now > filled_at_) {
    const double seconds = std::chrono::duration<double>(now - filled_at_).count();
    tokens_ = std::min(burst_, tokens_ + seconds * per_second_);
  }
  filled_at_ = std::max(filled_at_, now);
}

// Sums of fractions come out a little short.
bool TokenBucket::HasOne() const { return tokens_ >= 1 - 1e-6; }

bool TokenBucket::TryTake(TimePoint now) {
  if (per_second_ <= 0) return true;
  Fill(now);
  if (!HasOne()) return false;
  tokens_ -= 1;
  return true;
}

TimePoint TokenBucket::NextAt(TimePoint now) {
  if (per_second_ <= 0) return now;
  Fill(now);
  if (HasOne()) return now;
  const std::chrono::duration<double> wait((1 - tokens_) / per_second_);
  return After(now, std::chrono::duration_cast<Duration>(wait));
}

}  // namespace denselet::kube
