// Events in the log, as the kubelet has them; warnings also where nobody asked for more words, for
// they are all that tells why a pod does not run. A node whose pods all fail does not fill its disk
// with that: of warnings a bounded number a minute is logged so, the others with -v 3.
//
// Lives with its recorder, on the API shard.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/time.h"
#include "sync/ports/events.h"

namespace denselet::events {

class EventLog {
 public:
  static constexpr uint32_t kWarningsMax = 120;
  static constexpr Duration kWindow = Minutes(1);

  explicit EventLog(Logger log) : log_(std::move(log)) {}

  void Write(TimePoint now, const sync::EventObject& object, sync::EventType type,
             std::string_view reason, const std::string& message);

 private:
  bool HasRoom(TimePoint now);

  const Logger log_;
  TimePoint window_began_ = TimePoint::min();
  uint32_t written_ = 0, left_out_ = 0;  // in this window
};

}  // namespace denselet::events
