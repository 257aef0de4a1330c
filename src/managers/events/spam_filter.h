// Not more than 25 events at once about one object, and one more every five minutes: something that
// fails for ever is told now and then, not all the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/hash.h"
#include "base/time.h"
#include "managers/events/lru.h"

namespace denselet::events {

class SpamFilter {
 public:
  static constexpr uint32_t kBurst = 25;
  // As upstream has it: a float.
  static constexpr float kPerSecond = 1.0F / 300.0F;

  explicit SpamFilter(size_t entries_max) : buckets_(entries_max) {}

  // One more about this: is it too many?
  bool IsSpam(const Fnv128& key, TimePoint now);

 private:
  struct Bucket {
    double tokens = kBurst;
    std::optional<TimePoint> filled_at = {};
  };

  Lru<Bucket> buckets_;
};

}  // namespace denselet::events
