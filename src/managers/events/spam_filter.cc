#include "managers/events/spam_filter.h"

#include <algorithm>
#include <chrono>

namespace denselet::events {

bool SpamFilter::IsSpam(const Fnv128& key, TimePoint now) {
  Bucket* bucket = buckets_.Find(key);
  if (bucket == nullptr) bucket = &buckets_.Add(key, Bucket{});
  const Duration elapsed =
      bucket->filled_at ? std::max(now - *bucket->filled_at, Duration::zero()) : Duration::zero();
  const double filled = bucket->tokens + std::chrono::duration<double>(elapsed).count() *
                                             static_cast<double>(kPerSecond);
  const double left = std::min(filled, static_cast<double>(kBurst)) - 1;
  // Less than a nanosecond too early is not too early.
  if (left < 0 && Duration(static_cast<int64_t>(-left / static_cast<double>(kPerSecond) * 1e9)) >
                      Duration::zero()) {
    return true;
  }
  bucket->tokens = left;
  bucket->filled_at = now;
  return false;
}

}  // namespace denselet::events
