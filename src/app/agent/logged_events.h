// Events where there is no API server to send them to: they are in the log, and nowhere else.
#pragma once

#include <string>
#include <utility>

#include "base/log.h"
#include "sync/ports/events.h"

namespace denselet::app {

class LoggedEvents final : public sync::EventRecorder {
 public:
  explicit LoggedEvents(Logger log) : log_(std::move(log)) {}

  void RecordWithAnnotations(const sync::EventObject& object, sync::EventType type,
                             std::string_view reason, std::string message,
                             const sync::EventAnnotations&) override {
    log_.V(3).Info("Event occurred", KV("object", ObjectRef{object.ns, object.name}),
                   KV("fieldPath", object.field_path), KV("kind", object.kind),
                   KV("apiVersion", object.api_version),
                   KV("type", type == sync::EventType::kNormal ? "Normal" : "Warning"),
                   KV("reason", reason), KV("message", message));
  }

 private:
  const Logger log_;
};

}  // namespace denselet::app
