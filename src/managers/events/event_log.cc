#include "managers/events/event_log.h"

namespace denselet::events {

bool EventLog::HasRoom(TimePoint now) {
  if (window_began_ == TimePoint::min() || now - window_began_ >= kWindow) {
    if (left_out_ > 0) {
      log_.Warning("Left events out of the log", KV("count", left_out_), KV("within", kWindow));
    }
    window_began_ = now;
    written_ = left_out_ = 0;
  }
  if (written_ < kWarningsMax) {
    ++written_;
    return true;
  }
  ++left_out_;
  return false;
}

void EventLog::Write(TimePoint now, const sync::EventObject& object, sync::EventType type,
                     std::string_view reason, const std::string& message) {
  const bool warns = type == sync::EventType::kWarning;
  const ObjectRef name{object.ns, object.name};
  const auto put = [&](const auto& line) {
    line(KV("object", name), KV("fieldPath", object.field_path), KV("kind", object.kind),
         KV("apiVersion", object.api_version), KV("type", warns ? "Warning" : "Normal"),
         KV("reason", reason), KV("message", message));
  };
  if (warns && HasRoom(now)) {
    return put([&](const auto&... pairs) { log_.Warning("Event occurred", pairs...); });
  }
  put([&](const auto&... pairs) { log_.V(3).Info("Event occurred", pairs...); });
}

}  // namespace denselet::events
