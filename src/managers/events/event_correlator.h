// What becomes of an event before it is sent. Many that are alike become one, one that was sent
// before becomes a count, and one too many becomes nothing; all as upstream's recorder decides it.
//
// Pure but for what it remembers. Lives with its event sender.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "managers/events/event_keys.h"
#include "managers/events/lru.h"
#include "managers/events/spam_filter.h"

namespace denselet::events {

class EventCorrelator {
 public:
  // In each of the three memories; the one that was not used for longest is forgotten.
  static constexpr size_t kEntriesMax = 4096;
  static constexpr size_t kAlikeMax = 10;
  static constexpr Duration kAlikeTime = Seconds(600);

  struct Moment {
    TimePoint now;
    WallTime wall;
  };

  enum class Verdict : uint8_t { kDrop, kCreate, kPatch };
  struct Decision {
    Verdict verdict = Verdict::kDrop;
    std::string patch = {};  // of kPatch; a strategic merge patch of the event of that name
  };

  EventCorrelator();

  // Changes the event into what is to be sent.
  Decision Correlate(Event& event, const Moment& moment);

  // The server has it: under this name, with this count.
  void OnSent(const Event& event);

 private:
  struct Alike {
    std::vector<Fnv128> messages;  // different ones, fewer than kAlikeMax
    TimePoint last_at;
  };
  struct Sent {
    int32_t count = 0;
    int64_t first_seconds = 0;
    std::string name;
  };

  // Returns the key by which it is counted.
  Fnv128 Combine(Event& event, const Moment& moment);
  void Remember(const Fnv128& key, const Event& event);

  Lru<Alike> alike_;
  Lru<Sent> sent_;
  SpamFilter spam_;
};

}  // namespace denselet::events
