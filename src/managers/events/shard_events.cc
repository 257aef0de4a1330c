#include "managers/events/shard_events.h"

#include <utility>

namespace denselet::events {

ShardEvents::ShardEvents(reactor::Shard& home, Logger log, EventInlet::Ticket to)
    : home_(home),
      log_(std::move(log)),
      to_(std::move(to)),
      self_(std::make_shared<ShardEvents*>(this)) {}

ShardEvents::~ShardEvents() { *self_ = nullptr; }

void ShardEvents::RecordWithAnnotations(const sync::EventObject& object, sync::EventType type,
                                        std::string_view reason, std::string message,
                                        const sync::EventAnnotations& annotations) {
  if (under_way_ == kUnderWayMax) {
    return Drop(object, reason, Error(ErrorCode::kOverloaded, "too many events are under way"));
  }
  auto tell = [recorder = to_.recorder, object, type, reason = std::string(reason),
               message = std::move(message),
               annotations](const QueuedContext&, reactor::Reply<Unit> reply) mutable {
    if (*recorder != nullptr) {
      (*recorder)->RecordWithAnnotations(object, type, reason, std::move(message), annotations);
    }
    reply(Ok());
  };
  const Context context{
      .deadline = kNever, .priority = Priority::kBackground, .cancel = {}, .trace = {}};
  const Status sent =
      home_.Ask<Unit>(to_.shard, context, std::move(tell), [self = self_](const Status&) {
        if (*self != nullptr) (*self)->OnArrived();
      });
  if (!sent) return Drop(object, reason, sent.error());
  ++under_way_;
}

void ShardEvents::OnArrived() {
  --under_way_;
  if (dropped_in_a_row_ == 0) return;
  log_.Warning("Events were dropped, now there is room again", KV("dropped", dropped_in_a_row_));
  dropped_in_a_row_ = 0;
}

// The first is told at once, the others by their number: a log line for each would be as much as
// the events.
void ShardEvents::Drop(const sync::EventObject& object, std::string_view reason, const Error& why) {
  ++dropped_;
  if (++dropped_in_a_row_ > 1) return;
  log_.Error(why, "Unable to record event, dropped it",
             KV("object", ObjectRef{object.ns, object.name}), KV("reason", reason));
}

}  // namespace denselet::events
