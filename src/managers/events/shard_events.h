// Events from other shards: each gives what it has to tell to the API shard, where they are sent.
// Events are help for people, so nobody waits for them; what does not fit is dropped, counted, and
// told in the log.
//
// EventInlet lives on the API shard, beside the recorder that it leads to; ShardEvents on each of
// the other shards, in any order of ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/log.h"
#include "reactor/shard.h"
#include "sync/ports/events.h"

namespace denselet::events {

// The way in, as long as it lives. Made on the API shard, given to others as a Ticket.
class EventInlet {
 public:
  // Copied to any shard; only the API shard looks inside. Shared: messages under way outlive the
  // inlet, and then find nobody.
  struct Ticket {
    uint32_t shard;
    std::shared_ptr<sync::EventRecorder*> recorder;
  };

  EventInlet(const reactor::Shard& home, sync::EventRecorder& recorder)
      : ticket_{home.index(), std::make_shared<sync::EventRecorder*>(&recorder)} {}
  ~EventInlet() { *ticket_.recorder = nullptr; }
  EventInlet(const EventInlet&) = delete;
  EventInlet& operator=(const EventInlet&) = delete;

  Ticket ticket() const { return ticket_; }

 private:
  const Ticket ticket_;
};

class ShardEvents final : public sync::EventRecorder {
 public:
  static constexpr size_t kUnderWayMax = 256;  // the next is dropped

  ShardEvents(reactor::Shard& home, Logger log, EventInlet::Ticket to);
  ~ShardEvents() override;
  ShardEvents(const ShardEvents&) = delete;
  ShardEvents& operator=(const ShardEvents&) = delete;

  void RecordWithAnnotations(const sync::EventObject& object, sync::EventType type,
                             std::string_view reason, std::string message,
                             const sync::EventAnnotations& annotations) override;

  size_t under_way() const { return under_way_; }
  uint64_t dropped() const { return dropped_; }

 private:
  void Drop(const sync::EventObject& object, std::string_view reason, const Error& why);
  void OnArrived();

  reactor::Shard& home_;
  const Logger log_;
  const EventInlet::Ticket to_;
  const std::shared_ptr<ShardEvents*> self_;  // shared with answers under way
  size_t under_way_ = 0;
  uint64_t dropped_ = 0;
  uint64_t dropped_in_a_row_ = 0;
};

}  // namespace denselet::events
